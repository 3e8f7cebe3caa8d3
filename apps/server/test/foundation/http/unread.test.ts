import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RequestContext } from '../../../src/foundation/http/handler.ts';
import { listen } from '../../../src/foundation/http/listen.ts';
import { until } from '../../until.ts';
import { contractOf, jsonOf, startEdge } from './edge-app.ts';

const MEBIBYTE = 1024 * 1024;
/** More than the sockets of both sides take. */
const LARGE = 12 * MEBIBYTE;
let edge: Awaited<ReturnType<typeof startEdge>>;
/** Lets the requests of keys that are late be answered with so many bytes, one after the other. */
const goOn: ((bytes: number) => void)[] = [];
let isLate = true;

beforeAll(async () => {
  edge = await startEdge({
    contract: contractOf(
      { parameters: [], responses: { 200: jsonOf({ type: 'object' }), 503: jsonOf({ type: 'object' }) } },
      { method: 'get' },
    ),
    handlers: {
      act: async (_input: object, { key }: RequestContext) => {
        const isWaiting = key.id.startsWith('late') && isLate;
        const bytes = isWaiting ? await new Promise<number>((resolve) => goOn.push(resolve)) : LARGE;
        return { status: 200, body: { text: 'x'.repeat(bytes) } };
      },
    },
    authenticate: (key) => ({
      keyId: key,
      hash: key,
      workspaceId: key === 'other' ? 'other' : 'w',
      permissions: ['*'],
    }),
  });
});
afterAll(() => edge.stop());

/** Asks once or several times, and reads nothing. */
async function ask(url: string, path: string, key: string, times = 1): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\n\r\n`.repeat(times));
  return socket;
}

/** Asks, and reads nothing but the beginning of what is answered. */
async function askUnread(url: string, path: string, key: string): Promise<Socket> {
  const socket = await ask(url, path, key);
  await once(socket, 'readable');
  return socket;
}

const statusOf = async (key: string) =>
  (await edge.send('GET', '/v1/things', { headers: { 'X-API-Key': key } })).status;

test('answers that nobody reads take no more memory than bodies may, and keep nobody else from asking', async () => {
  const unread = [await askUnread(edge.url, '/v1/things', 'a')];
  expect(await statusOf('a')).toBe(200);
  unread.push(await askUnread(edge.url, '/v1/things', 'a'));
  const refused = await edge.send('GET', '/v1/things', { headers: { 'X-API-Key': 'a' } });
  expect(refused.body).toMatchObject({ code: 'unavailable', error: expect.stringContaining('of this key') });
  expect(await statusOf('b')).toBe(200);
  unread.push(await askUnread(edge.url, '/v1/things', 'b'), await askUnread(edge.url, '/v1/things', 'c'));
  expect(await statusOf('d')).toBe(503);
  expect(await statusOf('other')).toBe(200);
  for (const socket of unread) socket.destroy();
  await expect.poll(() => statusOf('a')).toBe(200);
  expect(await statusOf('d')).toBe(200);
});

test('of many requests at once those that come too late are refused, and others are let in', async () => {
  const asked = await Promise.all(
    ['1', '2', '3', '4', '1', '2', '3', '4'].map((n) => ask(edge.url, '/v1/things', `late${n}`)),
  );
  await until(() => expect(goOn).toHaveLength(8));
  for (const answer of goOn.splice(0)) {
    answer(LARGE);
    await nextTurn();
  }
  await Promise.all(asked.map((socket) => once(socket, 'readable')));
  const lines = asked.map((socket) => socket.read(12).toString()).sort();
  expect(lines.at(-1)).toBe('HTTP/1.1 503');
  expect(await statusOf('other')).toBe(200);
  for (const socket of asked) socket.destroy();
  await expect.poll(() => statusOf('a')).toBe(200);
});

test('answers that wait behind another give their room back once their connection has closed', async () => {
  const socket = await ask(edge.url, '/v1/things', 'late5', 4);
  await until(() => expect(goOn).toHaveLength(4));
  const [first, ...others] = goOn;
  for (const [at, answer] of others.entries()) {
    answer(at === 0 ? 1 : LARGE);
    await nextTurn();
  }
  isLate = false;
  await until(async () => expect(await statusOf('late5')).toBe(503));
  socket.destroy();
  first!(LARGE);
  await expect.poll(() => statusOf('late5')).toBe(200);
});

test('a connection whose client takes nothing of an answer closes', async () => {
  const listening = await listen(0, '127.0.0.1', 100);
  const closed = new Promise((resolve) => {
    listening.serve((_request, response) => {
      response.once('close', resolve);
      response.end('x'.repeat(LARGE));
    });
  });
  const socket = await askUnread(`http://127.0.0.1:${listening.port}`, '/', 'a');
  await closed;
  socket.destroy();
  await listening.close(0);
});
