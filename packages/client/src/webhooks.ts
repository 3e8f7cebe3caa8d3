import type { components, webhooks as webhookTypes } from './generated/schema.ts';

type JsonOf<Type extends keyof webhookTypes> = webhookTypes[Type]['post'] extends {
  requestBody: { content: { 'application/json': infer Body } };
}
  ? Body
  : never;

/** Every event that an endpoint is told, and `call.inbound`, which asks; `type` tells them apart. */
export type WebhookEvent = { [Type in keyof webhookTypes]: JsonOf<Type> }[keyof webhookTypes];
/** What to answer to a `call.inbound`. */
export type InboundCallDecision = components['schemas']['InboundCallDecision'];

/** The request is not one of the service, or not a fresh one. Answer 400 and do nothing. */
export class WebhookSignatureError extends Error {
  override readonly name = 'WebhookSignatureError';
}

/** How old a request may be, and how far ahead its sender's clock. */
const TOLERANCE_SECONDS = 300;

type HeaderSource = Headers | Record<string, string | readonly string[] | undefined>;

/**
 * Checks who sent a webhook and when, as Standard Webhooks says, and returns its event.
 *
 * @param body the request's body as it came, byte for byte: a body that was parsed and written again has other bytes
 * @param headers those of the request, of `fetch` or of Node
 * @param secret the endpoint's, `whsec_…`; while a secret is rotated, either
 * @throws {WebhookSignatureError} that says what is wrong with it
 */
async function unwrap(body: string | Uint8Array, headers: HeaderSource, secret: string): Promise<WebhookEvent> {
  const id = header(headers, 'id');
  const timestamp = header(headers, 'timestamp');
  const signatures = header(headers, 'signature');
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= TOLERANCE_SECONDS))
    throw new WebhookSignatureError('The webhook-timestamp is five minutes or more off.');
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body);
  const key = await keyOf(secret);
  for (const each of signatures.split(' ')) {
    const [version, value] = each.split(',');
    const signature = version === 'v1' ? fromBase64(value ?? '') : undefined;
    if (signature && (await crypto.subtle.verify('HMAC', key, signature, signed(id, timestamp, text))))
      return JSON.parse(text);
  }
  throw new WebhookSignatureError('No webhook-signature fits the body and the secret.');
}

/** The headers that show who sent a webhook, and when. */
export type WebhookHeaders = Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string>;

/**
 * Signs a body as the service does, for the tests of a receiver. Returns the headers that `unwrap` takes with it.
 *
 * @param secret the endpoint's, `whsec_…`
 * @param of the event's ID, and when it is sent: a random one, and now, by default
 */
async function sign(body: string, secret: string, of: { id?: string; at?: Date } = {}): Promise<WebhookHeaders> {
  const { id = `evt_${crypto.randomUUID()}`, at = new Date() } = of;
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const signature = await crypto.subtle.sign('HMAC', await keyOf(secret), signed(id, timestamp, body));
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${btoa(String.fromCharCode(...new Uint8Array(signature)))}`,
  };
}

/** Reads what the service sends to you, and signs what a test sends in its place. */
export const webhooks = { unwrap, sign };

const signed = (id: string, timestamp: string, body: string) => new TextEncoder().encode(`${id}.${timestamp}.${body}`);

function keyOf(secret: string): Promise<CryptoKey> {
  const bytes = fromBase64(secret.replace(/^whsec_/, ''));
  if (!bytes) throw new TypeError('The secret is no `whsec_` and Base64.');
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify']);
}

function header(headers: HeaderSource, last: string): string {
  const name = `webhook-${last}`;
  const value = headers instanceof Headers ? headers.get(name) : headers[name];
  if (typeof value !== 'string' || value === '') throw new WebhookSignatureError(`The request has no ${name}.`);
  return value;
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (each) => each.charCodeAt(0));
  } catch {
    return undefined;
  }
}
