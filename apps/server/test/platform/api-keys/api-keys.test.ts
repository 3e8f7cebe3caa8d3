import { setTimeout as sleep } from 'node:timers/promises';
import type { components } from '@trunkline/client/schema';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import type { EngineTx } from '../../../src/foundation/database/database.ts';
import { fromId } from '../../../src/foundation/values/ids.ts';
import { hashKey } from '../../../src/platform/api-keys/key.ts';
import { openEvents } from '../../audience/contact-lists/contact-files.ts';
import { meanwhile } from '../../race.ts';
import { startTestServer, type TestServer } from '../../server.ts';
import { keyWith } from './keys.ts';

type Body = components['schemas']['CreateApiKey'];
type Client = TestServer['client'];

let server: TestServer;
/** Another process on the same database. */
let second: TestServer;

beforeAll(async () => {
  server = await startTestServer();
  second = await startTestServer({ connectionString: server.connectionString, apiKey: server.apiKey });
});
afterAll(async () => {
  await second.stop();
  await server.stop();
});
beforeEach(() => server.clock.set(new Date()));

const path = '/v1/api-keys';
const create = (body: Partial<Body> = {}, client = server.client) =>
  client.POST(path, { body: { name: 'CRM', permissions: ['calls:read'], ...body } });
const made = async (body: Partial<Body> = {}) => (await create(body)).data!.data;
const list = async (query: object = {}, client = server.client) =>
  (await client.GET(path, { params: { query } })).data!.data;
const find = async (id: string) => (await list({ perPage: 100 })).items.find((each) => each.id === id);
const revoke = (keyId: string, client: Client = server.client) =>
  client.DELETE(`${path}/{keyId}`, { params: { path: { keyId } } });
const inSeconds = (seconds: number) => new Date(server.clock.now().getTime() + seconds * 1000).toISOString();
const withKey = (key: string, on = server) => fetch(`${on.url}/v1/workspace`, { headers: { 'X-API-Key': key } });
const statusOf = async (key: string, on = server) => (await withKey(key, on)).status;
const stored = (id: string) =>
  server.database.inEngine((tx) =>
    tx.db.selectFrom('api_keys').selectAll().where('id', '=', fromId(id)).executeTakeFirstOrThrow(),
  );
const ofKey = async (permissions: string[], workspace?: string) => {
  const key = await keyWith(server, { permissions, ...(workspace && { workspace }) });
  return server.clientOf(key);
};

test('a new key is shown once, works at once, and is kept as a hash', async () => {
  const { response, data } = await create({ name: 'Dialer', permissions: ['calls:read', 'campaigns:run'] });
  expect(response.status).toBe(201);
  const { key, ...rest } = data!.data;
  expect(key).toMatch(/^tl_live_[0-9A-Za-z]{43}$/);
  expect(rest).toEqual({
    id: expect.stringMatching(/^key_/),
    name: 'Dialer',
    prefix: key.slice(0, 12),
    permissions: ['calls:read', 'campaigns:run'],
    createdAt: expect.stringMatching(/Z$/),
  });
  expect(await statusOf(key)).toBe(200);
  expect((await server.clientOf(key).GET('/v1/calls')).response.status).toBe(200);
  expect((await server.clientOf(key).GET(path)).response.status).toBe(403);
  const row = await stored(rest.id);
  expect(row.hash.toString('hex')).toBe(hashKey(key));
  expect(JSON.stringify([row, await list({ perPage: 100 })])).not.toContain(key.slice(12));
});

test('the list is a page, newest first, and is searched by name and prefix', async () => {
  const ids: string[] = [];
  for (const name of ['Page one', 'PAGE two_', 'page three']) {
    ids.unshift((await made({ name })).id);
    server.clock.advance(1000);
  }
  const page = await list({ searchText: 'page', perPage: 2 });
  expect(page).toMatchObject({ page: 1, perPage: 2, totalCount: 3, column: 'created_at', order: 'desc' });
  expect(page.searchText).toBe('page');
  expect(page.items.map(({ id }) => id)).toEqual(ids.slice(0, 2));
  expect((await list({ searchText: 'page', perPage: 2, page: 2 })).items.map(({ id }) => id)).toEqual(ids.slice(2));
  expect((await list({ searchText: 'page', order: 'asc' })).items.map(({ id }) => id)).toEqual(ids.toReversed());
  expect((await list({ searchText: '_', perPage: 100 })).items.length).toBeGreaterThan(1);
  expect((await list({ searchText: 'two_' })).totalCount).toBe(1);
  expect((await list({ searchText: 'one_' })).totalCount).toBe(0);
  const { prefix, id } = await made();
  expect((await list({ searchText: prefix })).items.map((each) => each.id)).toEqual([id]);
});

test('a key grants only what it has', async () => {
  const some = await ofKey(['api_keys:write', 'calls:read']);
  expect((await create({ permissions: ['calls:read'] }, some)).response.status).toBe(201);
  const before = (await list()).totalCount;
  for (const permissions of [['calls:write'], ['calls:read', 'campaigns:run'], ['*']] as Body['permissions'][]) {
    const { response, error } = await create({ permissions }, some);
    expect(response.status).toBe(403);
    expect(error).toMatchObject({ code: 'forbidden', details: [{ path: '/body/permissions' }] });
    expect(error!.error).toContain(permissions.at(-1));
  }
  expect((await list()).totalCount).toBe(before);
  const all = await made({ permissions: ['*'] });
  expect((await create({ permissions: ['*'] }, server.clientOf(all.key))).response.status).toBe(201);
});

test('a key ends at its expiresAt, stays in the list, and can be revoked still', async () => {
  const { key, id, expiresAt } = await made({ expiresAt: inSeconds(60) });
  expect((await find(id))?.expiresAt).toBe(expiresAt);
  expect(await statusOf(key)).toBe(200);
  server.clock.advance(60_000);
  expect(await statusOf(key)).toBe(401);
  expect(await find(id)).toBeDefined();
  expect((await revoke(id)).response.status).toBe(200);
});

test('an expiresAt is read with its offset; one that is not ahead is refused', async () => {
  const { expiresAt } = await made({ expiresAt: '2999-01-01T02:00:00+02:00' });
  expect(expiresAt).toBe('2999-01-01T00:00:00.000Z');
  vi.spyOn(server.clock, 'now').mockReturnValue(new Date('2030-01-01T00:00:00Z'));
  for (const past of ['2030-01-01T00:00:00.000Z', '2029-12-31T23:59:59Z', '2030-01-01T01:00:00+01:00']) {
    const { response, error } = await create({ expiresAt: past });
    expect(response.status).toBe(400);
    expect(error).toMatchObject({ code: 'invalid_request', details: [{ path: '/body/expiresAt' }] });
  }
  expect((await create({ expiresAt: '2030-01-01T00:00:00.001Z' })).response.status).toBe(201);
  vi.restoreAllMocks();
});

test('its last use shows, and an expired key is not used', async () => {
  const { key, id } = await made({ expiresAt: inSeconds(600) });
  const lastUse = async () => (await find(id))!.lastUsedAt;
  expect(await lastUse()).toBeUndefined();
  await statusOf(key);
  await expect.poll(lastUse).toMatch(/Z$/);
  const noted = await lastUse();
  server.clock.advance(600_000);
  await sleep(600);
  expect(await statusOf(key)).toBe(401);
  await sleep(300);
  expect(await lastUse()).toBe(noted);
});

test('a revoked key stops on every server within a second, is not listed, and is 404', async () => {
  const { key, id } = await made();
  expect([await statusOf(key), await statusOf(key, second)]).toEqual([200, 200]);
  const { response, data } = await revoke(id);
  expect(response.status).toBe(200);
  expect(data).toEqual({ success: true, data: { id, deleted: true } });
  expect(await find(id)).toBeUndefined();
  const again = await revoke(id);
  expect(again.response.status).toBe(404);
  expect(again.error).toMatchObject({ code: 'not_found' });
  await sleep(1000);
  expect([await statusOf(key), await statusOf(key, second)]).toEqual([401, 401]);
});

test('event streams of a revoked key end on every server', async () => {
  const { key, id } = await made({ permissions: ['contact_lists:read'] });
  const body = { name: 'Patients', fileName: 'patients.csv' };
  const contacts = (await server.client.POST('/v1/calls/contact-lists', { body })).data!;
  const ids = { id: contacts.id, uploadID: contacts.uploadDetails.id };
  const streams = await Promise.all([server, second].map((on) => openEvents({ ...on, apiKey: key }, ids)));
  expect(streams.map(({ status }) => status)).toEqual([200, 200]);
  let ended = 0;
  const texts = streams.map((stream) => stream.text().finally(() => (ended += 1)));
  await sleep(700);
  expect(ended).toBe(0);
  await revoke(id);
  await Promise.allSettled(texts);
});

test('a key may revoke itself', async () => {
  const { key, id } = await made({ permissions: ['api_keys:write'] });
  expect((await revoke(id, server.clientOf(key))).response.status).toBe(200);
  await sleep(1000);
  expect(await statusOf(key)).toBe(401);
});

test('a key revokes none that may do more than it', async () => {
  const weak = await ofKey(['api_keys:write', 'calls:read']);
  for (const permissions of [['*'], ['calls:read', 'calls:write']] as Body['permissions'][]) {
    const { id, key } = await made({ permissions });
    const { response, error } = await revoke(id, weak);
    expect([response.status, error?.code]).toEqual([403, 'forbidden']);
    expect(error?.error).toMatch(/lack: (\*|calls:write)\.$/);
    expect(await statusOf(key)).toBe(200);
  }
  for (const permissions of [['calls:read'], ['api_keys:write', 'calls:read']] as Body['permissions'][])
    expect((await revoke((await made({ permissions })).id, weak)).response.status).toBe(200);
});

test('of several that revoke a key at once one has', async () => {
  const { id } = await made();
  const answers = await Promise.all([1, 2, 3, 4].map((each) => revoke(id, (each % 2 ? server : second).client)));
  expect(answers.map(({ response }) => response.status).sort()).toEqual([200, 404, 404, 404]);
});

test('a key that is revoked makes no other, however fast it is', async () => {
  const { key, id } = await made({ permissions: ['*'] });
  const clients = [server, second].map((on) => on.clientOf(key));
  // Both servers know the key for the next half second.
  await Promise.all([statusOf(key), statusOf(key, second)]);
  const racing = clients.map((client) => create({ name: 'Racing' }, client));
  expect((await revoke(id)).response.status).toBe(200);
  const revokedBy = (await list({ searchText: 'Racing' })).totalCount;
  const late = await Promise.all(clients.map((client) => create({ name: 'Racing' }, client)));
  expect(late.map(({ response, error }) => [response.status, error?.code])).toEqual([
    [401, 'unauthorized'],
    [401, 'unauthorized'],
  ]);
  const early = (await Promise.all(racing)).filter(({ response }) => response.status === 201);
  expect((await list({ searchText: 'Racing' })).totalCount).toBe(revokedBy);
  expect(early).toHaveLength(revokedBy);
});

test('a key that is being revoked makes no other meanwhile', async () => {
  const { key, id } = await made({ permissions: ['*'] });
  const revoking = ({ db }: EngineTx) =>
    db.updateTable('api_keys').set({ revoked_at: new Date() }).where('id', '=', fromId(id)).execute();
  const creating = () => create({ name: 'Behind' }, server.clientOf(key));
  const { response } = await meanwhile(server.database, revoking, creating);
  expect(response.status).toBe(401);
  expect((await list({ searchText: 'Behind' })).totalCount).toBe(0);
});

test('what is not as the contract says is 400, 413, 415', async () => {
  for (const body of [
    {},
    { name: 'x' },
    { name: '', permissions: ['*'] },
    { name: 'x'.repeat(256), permissions: ['*'] },
    { name: 'a\0b', permissions: ['*'] },
    { name: 'x', permissions: [] },
    { name: 'x', permissions: ['calls:reed'] },
    { name: 'x', permissions: ['authenticated'] },
    { name: 'x', permissions: ['*', '*'] },
    { name: 'x', permissions: ['*'], expiresAt: 'tomorrow' },
    { name: 'x', permissions: ['*'], expiresAt: '2999-12-31T23:59:60Z' },
    { name: 'x', permissions: ['*'], expiresAt: null },
    { name: 'x', permissions: ['*'], key: 'tl_live_mine' },
  ] as Body[])
    expect([body, (await server.client.POST(path, { body })).response.status]).toEqual([body, 400]);
  for (const query of [{ perPage: 101 }, { page: 0 }, { column: 'name' }, { q: 'x' }])
    expect((await server.client.GET(path, { params: { query: query as object } })).response.status).toBe(400);
  expect((await revoke('pn_01932f3c8a7e7bd0a1b2c3d4e5f60718')).response.status).toBe(400);
  const send = (body: string, type: string) =>
    fetch(server.url + path, {
      method: 'POST',
      headers: { 'X-API-Key': server.apiKey, 'Content-Type': type },
      body,
    });
  expect((await send('{}', 'text/plain')).status).toBe(415);
  expect((await send(JSON.stringify({ name: 'x'.repeat(3_000_000) }), 'application/json')).status).toBe(413);
});

test('without a valid key 401, without the permission 403', async () => {
  const { id } = await made({ permissions: ['api_keys:write'] });
  const stranger = server.clientOf('tl_test_0123456789012345678901234567890123456789012');
  const reader = await ofKey(['api_keys:read']);
  const writer = await ofKey(['api_keys:write']);
  for (const [client, statuses] of [
    [stranger, [401, 401, 401]],
    [reader, [200, 403, 403]],
    [writer, [403, 403, 200]],
  ] as const) {
    const answers = [await client.GET(path), await create({}, client), await revoke(id, client)];
    expect(answers.map(({ response }) => response.status)).toEqual(statuses);
  }
});

test("another workspace's key is as one that never was", async () => {
  const other = await ofKey(['*'], 'Other');
  const { id } = await made();
  expect((await list({}, other)).items.map(({ name }) => name)).toEqual(['Test']);
  const [foreign, unknown] = [await revoke(id, other), await revoke('key_01932f3c8a7e7bd0a1b2c3d4e5f60718', other)];
  expect([foreign.response.status, foreign.error]).toEqual([404, unknown.error]);
  expect(await find(id)).toBeDefined();
  const theirs = (await create({}, other)).data!.data;
  expect((await revoke(theirs.id)).response.status).toBe(404);
  expect((await server.clientOf(theirs.key).GET('/v1/workspace')).error).toBeUndefined();
});
