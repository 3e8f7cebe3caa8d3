import type { OutboundRequest, SendRequest } from '../../../foundation/outbound-http/guarded-request.ts';
import { OutboundError } from '../../../foundation/outbound-http/outbound-error.ts';
import type { Context, HttpNode } from '../definitions/definition.ts';
import { fillText, fillValues } from '../definitions/fill-template.ts';
import type { StepErrorCode } from '../definitions/step-error.ts';
import { fillBody } from './fill-body.ts';
import { fillUrl } from './fill-url.ts';
import { type HttpAnswer, readAnswer } from './read-answer.ts';

/** Most bytes of an answer's body: as much as a context holds. */
const MAX_ANSWER_BYTES = 262_144;
const DEFAULT_TIMEOUT_SECONDS = 10;

/** What one try of an `http` node came to. */
export interface HttpAttempt {
  /** Where one came: for `saveAs`, also with an error. */
  answer?: HttpAnswer;
  /** Where the answer is no 2xx, or none came. The message is for the client. */
  error?: { code: 'http_failed' | StepErrorCode; message: string };
  /** Whether another try may go better. */
  retriable: boolean;
  /** How long the server asks to be left alone. */
  retryAfterMs?: number;
}

export interface HttpDeps {
  /** UUID. */
  workspaceId: string;
  /** The same for every try of a step; sent as `Idempotency-Key` unless the definition has a header of that name. */
  idempotencyKey: string;
  /** Sent too where it is given, unless the definition has a header of that name. */
  traceparent?: string | undefined;
  send: SendRequest;
  now: Date;
  signal?: AbortSignal;
}

/**
 * Carries out one try of an `http` node.
 * @throws StepError where a template has no value, and OutboundError `aborted` where `signal` ended it
 */
export async function performHttp(node: HttpNode, context: Context, deps: HttpDeps): Promise<HttpAttempt> {
  const url = fillUrl(node.url, context);
  if (url === undefined) return failed('The values of the URL must not make a path with . or .. in it.', false);
  const request: OutboundRequest = {
    workspaceId: deps.workspaceId,
    method: node.method,
    url,
    ...content(node, context, deps),
    timeoutMs: (node.timeoutSeconds ?? DEFAULT_TIMEOUT_SECONDS) * 1000,
    maxBytes: MAX_ANSWER_BYTES,
    signal: deps.signal,
  };
  try {
    const answer = readAnswer(await deps.send(request));
    const { status, headers } = answer;
    if (status >= 200 && status <= 299) return { answer, retriable: false };
    const retriable = status === 429 || status >= 500;
    const after = retriable ? retryAfter(headers['retry-after'], deps.now) : undefined;
    const failure = failed(`${node.method} answered ${status}.`, retriable);
    return { answer, ...failure, ...(after !== undefined && { retryAfterMs: after }) };
  } catch (error) {
    if (!(error instanceof OutboundError) || error.code === 'aborted') throw error;
    const retriable = ['connect_failed', 'connection_lost', 'timeout'].includes(error.code);
    return failed(error.message, retriable);
  }
}

const failed = (message: string, retriable: boolean): HttpAttempt => ({
  error: { code: 'http_failed', message },
  retriable,
});

/** Headers and body. Those of the definition win over ours. */
function content(
  node: HttpNode,
  context: Context,
  { idempotencyKey, traceparent }: HttpDeps,
): Pick<OutboundRequest, 'headers' | 'body'> {
  const headers: Record<string, string> = { 'idempotency-key': idempotencyKey, 'user-agent': 'Trunkline' };
  if (traceparent !== undefined) headers['traceparent'] = traceparent;
  const body = typeof node.body === 'string' ? fillBody(node.body, context) : fillValues(node.body, context);
  if (body !== undefined) {
    headers['content-type'] = typeof body === 'string' ? 'text/plain; charset=utf-8' : 'application/json';
  }
  for (const [name, value] of Object.entries(node.headers ?? {}))
    headers[name.toLowerCase()] = fillText(value, context);
  if (body === undefined) return { headers };
  return { headers, body: typeof body === 'string' ? body : JSON.stringify(body) };
}

/** `Retry-After` (RFC 9110, 10.2.3), seconds or a date, in milliseconds. */
function retryAfter(header: string | undefined, now: Date): number | undefined {
  if (header === undefined) return undefined;
  const wait = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now.getTime();
  return Number.isNaN(wait) ? undefined : Math.max(0, wait);
}

const FIRST_DELAY_MS = 1_000;
const LONGEST_DELAY_MS = 60_000;
const LONGEST_ASKED_MS = 600_000;

/**
 * How long to wait before the next try of an `http` node, in milliseconds; `undefined` where there is none: it worked,
 * it can't go better, or the definition's `retries` are used up. Waits double from 1 s to 60 s, each shortened by up to
 * a half at random; where the server asks for longer it gets that, up to 10 minutes.
 * @param tries how many there were, this one included
 * @param random from 0 to 1
 */
export function afterHttpAttempt(
  node: Pick<HttpNode, 'retries'>,
  { retriable, retryAfterMs = 0 }: HttpAttempt,
  tries: number,
  random: number,
): number | undefined {
  if (!retriable || tries > (node.retries ?? 0)) return undefined;
  const delay = Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** (tries - 1)) * (1 - random / 2);
  return Math.round(Math.max(delay, Math.min(retryAfterMs, LONGEST_ASKED_MS)));
}
