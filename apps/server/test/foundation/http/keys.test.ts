import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { KEY_PATTERN } from '../../../src/config-values.ts';
import { type Database, openDatabase } from '../../../src/foundation/database/database.ts';
import { systemClock } from '../../../src/foundation/values/clock.ts';
import { createKey, ensureFirstKey } from '../../../src/platform/api-keys/first-key.ts';
import { hashKey, newKey, prefixOf } from '../../../src/platform/api-keys/key.ts';
import { createKeyRing } from '../../../src/platform/api-keys/key-ring.ts';
import { freshDatabase } from '../../database.ts';
import { startTestServer, type TestServer } from '../../server.ts';
import { until } from '../../until.ts';

const log = pino({ level: 'silent' });
const path = '/v1/audit-log';
let first: TestServer;
let second: TestServer;

const status = async (server: TestServer, key: string) =>
  (await fetch(server.url + path, { headers: { 'X-API-Key': key } })).status;
const change = (database: Database, key: string, values: object) =>
  database.inEngine((tx) =>
    tx.db
      .updateTable('api_keys')
      .set(values)
      .where('hash', '=', Buffer.from(hashKey(key), 'hex'))
      .execute(),
  );
const read = (database: Database, key: string) =>
  database.inEngine((tx) =>
    tx.db
      .selectFrom('api_keys')
      .selectAll()
      .where('hash', '=', Buffer.from(hashKey(key), 'hex'))
      .executeTakeFirstOrThrow(),
  );

beforeAll(async () => {
  first = await startTestServer();
  second = await startTestServer({ connectionString: first.connectionString, apiKey: first.apiKey });
});
afterAll(async () => {
  await second.stop();
  await first.stop();
});

test('a key is tl_, its environment and 256 bits in base62, and is kept as a hash', async () => {
  const key = newKey();
  expect(key).toMatch(/^tl_live_[0-9A-Za-z]{43}$/);
  expect(key).toMatch(KEY_PATTERN);
  expect(new Set(Array.from({ length: 100 }, () => newKey())).size).toBe(100);
  const made = await createKey(first.database, systemClock, {
    workspace: 'Default',
    name: 'x',
    permissions: ['calls:read'],
  });
  const row = await read(first.database, made);
  expect(row).toMatchObject({ name: 'x', prefix: prefixOf(made), permissions: ['calls:read'], last_used_at: null });
  expect(JSON.stringify(row)).not.toContain(made);
});

test('the key decides what may be done', async () => {
  const request = { workspace: 'Default', name: 'x', permissions: ['calls:read'] };
  expect(await status(first, await createKey(first.database, systemClock, request))).toBe(403);
  expect(await status(first, first.apiKey)).toBe(200);
  expect(await status(first, newKey())).toBe(401);
});

test('a revoked key stops on every server within a second', async () => {
  const key = await createKey(first.database, systemClock, { workspace: 'Default', name: 'x', permissions: ['*'] });
  expect([await status(first, key), await status(second, key)]).toEqual([200, 200]);
  await change(first.database, key, { revoked_at: new Date() });
  await sleep(1000);
  expect([await status(first, key), await status(second, key)]).toEqual([401, 401]);
});

test('a key ends when it expires', async () => {
  const key = await createKey(first.database, systemClock, { workspace: 'Default', name: 'x', permissions: ['*'] });
  await change(first.database, key, { expires_at: new Date(Date.now() + 60_000) });
  expect(await status(first, key)).toBe(200);
  first.clock.advance(61_000);
  expect(await status(first, key)).toBe(401);
  first.clock.advance(-61_000);
});

test('the last use is noted, at most once a minute', async () => {
  const key = await createKey(first.database, systemClock, { workspace: 'Default', name: 'x', permissions: ['*'] });
  const lastUsed = async () => (await read(first.database, key)).last_used_at?.getTime();
  await status(first, key);
  await expect.poll(lastUsed).toBeTypeOf('number');
  const noted = await lastUsed();
  await sleep(600);
  await status(first, key);
  await sleep(300);
  expect(await lastUsed()).toBe(noted);
  first.clock.advance(61_000);
  await sleep(600);
  await status(first, key);
  await expect.poll(lastUsed).toBeGreaterThan(noted!);
  first.clock.advance(-61_000);
});

test('guesses, however many at once, take turns on one connection', async () => {
  const inEngine = vi.fn(first.database.inEngine);
  const ring = createKeyRing({ database: { ...first.database, inEngine } as Database, clock: systemClock, log });
  const answers = await Promise.all(Array.from({ length: 500 }, () => ring.authenticate(newKey())));
  expect(answers.every((answer) => answer === undefined)).toBe(true);
  expect(inEngine.mock.calls.length).toBeLessThanOrEqual(2);
  expect(ring.authenticate('anything')).toBeUndefined();
  expect(inEngine.mock.calls.length).toBeLessThanOrEqual(2);
  await ring.close();
});

test('the first key is made once, also by two servers at once, and BOOTSTRAP_API_KEY counts only where there is none', async () => {
  const fresh = await freshDatabase();
  const database = openDatabase({ connection: fresh.connection, poolSize: 4, log });
  const made = await Promise.all([1, 2].map(() => ensureFirstKey(database, systemClock, undefined)));
  expect(made.filter(Boolean)).toHaveLength(1);
  const late = newKey();
  expect(await ensureFirstKey(database, systemClock, late)).toBeUndefined();
  await expect(read(database, late)).rejects.toThrow();
  await database.close();
  await fresh.drop();
});

test('without its database a server answers 503 with when to come back, and is not ready', async () => {
  const fresh = await freshDatabase();
  const proxy = await proxyTo(fresh.connection.connectionString);
  const lost = await startTestServer({ connectionString: proxy.connectionString });
  expect(await status(lost, lost.apiKey)).toBe(200);
  proxy.cut();
  // It knows the key for half a second more.
  await until(async () => (await status(lost, lost.apiKey)) === 503);
  const answer = await fetch(lost.url + path, { headers: { 'X-API-Key': lost.apiKey } });
  expect([answer.status, await answer.json()]).toEqual([503, expect.objectContaining({ code: 'unavailable' })]);
  expect(answer.headers.get('retry-after')).toBe('1');
  expect((await fetch(`${lost.url}/readyz`)).status).toBe(503);
  expect((await fetch(`${lost.url}/livez`)).status).toBe(200);
  // Its leases can't be given back.
  await lost.stop().catch(() => undefined);
  await fresh.drop();
});

/** Stands between a server and its database until it is cut. */
async function proxyTo(connectionString: string) {
  const url = new URL(connectionString);
  const host = decodeURIComponent(url.hostname) || (url.searchParams.get('host') ?? '');
  const port = Number(url.port || 5432);
  const target = host.startsWith('/') ? { path: `${host}/.s.PGSQL.${port}` } : { host, port };
  const sockets = new Set<Socket>();
  const proxy = createServer((near) => {
    const far = connect(target);
    for (const socket of [near, far]) sockets.add(socket.on('error', () => undefined));
    near.pipe(far).pipe(near);
  }).listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  url.searchParams.delete('host');
  url.hostname = '127.0.0.1';
  url.port = String((proxy.address() as AddressInfo).port);
  return {
    connectionString: url.href,
    cut: () => {
      proxy.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
