import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { listen } from '../../src/http/listen.ts';
import { contractOf, jsonOf, startEdge } from './edge-app.ts';

const MEBIBYTE = 1024 * 1024;
/** More than the sockets of both sides take. */
const LARGE = 12 * MEBIBYTE;
let edge: Awaited<ReturnType<typeof startEdge>>;

beforeAll(async () => {
  edge = await startEdge({
    contract: contractOf(
      { parameters: [], responses: { 200: jsonOf({ type: 'object' }), 503: jsonOf({ type: 'object' }) } },
      { method: 'get' },
    ),
    handlers: { act: async () => ({ status: 200, body: { text: 'x'.repeat(LARGE) } }) },
    authenticate: (key) => ({
      keyId: key,
      hash: key,
      workspaceId: key === 'other' ? 'other' : 'w',
      permissions: ['*'],
    }),
  });
});
afterAll(() => edge.stop());

/** Asks, and reads nothing but the beginning of what is answered. */
async function askUnread(url: string, path: string, key: string): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.on('error', () => undefined);
  await once(socket, 'connect');
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nX-API-Key: ${key}\r\n\r\n`);
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
