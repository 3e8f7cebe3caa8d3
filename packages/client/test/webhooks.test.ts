import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { WebhookSignatureError, webhooks } from '../src/index.ts';

const secret = `whsec_${btoa('a secret of thirty-two bytes ....')}`;
const body = JSON.stringify({ type: 'webhook.test', data: { greeting: 'Grüß Gott' } });

/** Signed by another library. */
function signed(at = new Date(), by = secret) {
  return {
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(by).sign('evt_1', at, body),
  };
}

test('an event that another library has signed is taken, from text and bytes, from either kind of headers', async () => {
  const event = JSON.parse(body);
  expect(await webhooks.unwrap(body, signed(), secret)).toEqual(event);
  expect(await webhooks.unwrap(new TextEncoder().encode(body), new Headers(signed()), secret)).toEqual(event);
  const other = { ...signed(), 'webhook-signature': `v1,AAAA v2,x ${signed()['webhook-signature']}` };
  expect(await webhooks.unwrap(body, other, secret)).toEqual(event);
});

const minutes = (count: number) => new Date(Date.now() + count * 60_000);

test.each([
  ['another body', `${body} `, signed(), /No webhook-signature fits/],
  [
    'another secret',
    body,
    signed(new Date(), `whsec_${btoa('another secret of some bytes ...')}`),
    /No webhook-signature/,
  ],
  ['an old request', body, signed(minutes(-6)), /five minutes/],
  ['one from the future', body, signed(minutes(6)), /five minutes/],
  ['a time that is none', body, { ...signed(), 'webhook-timestamp': 'now' }, /five minutes/],
  ['no signature', body, { ...signed(), 'webhook-signature': undefined }, /has no webhook-signature/],
  ['no Base64', body, { ...signed(), 'webhook-signature': 'v1,%%' }, /No webhook-signature/],
])('%s is refused', async (_, text, headers, message) => {
  const error = await webhooks.unwrap(text, headers, secret).catch((thrown) => thrown);
  expect(error).toBeInstanceOf(WebhookSignatureError);
  expect(error.message).toMatch(message);
});

test('what it signs for a test is taken by itself and by another library, and refused once it is old', async () => {
  const at = new Date();
  expect(await webhooks.sign(body, secret, { id: 'evt_1', at })).toEqual(signed(at));
  const headers = await webhooks.sign(body, secret);
  expect(headers['webhook-id']).toMatch(/^evt_./);
  expect(await webhooks.unwrap(body, headers, secret)).toEqual(JSON.parse(body));
  expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
  const old = await webhooks.sign(body, secret, { at: minutes(-6) });
  await expect(webhooks.unwrap(body, old, secret)).rejects.toBeInstanceOf(WebhookSignatureError);
});

test('a secret that is none is the mistake of who runs the server', async () => {
  await expect(webhooks.unwrap(body, signed(), 'whsec_%')).rejects.toBeInstanceOf(TypeError);
});
