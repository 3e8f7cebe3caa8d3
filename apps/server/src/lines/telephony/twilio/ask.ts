import { setTimeout as sleep } from 'node:timers/promises';
import type { OutboundAnswer, SendRequest } from '../../../foundation/outbound-http/guarded-request.ts';
import type { OutboundError } from '../../../foundation/outbound-http/outbound-error.ts';
import { NumberError, type ProviderAccount } from '../number-market.ts';
import { refusal } from './refusal.ts';

/** Where Twilio's APIs are. */
export interface TwilioUrls {
  api: string;
  pricing: string;
  trunking: string;
}

export interface Question {
  method: 'GET' | 'POST' | 'DELETE';
  api: keyof TwilioUrls;
  /** With the account's own where that belongs: `/2010-04-01/Accounts/AC…`. */
  path: string;
  query?: Record<string, string | undefined>;
  form?: Record<string, string | undefined>;
}

/** Asks one account's Twilio. Answers the parsed body, or nothing for 204 and 404. Throws `NumberError`. */
export type Ask = (question: Question) => Promise<unknown>;

const TIMEOUT_MS = 15_000;
const MOST_BYTES = 4 * 2 ** 20;
/** How often a question that was put off is asked again, and the longest wait for it, in seconds. */
const MOST_TIMES = 3;
const LONGEST_WAIT = 5;

/** Asks by plain HTTP, with the account's key if it has one, else with its auth token. */
export function asker(send: SendRequest, urls: TwilioUrls, account: ProviderAccount): Ask {
  const { workspaceId, accountId, keyId, secret } = account;
  const authorization = `Basic ${Buffer.from(`${keyId ?? accountId}:${secret}`).toString('base64')}`;
  return async ({ method, api, path, query = {}, form }) => {
    const asked = encoded(query);
    const request = {
      workspaceId,
      method,
      url: `${urls[api]}${path}${asked === '' ? '' : `?${asked}`}`,
      headers: {
        accept: 'application/json',
        authorization,
        ...(form && { 'content-type': 'application/x-www-form-urlencoded' }),
      },
      ...(form && { body: encoded(form) }),
      timeoutMs: TIMEOUT_MS,
      maxBytes: MOST_BYTES,
    };
    for (let times = 1; ; times += 1) {
      const answer = await send(request).catch((error: OutboundError) => {
        throw new NumberError(wasSent(error) && method === 'POST' ? 'unknown' : 'temporary', error.message, {
          cause: error,
        });
      });
      if (answer.status !== 429) return read(method, answer);
      // It was put off: nothing was done.
      const seconds = Number(answer.headers['retry-after'] ?? 1);
      if (times === MOST_TIMES || !(seconds <= LONGEST_WAIT))
        throw new NumberError('temporary', `Twilio asks to wait for ${answer.headers['retry-after'] ?? 'a while'}`);
      await sleep(seconds * 1000);
    }
  };
}

/** Whether Twilio may have got a request that brought no answer. */
const wasSent = ({ code }: OutboundError) =>
  code === 'connection_lost' || code === 'timeout' || code === 'response_too_large';

function read(method: Question['method'], { status, body }: OutboundAnswer): unknown {
  if (status === 204) return undefined;
  if (status === 404 && method !== 'POST') return undefined;
  const parsed = parse(body);
  if (status >= 200 && status < 300 && parsed !== undefined) return parsed;
  if (status >= 400 && status < 500) throw refusal(status, parsed);
  throw new NumberError(method === 'POST' ? 'unknown' : 'temporary', `Twilio said ${status}`);
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'));
  } catch {
    return undefined;
  }
}

const encoded = (values: Record<string, string | undefined>): string =>
  new URLSearchParams(
    Object.entries(values).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  ).toString();
