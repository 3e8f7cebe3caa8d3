import { expect, test } from 'vitest';
import { ConnectionError, TrunklineError, unwrap } from '../src/index.ts';
import { hangUp, json, standIn } from './stand-in.ts';

const busy = json(503, { code: 'unavailable', error: 'Not now.' }, { 'Retry-After': '0' });
const limited = json(429, { code: 'rate_limited', error: 'Too many.' }, { 'Retry-After': '0' });
const ok = json(200, { id: 'ws_1' });
const id = 'cmp_1';
const start = { params: { path: { id } } };
const batch = { agentId: 'a', fromNumber: '+14155550200', recipients: [{ phoneNumber: '+14155550100' }] };

test('a GET is sent again after 503, 429 and a broken connection', async () => {
  const { clientOf, received } = await standIn(busy, limited, hangUp, ok);
  expect(await unwrap(clientOf({ maxRetries: 3 }).GET('/v1/workspace'))).toEqual({ id: 'ws_1' });
  expect(received.map(({ headers }) => headers['x-retry-count'])).toEqual([undefined, '1', '2', '3']);
});

test('it gives up after maxRetries, with the last answer', async () => {
  const { clientOf, received } = await standIn(busy);
  const failed = unwrap(clientOf({ maxRetries: 1 }).GET('/v1/workspace'));
  await expect(failed).rejects.toMatchObject({ status: 503, code: 'unavailable', retryAfterSeconds: 0 });
  expect(received).toHaveLength(2);
});

test('a POST without a key is not repeated after 503 or a broken connection', async () => {
  const { client, received } = await standIn(busy, hangUp);
  await expect(unwrap(client.POST('/v1/calls/campaigns/{id}/start', start))).rejects.toBeInstanceOf(TrunklineError);
  await expect(unwrap(client.POST('/v1/calls/campaigns/{id}/start', start))).rejects.toBeInstanceOf(ConnectionError);
  expect(received).toHaveLength(2);
});

test('a POST that was refused for its rate is sent again: nothing has happened yet', async () => {
  const { client, received } = await standIn(limited, json(200, { success: true, data: { id } }));
  expect(await unwrap(client.POST('/v1/calls/campaigns/{id}/start', start))).toEqual({ id });
  expect(received).toHaveLength(2);
});

test('with an Idempotency-Key a POST is repeated, key and body the same', async () => {
  const inProgress = json(409, { code: 'idempotency_in_progress', error: 'Wait.' }, { 'x-should-retry': 'true' });
  const { clientOf, received } = await standIn(hangUp, busy, inProgress, json(202, { batchId: 'bat_1' }));
  const params = { header: { 'Idempotency-Key': 'order-7781' } };
  const client = clientOf({ maxRetries: 3 });
  expect(await unwrap(client.POST('/v1/calls/batch', { params, body: batch }))).toEqual({ batchId: 'bat_1' });
  expect(received.map(({ headers }) => headers['idempotency-key'])).toEqual(Array(4).fill('order-7781'));
  expect(new Set(received.map(({ body }) => body)).size).toBe(1);
});

test('any other 409 is final', async () => {
  const reused = json(409, { code: 'idempotency_key_reused', error: 'No.' }, { 'x-should-retry': 'false' });
  const { client, received } = await standIn(reused);
  const params = { header: { 'Idempotency-Key': 'order-7781' } };
  const failed = unwrap(client.POST('/v1/calls/batch', { params, body: batch }));
  await expect(failed).rejects.toMatchObject({ code: 'idempotency_key_reused' });
  expect(received).toHaveLength(1);
});

test('Retry-After is waited for; one that is too long is left to the caller', async () => {
  const soon = json(429, { code: 'rate_limited', error: 'Too many.' }, { 'Retry-After': '1' });
  const late = json(429, { code: 'rate_limited', error: 'Too many.' }, { 'Retry-After': '3600' });
  const { client, received } = await standIn(soon, late);
  const begun = performance.now();
  await expect(unwrap(client.GET('/v1/workspace'))).rejects.toMatchObject({ retryAfterSeconds: 3600 });
  expect(performance.now() - begun).toBeGreaterThan(1000);
  expect(received).toHaveLength(2);
});

test('an abort ends the wait for the next attempt', async () => {
  const { client } = await standIn(json(503, {}, { 'Retry-After': '30' }));
  const signal = AbortSignal.timeout(200);
  await expect(client.GET('/v1/workspace', { signal })).rejects.toThrow(/timeout/);
});
