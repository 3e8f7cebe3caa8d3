import { createSecretKey } from 'node:crypto';
import type { SendRequest } from '../../foundation/outbound-http/guarded-request.ts';
import { OutboundError } from '../../foundation/outbound-http/outbound-error.ts';
import { webhookHeaders } from '../../foundation/outbound-http/webhook-headers.ts';
import { toId } from '../../foundation/values/ids.ts';
import { retryAfterMs } from './retry-schedule.ts';

/** How long an endpoint may take to answer. */
export const TRY_MS = 15_000;
/** How long an endpoint that gave no answer at all is left alone. */
const UNREACHABLE_MS = 5000;

/** What is sent. */
export interface Message {
  /** UUID of the event. */
  eventId: string;
  /** JSON. */
  payload: string;
}

/** What came of one try. */
export interface Tried {
  /** `gone`: the endpoint answered 410. */
  verdict: 'delivered' | 'failed' | 'gone';
  statusCode?: number;
  /** Why it failed, for the client. */
  error?: string;
  durationMs: number;
  /** How long nothing more should be sent to the endpoint, in milliseconds. */
  restMs: number;
}

/** Gives the headers of a request. */
export type Sign = (message: Message) => Record<string, string>;

/**
 * Signs what is sent to one endpoint.
 * @param secrets as `newSecret` writes them; each signs, as while a rotated one still holds
 */
export function createSigner(secrets: readonly string[]): Sign {
  const keys = secrets.map((secret) => createSecretKey(secret.replace(/^whsec_/, ''), 'base64'));
  return ({ eventId, payload }) =>
    webhookHeaders(keys, { id: toId('evt', eventId), body: payload, userAgent: 'Trunkline-Webhooks/1' });
}

/**
 * Sends an event to an endpoint once. Any 2xx is a success; a redirect is not followed, and is none. Throws only where the
 * signal is aborted.
 */
export async function tryDelivery(
  send: SendRequest,
  url: string,
  message: Message,
  options: { workspaceId: string; sign: Sign; timeoutMs: number; now: Date; signal?: AbortSignal },
): Promise<Tried> {
  const from = performance.now();
  const durationMs = () => Math.round(performance.now() - from);
  try {
    const { status, headers } = await send({
      workspaceId: options.workspaceId,
      method: 'POST',
      url,
      headers: options.sign(message),
      body: message.payload,
      timeoutMs: options.timeoutMs,
      maxBytes: 'none',
      signal: options.signal,
    });
    const answered = { statusCode: status, durationMs: durationMs(), restMs: 0 };
    if (status >= 200 && status < 300) return { ...answered, verdict: 'delivered' };
    const error = `The endpoint answered ${status}${status >= 300 && status < 400 ? ', and redirects are not followed' : ''}.`;
    if (status === 410) return { ...answered, verdict: 'gone', error };
    const asks = status === 429 || status === 503;
    return {
      ...answered,
      verdict: 'failed',
      error,
      restMs: asks ? retryAfterMs(headers['retry-after'], options.now) : 0,
    };
  } catch (cause) {
    if (options.signal?.aborted) throw cause;
    const error = cause instanceof OutboundError ? cause.message : 'The request could not be sent.';
    return { verdict: 'failed', error, durationMs: durationMs(), restMs: UNREACHABLE_MS };
  }
}
