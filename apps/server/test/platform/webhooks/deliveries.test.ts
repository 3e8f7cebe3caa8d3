import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { fromId } from '../../../src/foundation/values/ids.ts';
import { eraseOldDeliveries } from '../../../src/platform/webhooks/retention.ts';
import { createWithFile, validated } from '../../audience/contact-lists/contact-files.ts';
import { startTestServer, type TestServer } from '../../server.ts';
import { until } from '../../until.ts';
import {
  arrived,
  createEndpoint,
  deliveriesOf,
  type Receiver,
  sendsToLoopback,
  startReceiver,
  verify,
} from './receiver.ts';

let server: TestServer;
let receiver: Receiver;
beforeAll(async () => {
  server = await startTestServer({ config: sendsToLoopback });
});
afterAll(() => server.stop());
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(async () => {
  // What still waits must not meet the next test.
  const { data } = await server.client.GET('/v1/webhooks', { params: { query: { perPage: 100 } } });
  for (const { id } of data!.data.items) await server.client.DELETE('/v1/webhooks/{webhookId}', at(id));
  await receiver.stop();
});

const at = (webhookId: string) => ({ params: { path: { webhookId } } });
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
/** The rests between tries, and a tenth for their jitter. */
const RESTS = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR];

/** Makes an upload that waits for its file. */
async function makeUpload(): Promise<string> {
  const body = { name: 'Patients', fileName: 'patients.csv' };
  return (await server.client.POST('/v1/calls/contact-lists', { body })).data!.uploadDetails.id;
}

const only = async (webhookId: string) => {
  const deliveries = await deliveriesOf(server, webhookId);
  expect(deliveries).toHaveLength(1);
  return deliveries[0]!;
};

/** Waits until the only delivery was tried so often, or oftener: the clock goes on by itself. */
const tried = (webhookId: string, attempts: number) =>
  until(async () => expect((await only(webhookId)).attempts).toBeGreaterThanOrEqual(attempts));

describe('a delivery that fails', () => {
  test('is tried again at growing intervals, under the same ID, until it is taken', async () => {
    receiver.answer(500);
    const { id, secret } = await createEndpoint(server, receiver.url, ['upload.pending']);
    await makeUpload();
    await tried(id, 1);
    const first = await only(id);
    expect(first).toMatchObject({ status: 'pending', lastStatusCode: 500, lastError: 'The endpoint answered 500.' });
    const restMs = Date.parse(first.nextAttemptAt!) - server.clock.now().getTime();
    expect(restMs).toBeLessThanOrEqual(5.5 * SECOND);
    server.clock.advance(1.1 * RESTS[0]!);
    await tried(id, 2);
    receiver.answer(200);
    server.clock.advance(1.1 * RESTS[1]!);
    await tried(id, 3);
    expect(await only(id)).toMatchObject({ status: 'delivered', lastStatusCode: 200, attempts: 3 });
    expect(await only(id)).not.toHaveProperty('lastError');
    expect(await only(id)).not.toHaveProperty('nextAttemptAt');
    expect(receiver.received).toHaveLength(3);
    expect(new Set(receiver.received.map((each) => each.id)).size).toBe(1);
    for (const each of receiver.received) expect(() => verify(secret, each)).not.toThrow();
  });

  test('is given up after ten tries in three days', async () => {
    receiver.answer(500);
    const { id } = await createEndpoint(server, receiver.url, ['upload.pending']);
    await makeUpload();
    for (const [i, rest] of RESTS.entries()) {
      await tried(id, i + 1);
      server.clock.advance(1.1 * rest);
    }
    await tried(id, 10);
    const last = await only(id);
    expect(last).toMatchObject({ status: 'failed', attempts: 10 });
    expect(last).not.toHaveProperty('nextAttemptAt');
    expect(receiver.received).toHaveLength(10);
  });

  test.each([
    [301, { location: 'https://example.com/' }, 'The endpoint answered 301, and redirects are not followed.'],
    [404, {}, 'The endpoint answered 404.'],
  ])('as with %i, says why', async (status, headers, error) => {
    receiver.answer(status, headers as Record<string, string>);
    const { id } = await createEndpoint(server, receiver.url, ['upload.pending']);
    await makeUpload();
    await tried(id, 1);
    expect(await only(id)).toMatchObject({ status: 'pending', lastStatusCode: status, lastError: error });
  });

  test('because nobody listens says so, and the endpoint is left alone for a moment', async () => {
    const { id } = await createEndpoint(server, receiver.url, ['upload.pending']);
    await receiver.stop();
    await makeUpload();
    await tried(id, 1);
    expect((await only(id)).lastError).toMatch(/^No connection to 127\.0\.0\.1:\d+: it refuses connections\.$/);
    expect(await only(id)).not.toHaveProperty('lastStatusCode');
  });

  test.each([429, 503])(
    'with %i and Retry-After waits as long as it was asked to, and so do the others',
    async (status) => {
      receiver.answer(status, { 'retry-after': '3600' });
      const { id } = await createEndpoint(server, receiver.url, ['upload.pending']);
      await makeUpload();
      await tried(id, 1);
      receiver.answer(200);
      await makeUpload();
      await until(async () => expect(await deliveriesOf(server, id)).toHaveLength(2));
      server.clock.advance(59 * MINUTE);
      const other = await createEndpoint(server, `${receiver.url}/other`, ['upload.pending']);
      await makeUpload();
      await until(async () => expect((await only(other.id)).status).toBe('delivered'));
      expect(receiver.received.filter(({ path }) => path === '/hook')).toHaveLength(1);
      server.clock.advance(2 * MINUTE);
      await until(async () => {
        const statuses = (await deliveriesOf(server, id)).map((each) => each.status);
        expect(statuses).toEqual(['delivered', 'delivered', 'delivered']);
      });
    },
  );
});

test('events of one resource arrive in their order: later ones wait for the one that fails, others do not', async () => {
  const types = ['upload.pending', 'upload.uploaded', 'upload.validating', 'upload.validated'] as const;
  const { id } = await createEndpoint(server, receiver.url, [...types]);
  let refused: string | undefined;
  receiver.behave((event, _request, response) => {
    refused ??= event.data['id'] as string;
    response.writeHead(event.data['id'] === refused ? 500 : 204).end();
  });
  const first = await createWithFile(server, 'phone\n+14155550101\n');
  await validated(server, first);
  await until(async () => expect(await deliveriesOf(server, id)).toHaveLength(4));
  const other = await createWithFile(server, 'phone\n+14155550102\n');
  const typesOf = ({ uploadID }: { uploadID: string }) =>
    receiver.received.filter(({ data }) => data['id'] === uploadID).map(({ type }) => type);
  await until(() => expect(typesOf(other)).toEqual(types));
  expect(new Set(typesOf(first))).toEqual(new Set([types[0]]));
  refused = '';
  server.clock.advance(1.1 * RESTS[2]!);
  await until(() => expect(typesOf(first).slice(-4)).toEqual(types));
  expect(new Set(typesOf(first).slice(0, -4))).toEqual(new Set([types[0]]));
});

test('an answer that is long in coming holds up the later events of its resource, and of no other', async () => {
  const types = ['upload.pending', 'upload.uploaded', 'upload.validating', 'upload.validated'] as const;
  await createEndpoint(server, receiver.url, [...types]);
  let answer = () => {};
  receiver.behave((_received, _request, response) => {
    answer = () => response.writeHead(204).end();
  });
  const slow = await createWithFile(server, 'phone\n+14155550101\n');
  await arrived(receiver, 1);
  receiver.answer(204);
  await validated(server, slow);
  const other = await createWithFile(server, 'phone\n+14155550102\n');
  const typesOf = ({ uploadID }: { uploadID: string }) =>
    receiver.received.filter(({ data }) => data['id'] === uploadID).map(({ type }) => type);
  await until(() => expect(typesOf(other)).toEqual(types));
  expect(typesOf(slow)).toEqual([types[0]]);
  answer();
  await until(() => expect(typesOf(slow)).toEqual(types));
});

test('410 disables the endpoint and ends what waits', async () => {
  receiver.answer(500);
  const { id } = await createEndpoint(server, receiver.url, ['upload.pending']);
  await makeUpload();
  await tried(id, 1);
  const [first] = receiver.received;
  receiver.behave((event, _request, response) => response.writeHead(event.id === first!.id ? 500 : 410).end());
  await makeUpload();
  await until(async () => {
    expect((await deliveriesOf(server, id)).map((each) => [each.status, each.lastStatusCode, each.lastError])).toEqual([
      ['failed', 410, 'The endpoint answered 410.'],
      ['failed', 500, 'The endpoint was disabled.'],
    ]);
  });
  const { data } = await server.client.GET('/v1/webhooks/{webhookId}', at(id));
  expect(data!.data).toMatchObject({ status: 'disabled', disabledReason: 'gone' });
  receiver.answer(200);
  await makeUpload();
  const enabled = await server.client.PATCH('/v1/webhooks/{webhookId}', { ...at(id), body: { status: 'enabled' } });
  expect(enabled.data!.data.status).toBe('enabled');
  expect(enabled.data!.data).not.toHaveProperty('disabledReason');
  const uploadId = await makeUpload();
  await until(() => expect(receiver.received.at(-1)!.data.id).toBe(uploadId));
  expect(await deliveriesOf(server, id)).toHaveLength(3);
});

test('disabling ends what waits; a new URL takes it along; deleting erases it', async () => {
  receiver.answer(500);
  const { id } = await createEndpoint(server, receiver.url, ['upload.pending']);
  await makeUpload();
  await tried(id, 1);
  const body = { url: `${receiver.url}/new` };
  await server.client.PATCH('/v1/webhooks/{webhookId}', { ...at(id), body });
  server.clock.advance(1.1 * RESTS[0]!);
  await until(() => expect(receiver.received.at(-1)!.path).toBe('/hook/new'));
  const disabling = await server.client.PATCH('/v1/webhooks/{webhookId}', { ...at(id), body: { status: 'disabled' } });
  expect(disabling.data!.data).toMatchObject({ status: 'disabled', disabledReason: 'requested' });
  await until(async () => expect((await only(id)).status).toBe('failed'));
  expect(await only(id)).toMatchObject({ lastError: 'The endpoint was disabled.' });
  await server.client.DELETE('/v1/webhooks/{webhookId}', at(id));
  const left = () =>
    server.database.inEngine((tx) =>
      tx.db.selectFrom('webhook_deliveries').select('id').where('webhook_id', '=', fromId(id)).execute(),
    );
  expect(await left()).toHaveLength(1);
  await eraseOldDeliveries(server.database, server.clock.now());
  expect(await left()).toEqual([]);
  const endpoint = await server.database.inEngine((tx) =>
    tx.db.selectFrom('webhooks').select('id').where('id', '=', fromId(id)).execute(),
  );
  expect(endpoint).toEqual([]);
});

test('what the URL before has answered does not disable the one that took its place', async () => {
  const before = await startReceiver();
  let answer = () => {};
  before.behave((_received, _request, response) => {
    answer = () => response.writeHead(410).end();
  });
  const { id, secret } = await createEndpoint(server, before.url, ['upload.pending']);
  await makeUpload();
  await arrived(before, 1);
  await server.client.PATCH('/v1/webhooks/{webhookId}', { ...at(id), body: { url: receiver.url, secret } });
  answer();
  await until(async () => expect((await only(id)).lastStatusCode).toBe(410));
  await makeUpload();
  await arrived(receiver, 1);
  const { data } = await server.client.GET('/v1/webhooks/{webhookId}', at(id));
  expect(data!.data.status).toBe('enabled');
  await before.stop();
});

test('a secret signs for another address only if it is given with it', async () => {
  const elsewhere = await startReceiver();
  const { id, secret } = await createEndpoint(server, receiver.url, ['upload.pending']);
  await server.client.POST('/v1/webhooks/{webhookId}/rotate-secret', at(id));
  const move = (change: object) => server.client.PATCH('/v1/webhooks/{webhookId}', { ...at(id), body: change });
  const refused = await move({ url: elsewhere.url });
  expect([refused.response.status, refused.error!.details]).toEqual([
    400,
    [{ path: '/body/secret', message: expect.stringContaining('must be given again') }],
  ]);
  expect((await move({ url: elsewhere.url, secret: 'whsec_c2hvcnQ=' })).response.status).toBe(400);
  expect((await move({ url: `${receiver.url}/2` })).response.status).toBe(200);

  const ours = `whsec_${randomBytes(32).toString('base64')}`;
  expect((await move({ url: elsewhere.url, secret: ours })).response.status).toBe(200);
  await makeUpload();
  await arrived(elsewhere, 1);
  expect(() => verify(ours, elsewhere.received[0]!)).not.toThrow();
  expect(String(elsewhere.received[0]!.headers['webhook-signature'])).not.toContain(' ');
  expect(() => verify(secret, elsewhere.received[0]!)).toThrow('No matching signature');

  const next = `whsec_${randomBytes(32).toString('base64')}`;
  await move({ secret: next });
  await makeUpload();
  await arrived(elsewhere, 2);
  for (const each of [ours, next]) expect(() => verify(each, elsewhere.received[1]!)).not.toThrow();
  await elsewhere.stop();
});

const endpointRow = (id: string) =>
  server.database.inEngine((tx) =>
    tx.db.selectFrom('webhooks').selectAll().where('id', '=', fromId(id)).executeTakeFirstOrThrow(),
  );

test('an endpoint that is away for a week gets what is younger, and the rest is given up', async () => {
  receiver.answer(503, { 'retry-after': '3600' });
  const { id } = await createEndpoint(server, receiver.url, ['upload.pending']);
  await makeUpload();
  await tried(id, 1);
  await makeUpload();
  await until(async () => expect(await deliveriesOf(server, id)).toHaveLength(2));
  server.clock.advance(7 * 24 * HOUR - 30 * MINUTE);
  const young = await makeUpload();
  await until(async () => {
    const [, second, first] = (await deliveriesOf(server, id)).map(({ attempts }) => attempts);
    expect([first! >= 2, second! >= 1]).toEqual([true, true]);
    // Nothing is under way that could still be refused after the next hour.
    expect((await endpointRow(id)).resting_until! > server.clock.now()).toBe(true);
  });
  receiver.answer(200);
  server.clock.advance(HOUR);
  await until(async () => {
    const seen = (await deliveriesOf(server, id)).map((each) => [each.status, each.lastError]);
    const givenUp = ['failed', 'The endpoint did not take it within seven days.'];
    expect(seen).toEqual([['delivered', undefined], givenUp, givenUp]);
  });
  expect(receiver.received.at(-1)!.data['id']).toBe(young);
});

test('an endpoint that can not be served by a fault of ours is left alone for a while, and then served', async () => {
  const { id } = await createEndpoint(server, receiver.url, ['upload.pending']);
  const row = () => endpointRow(id);
  const setSecret = (secret: string) =>
    server.database.inEngine((tx) =>
      tx.db.updateTable('webhooks').set({ secret }).where('id', '=', fromId(id)).execute(),
    );
  const { secret } = await row();
  await setSecret('unreadable');
  await makeUpload();
  await until(async () => expect((await row()).resting_until).not.toBeNull());
  await setSecret(secret);
  server.clock.advance(MINUTE);
  await arrived(receiver, 1);
});

test('for a day after a rotation both secrets sign, then the new one alone', async () => {
  const { id, secret } = await createEndpoint(server, receiver.url, ['upload.pending']);
  const rotated = (await server.client.POST('/v1/webhooks/{webhookId}/rotate-secret', at(id))).data!.data;
  expect(rotated).toMatchObject({ id, secret: expect.stringMatching(/^whsec_/) });
  expect(rotated.secret).not.toBe(secret);
  await makeUpload();
  const [first] = await arrived(receiver, 1);
  expect(first!.headers['webhook-signature']!.split(' ')).toHaveLength(2);
  for (const each of [secret, rotated.secret]) expect(() => verify(each, first!)).not.toThrow();
  server.clock.advance(24 * HOUR);
  await makeUpload();
  const [, second] = await arrived(receiver, 2);
  expect(() => verify(rotated.secret, second!)).not.toThrow();
  expect(() => verify(secret, second!)).toThrow('No matching signature');
});

test('what the endpoint says beside its status is not looked at, however long it is', async () => {
  receiver.behave((_received, _request, response) => response.writeHead(200).end('x'.repeat(3_000_000)));
  const { id } = await createEndpoint(server, receiver.url, ['upload.pending']);
  await makeUpload();
  await tried(id, 1);
  expect((await only(id)).status).toBe('delivered');
});

describe('a test', () => {
  const tested = async (id: string) => (await server.client.POST('/v1/webhooks/{webhookId}/test', at(id))).data!.data;

  test('is sent at once, also to a disabled endpoint', async () => {
    const { id, secret } = await createEndpoint(server, receiver.url, ['call.ended']);
    await server.client.PATCH('/v1/webhooks/{webhookId}', { ...at(id), body: { status: 'disabled' } });
    const delivery = await tested(id);
    expect(delivery).toMatchObject({ webhookId: id, eventType: 'webhook.test', status: 'delivered', attempts: 1 });
    expect(verify(secret, receiver.received[0]!)).toMatchObject({ type: 'webhook.test', data: { webhookId: id } });
    expect(receiver.received[0]!.id).toBe(delivery.eventId);
    expect(await only(id)).toEqual(delivery);
  });

  test('that fails is an answer too, and is not tried again', async () => {
    const { id } = await createEndpoint(server, receiver.url, ['call.ended']);
    receiver.answer(500);
    const failed = await tested(id);
    expect(failed).toMatchObject({ status: 'failed', attempts: 1, lastStatusCode: 500 });
    expect(failed).not.toHaveProperty('nextAttemptAt');
    receiver.answer(410);
    expect(await tested(id)).toMatchObject({ status: 'failed', lastStatusCode: 410 });
    const { data } = await server.client.GET('/v1/webhooks/{webhookId}', at(id));
    expect(data!.data).toMatchObject({ status: 'disabled', disabledReason: 'gone' });
  });
});

test('a replay sends an event again as it was, under its ID, also to a disabled endpoint', async () => {
  const { id, secret } = await createEndpoint(server, receiver.url, ['upload.pending']);
  await makeUpload();
  await until(async () => expect((await only(id)).status).toBe('delivered'));
  const first = await only(id);
  await server.client.PATCH('/v1/webhooks/{webhookId}', { ...at(id), body: { status: 'disabled' } });
  const path = { webhookId: id, deliveryId: first.id };
  const replay = () =>
    server.client.POST('/v1/webhooks/{webhookId}/deliveries/{deliveryId}/replay', { params: { path } });
  const { response, data } = await replay();
  expect(response.status).toBe(202);
  expect(data!.data).toMatchObject({ status: 'pending', attempts: 0, eventId: first.eventId });
  const [, again] = await arrived(receiver, 2);
  expect(again).toMatchObject({ id: first.eventId, body: receiver.received[0]!.body });
  expect(() => verify(secret, again!)).not.toThrow();
  await until(async () => {
    expect((await deliveriesOf(server, id)).map((each) => [each.id, each.status])).toEqual([
      [data!.data.id, 'delivered'],
      [first.id, 'delivered'],
    ]);
  });
  // Also twice, and of a replay.
  await Promise.all([replay(), replay()]);
  await arrived(receiver, 4);
});

test('deliveries are found by status, type and text', async () => {
  const { id } = await createEndpoint(server, receiver.url, ['upload.pending']);
  await makeUpload();
  await until(async () => expect((await only(id)).status).toBe('delivered'));
  const test = (await server.client.POST('/v1/webhooks/{webhookId}/test', at(id))).data!.data;
  const ids = async (query: object) => (await deliveriesOf(server, id, query)).map((each) => each.id);
  const [upload] = (await ids({})).filter((each) => each !== test.id);
  expect(await ids({ order: 'asc' })).toEqual([upload, test.id]);
  expect(await ids({ eventType: 'upload.pending' })).toEqual([upload]);
  expect(await ids({ searchText: test.eventId.toUpperCase() })).toEqual([test.id]);
  expect(await ids({ searchText: 'webhook.t' })).toEqual([test.id]);
  expect(await ids({ status: 'failed' })).toEqual([]);
  expect(await ids({ status: 'delivered', perPage: 1, page: 2 })).toEqual([upload]);
  expect(await ids({ status: ['failed', 'delivered'], perPage: 1 })).toEqual([test.id]);
});

test('deliveries are kept for thirty days', async () => {
  const { id } = await createEndpoint(server, receiver.url, ['upload.pending']);
  await makeUpload();
  await until(async () => expect((await only(id)).status).toBe('delivered'));
  const in30Days = new Date(server.clock.now().getTime() + 30 * 24 * HOUR - MINUTE);
  await eraseOldDeliveries(server.database, in30Days);
  expect(await deliveriesOf(server, id)).toHaveLength(1);
  await eraseOldDeliveries(server.database, new Date(in30Days.getTime() + 2 * MINUTE));
  expect(await deliveriesOf(server, id)).toEqual([]);
});
