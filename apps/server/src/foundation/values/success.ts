/** An answer in the contract's envelope. */
export const ok = <T>(data: T) => ({ status: 200 as const, body: { success: true as const, data } });

/** The same for what was made. */
export const created = <T>(data: T) => ({ status: 201 as const, body: { success: true as const, data } });

/** An answer that says so where it is that of an earlier request with the same `Idempotency-Key`. */
export const replayable = <T extends object>(answer: T, replayed: boolean): T & { headers?: Record<string, string> } =>
  replayed ? { ...answer, headers: { 'Idempotent-Replayed': 'true' } } : answer;
