import { retryAfterSeconds } from './trunkline-error.ts';

export interface RetryOptions {
  /** Attempts after the first one. */
  maxRetries: number;
  /** Whether the request may be sent again although the server may have carried it out. */
  repeatable: boolean;
  signal?: AbortSignal | null | undefined;
}

/** A server that asks for more patience than this is left to the caller. */
export const LONGEST_WAIT_SECONDS = 60;
const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 8_000;
const REPEATABLE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE']);

/** Whether sending the request twice does nothing twice. */
const isRepeatable = (request: Request): boolean =>
  REPEATABLE_METHODS.has(request.method) || request.headers.has('Idempotency-Key');

/** Resolves after the time; rejects with the signal's reason once it aborts. */
export function sleep(milliseconds: number, signal?: AbortSignal | null): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, milliseconds);
    signal?.addEventListener('abort', abort, { once: true });
  });
}

/** Milliseconds before a retry, from 0: doubled each time, and a random part of it taken, so that clients spread. */
export function backoff(retry: number): number {
  const longest = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** retry);
  return longest / 2 + (Math.random() * longest) / 2;
}

/** A refused request (429) has done nothing, so it can always go again; the rest only where repeating is harmless. */
function mayRetry(response: Response, repeatable: boolean): boolean {
  if (response.status === 429) return true;
  if (response.status === 503) return repeatable;
  return response.status === 409 && repeatable && response.headers.get('x-should-retry') === 'true';
}

/** Sends until there is an answer that more sending won't better. Rejects as `send` does, after the last attempt. */
export async function withRetries(
  send: (attempt: number) => Promise<Response>,
  { maxRetries, repeatable, signal }: RetryOptions,
): Promise<Response> {
  for (let attempt = 0; ; attempt += 1) {
    let wait = backoff(attempt);
    try {
      const response = await send(attempt);
      const asked = retryAfterSeconds(response) ?? 0;
      if (attempt >= maxRetries || asked > LONGEST_WAIT_SECONDS || !mayRetry(response, repeatable)) return response;
      wait += asked * 1000;
      await response.body?.cancel();
    } catch (error) {
      if (attempt >= maxRetries || !repeatable || signal?.aborted) throw error;
    }
    await sleep(wait, signal);
  }
}

/** A fetch that retries what is safe to retry. Uploads of forms are sent once: their bodies can be large. */
export function retryingFetch(fetch: (request: Request) => Promise<Response>, maxRetries: number) {
  return (request: Request): Promise<Response> => {
    if (request.headers.get('Content-Type')?.startsWith('multipart/')) return fetch(request);
    const options = { maxRetries, repeatable: isRepeatable(request), signal: request.signal };
    return withRetries(() => fetch(request.clone()), options);
  };
}
