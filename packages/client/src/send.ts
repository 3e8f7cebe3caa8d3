import { ConnectionError, retryAfterSeconds, TimeoutError } from './errors.ts';

/**
 * Answers one request, as the global fetch does. The signal ends it; that of the request does not: Node follows it only until
 * the request is garbage.
 */
export type Fetch = (request: Request, init: { signal: AbortSignal }) => Promise<Response>;

export interface SendOptions {
  fetch: Fetch;
  /** Attempts after the first one. */
  maxRetries: number;
  /** Milliseconds that one attempt may take. */
  timeoutMs: number;
  /** Told of every attempt. It hears nothing secret: no header, no body, no query. */
  log: ((line: string) => void) | undefined;
}

/** A server that asks for more patience than this is left to the caller. */
export const LONGEST_WAIT_SECONDS = 60;
const FIRST_DELAY_MS = 500;
const LONGEST_DELAY_MS = 8_000;
/** What may pass by itself. The request may have been carried out all the same. */
const PASSING: readonly number[] = [408, 500, 502, 503, 504];

/** Resolves after the time; rejects with the signal's reason once it aborts. */
export async function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve) => {
    const wake = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', wake);
      resolve();
    };
    const timer = setTimeout(wake, milliseconds);
    signal?.addEventListener('abort', wake);
  });
  signal?.throwIfAborted();
}

/** A signal that aborts once the outer one does, or with this reason if it was not held off for so long. */
export function watchdog(outer: AbortSignal | undefined, milliseconds: number, reason: Error) {
  const controller = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const follow = () => controller.abort(outer?.reason);
  outer?.addEventListener('abort', follow);
  if (outer?.aborted) follow();
  const pause = () => clearTimeout(timer);
  const holdOff = () => {
    pause();
    timer = setTimeout(() => controller.abort(reason), milliseconds);
  };
  holdOff();
  return {
    signal: controller.signal,
    pause,
    holdOff,
    /** Lets go of the outer signal. */
    end() {
      pause();
      outer?.removeEventListener('abort', follow);
    },
    abort: () => controller.abort(),
  };
}

/** Milliseconds before a retry, from 0: doubled each time, and a random part of it taken, so that clients spread. */
export function backoff(retry: number): number {
  const longest = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** retry);
  return longest / 2 + (Math.random() * longest) / 2;
}

/** Whether sending the request twice does nothing twice. */
const isRepeatable = ({ method, headers }: Request): boolean =>
  (method !== 'POST' && method !== 'PATCH') || headers.has('Idempotency-Key');

/** The server's word comes first. A refused request (429) has done nothing, so it can always go again. */
function mayRetry({ status, headers }: Response, repeatable: boolean): boolean {
  const told = headers.get('x-should-retry');
  if (told) return told === 'true';
  return status === 429 || (repeatable && PASSING.includes(status));
}

/**
 * Sends a request until there is an answer that more sending won't better: what is safe to repeat, `maxRetries` times at
 * most. Rejects with `ConnectionError`, `TimeoutError`, or the reason of the request's signal.
 */
export function send(request: Request, options: SendOptions): Promise<Response> {
  const { maxRetries } = options;
  const repeatable = isRepeatable(request);
  const { signal } = request;
  const attempt = (retries: number) => {
    const sent = retries < maxRetries ? request.clone() : request;
    if (retries > 0) sent.headers.set('X-Retry-Count', String(retries));
    return attemptOnce(sent, options, signal);
  };
  return withRetries(attempt, { maxRetries, repeatable, signal });
}

interface Retries {
  maxRetries: number;
  /** Whether the request may be sent again although the server may have carried it out. */
  repeatable: boolean;
  signal: AbortSignal | undefined;
}

/** Attempts until there is an answer that more attempts won't better. Rejects as the last attempt does. */
export async function withRetries(
  attempt: (retries: number) => Promise<Response>,
  { maxRetries, repeatable, signal }: Retries,
): Promise<Response> {
  for (let retries = 0; ; retries += 1) {
    const isLast = retries >= maxRetries;
    let wait = backoff(retries);
    try {
      const response = await attempt(retries);
      const asked = retryAfterSeconds(response) ?? 0;
      if (isLast || asked > LONGEST_WAIT_SECONDS || !mayRetry(response, repeatable)) return response;
      wait = Math.max(wait, asked * 1000);
    } catch (error) {
      if (isLast || !repeatable || !(error instanceof ConnectionError)) throw error;
    }
    await sleep(wait, signal);
  }
}

/**
 * Sends a request once, and reads its answer to the end. Rejects as `send` does.
 * @param outer ends it. A clone's own signal won't do: Node lets go of what it follows.
 */
export async function attemptOnce(
  request: Request,
  { fetch, timeoutMs, log }: SendOptions,
  outer = request.signal,
): Promise<Response> {
  const begun = Date.now();
  const { origin, pathname } = new URL(request.url);
  const timedOut = new TimeoutError(`No whole answer came within ${timeoutMs / 1000} s.`);
  const watch = watchdog(outer, timeoutMs, timedOut);
  const tell = (what: string) => log?.(`${request.method} ${pathname}: ${what} after ${Date.now() - begun} ms`);
  try {
    const response = await whole(await fetch(request, { signal: watch.signal }));
    tell(`${response.status}, request ${response.headers.get('X-Request-Id') ?? 'without an ID'},`);
    return response;
  } catch (cause) {
    outer.throwIfAborted();
    const error = watch.signal.aborted
      ? timedOut
      : new ConnectionError(`${origin} gave no answer: ${reasonOf(cause)}.`, { cause });
    tell(error.message);
    throw error;
  } finally {
    watch.end();
  }
}

/** Reads an answer to its end, so that one which stops midway is a lost connection, and goes again. A stream has none. */
async function whole(response: Response): Promise<Response> {
  const isStream = response.headers.get('Content-Type')?.startsWith('text/event-stream');
  if (!response.body || isStream) return response;
  return new Response(await response.arrayBuffer(), response);
}

/** What fetch says is "fetch failed"; why stands in its cause. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as { message?: string; cause?: { code?: string; message?: string } };
  return cause?.code ?? cause?.message ?? message ?? String(error);
}
