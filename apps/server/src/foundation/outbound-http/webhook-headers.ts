import { createHmac, type KeyObject } from 'node:crypto';

/**
 * The headers of a request that is signed as Standard Webhooks says. Its library does so in JavaScript, for a sixth of what a
 * delivery costs; a test holds these signatures against it.
 * @param keys each signs, as while a rotated one still holds
 */
export function webhookHeaders(
  keys: readonly (KeyObject | string)[],
  { id, body, userAgent }: { id: string; body: string; userAgent: string },
): Record<string, string> {
  // The receiver holds it against its own clock, so it is the machine's and not the one that tests move.
  const sentAt = Math.floor(Date.now() / 1000);
  const signatureBy = (key: KeyObject | string) =>
    `v1,${createHmac('sha256', key).update(`${id}.${sentAt}.${body}`).digest('base64')}`;
  return {
    'content-type': 'application/json',
    'user-agent': userAgent,
    'webhook-id': id,
    'webhook-timestamp': String(sentAt),
    'webhook-signature': keys.map(signatureBy).join(' '),
  };
}
