/** An answer in the contract's envelope. */
export const ok = <T>(data: T) => ({ status: 200 as const, body: { success: true as const, data } });

/** The same for what was made. */
export const created = <T>(data: T) => ({ status: 201 as const, body: { success: true as const, data } });
