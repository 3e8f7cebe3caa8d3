/** Seconds before the second try, the third, and so on, as Standard Webhooks advises: ten tries in some three days. */
const DELAYS = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400];
/** How far a delay is moved at random, in either direction, so that what failed together does not come back together. */
const JITTER = 0.1;
const LONGEST_REST_MS = 86_400_000;

/**
 * When a delivery is tried again.
 * @param attempts how often it was tried so far
 * @param restMs how long the endpoint asked to be left alone
 * @param chance from 0 to 1
 * @returns nothing after the last try
 */
export function nextAttemptAt(attempts: number, restMs: number, now: Date, chance: number): Date | undefined {
  const delay = DELAYS[attempts - 1];
  if (delay === undefined) return undefined;
  const jittered = delay * 1000 * (1 - JITTER + 2 * JITTER * chance);
  return new Date(now.getTime() + Math.max(jittered, restMs));
}

/** Milliseconds that a `Retry-After` header asks for, in either of its forms (RFC 9110, 10.2.3); at most a day. */
export function retryAfterMs(header: string | undefined, now: Date): number {
  if (header === undefined) return 0;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now.getTime();
  return Number.isNaN(ms) ? 0 : Math.min(Math.max(ms, 0), LONGEST_REST_MS);
}
