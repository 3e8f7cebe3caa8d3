import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { FilePart } from '../../../src/foundation/http/handler.ts';
import { newUuid, toId } from '../../../src/foundation/values/ids.ts';
import { ServiceError } from '../../../src/foundation/values/service-error.ts';
import { noteStatus } from '../../contract/statuses.ts';
import { startEdge } from './edge-app.ts';

const MEBIBYTE = 1024 * 1024;
const list = '/v1/calls/do-not-call';
const batch = '/v1/calls/batch';
const added = { added: 1, alreadyListed: 0, rejected: [] };
let edge: Awaited<ReturnType<typeof startEdge>>;

// Whoever asks is known, but for one.
beforeAll(async () => {
  edge = await startEdge({
    handlers: {
      addDoNotCall: async () => ({ status: 200, body: added }),
      addKnowledgeBaseDocuments: async ({ body }: { body: AsyncIterable<FilePart> }) => {
        for await (const { content } of body) await buffer(content);
      },
    },
    authenticate: (key) =>
      key === 'nobody'
        ? undefined
        : { keyId: key, hash: key, workspaceId: key.length === 1 ? 'w' : key, permissions: ['*'] },
    onAnswer: noteStatus,
  });
});
afterAll(() => edge.stop());

/** A connection that has sent the head of a POST. `text` is what came back, `closed` whether the server has closed it. */
async function post(path: string, key: string, headers: Record<string, string | number>, body = '') {
  const socket: Socket = connect(Number(new URL(edge.url).port), '127.0.0.1');
  const seen = { socket, text: '', closed: false };
  socket.on('data', (chunk) => (seen.text += chunk));
  socket.on('close', () => (seen.closed = true)).on('error', () => undefined);
  await once(socket, 'connect');
  const all = { Host: 'x', 'X-API-Key': key, 'Content-Type': 'application/json', ...headers };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`POST ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body}`);
  return seen;
}

const statusOf = async (key: string) =>
  (
    await edge.send('POST', list, {
      headers: { 'X-API-Key': key },
      body: JSON.stringify({ phoneNumbers: ['+14155550142'], reason: 'x'.repeat(200) }),
    })
  ).status;

test('a body that does not come in time is 408, and its connection closes', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  try {
    const slow = await post(list, 'slow', { 'Content-Length': 1000 });
    slow.socket.write('{"phoneNumbers":');
    await vi.waitUntil(() => vi.getTimerCount() > 0, { timeout: 120_000 });
    vi.advanceTimersByTime(9_000);
    slow.socket.write('[');
    expect(slow.text).toBe('');
    vi.advanceTimersByTime(1_000);
    await expect.poll(() => slow.text).toContain('}');
    expect(slow.text).toMatch(/^HTTP\/1\.1 408 .*\r\nConnection: close\r\n.*"code":"request_timeout"/s);
    await expect.poll(() => slow.closed).toBe(true);
  } finally {
    vi.useRealTimers();
  }
});

test('documents that come too slowly are 408', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  try {
    const part = '--x\r\nContent-Disposition: form-data; name="files"; filename="a.txt"\r\n\r\nand';
    const path = `/v1/knowledge-bases/${toId('kb', newUuid())}/documents`;
    const type = { 'Content-Type': 'multipart/form-data; boundary=x', 'Content-Length': 5000 };
    const slow = await post(path, 'slow', type, part);
    await vi.waitUntil(() => vi.getTimerCount() > 0, { timeout: 120_000 });
    await vi.waitUntil(() => vi.advanceTimersByTime(60_000).getTimerCount() === 0, { timeout: 120_000 });
    await vi.waitUntil(() => slow.closed, { timeout: 120_000 });
    expect(slow.text).toMatch(/^HTTP\/1\.1 408 .*\r\nConnection: close\r\n.*"code":"request_timeout"/s);
  } finally {
    vi.useRealTimers();
  }
});

test('bodies take 16 MiB of memory for one key, and for a workspace no more than it leaves to others, until they are given up', async () => {
  const fill = (key: string) => post(batch, key, { 'Content-Length': 8 * MEBIBYTE });
  const [first] = [await fill('a'), await fill('a')];
  await expect.poll(() => statusOf('a')).toBe(503);
  const refused = await edge.send('POST', list, { headers: { 'X-API-Key': 'a' }, body: { phoneNumbers: ['1'] } });
  expect(refused.body).toMatchObject({ code: 'unavailable', error: expect.stringContaining('of this key') });
  expect(refused.headers.get('retry-after')).toBe('1');
  expect(await statusOf('b')).toBe(200);

  // Without a length it counts what has come.
  const chunked = await post(batch, 'b', { 'Transfer-Encoding': 'chunked' });
  const chunk = `100000\r\n${' '.repeat(MEBIBYTE)}\r\n`;
  for (let count = 0; count < 8; count += 1) chunked.socket.write(chunk);
  await expect.poll(() => chunked.socket.writableLength).toBe(0);
  const rest = [await fill('b'), ...(await Promise.all(['c', 'c', 'd', 'd'].map(fill)))];
  await expect.poll(() => statusOf('e')).toBe(503);
  expect(await statusOf('other')).toBe(200);

  first!.socket.destroy();
  await expect.poll(() => statusOf('a')).toBe(200);
  expect(await statusOf('e')).toBe(200);
  for (const { socket } of [chunked, ...rest]) socket.destroy();
});

test('a refusal that does not wait for the body closes the connection, and is seen by who still sends', async () => {
  for (const [key, length] of [
    ['nobody', 1000],
    ['known', 100 * MEBIBYTE],
  ] as const) {
    const early = await post(list, key, { 'Content-Length': length });
    early.socket.write('{');
    await expect.poll(() => early.text).toMatch(/^HTTP\/1\.1 4(01|13) .*\r\nConnection: close\r\n.*}$/s);
    early.socket.write('x');
    await expect.poll(() => early.closed).toBe(true);
  }
  const whole = await post(list, 'nobody', { 'Content-Length': 2 }, '{}');
  await expect.poll(() => whole.text).toMatch(/401 .*}$/s);
  whole.socket.write(`GET /livez HTTP/1.1\r\nHost: x\r\n\r\n`);
  await expect.poll(() => whole.text).toMatch(/ok\n$/);
  whole.socket.destroy();
});

test('a body that nests too deeply is refused before it is parsed', async () => {
  const { status, body } = await edge.send('POST', list, { body: '['.repeat(MEBIBYTE) });
  expect([status, body.error]).toEqual([400, 'body must nest at most 32 levels deep']);
});

test('of a large body nothing is read behind the first property that the operation does not have', async () => {
  const many = Array.from({ length: 50_000 }, (_, at) => `"unknown${at}":1`).join();
  const { status, body } = await edge.send('POST', batch, { body: `{"name":"A",${many}, and no JSON` });
  expect([status, body.error]).toEqual([400, 'body/unknown0 is not a known property']);
  const entries = await edge.send('POST', list, {
    body: `{"phoneNumbers":["${'1'.repeat(70_000)}"],"x":1, and no JSON`,
  });
  expect([entries.status, entries.body.error]).toEqual([400, 'body/x is not a known property']);
});

test('a fault of what has come is answered before the rest comes', async () => {
  const begins = {
    'body/x is not a known property': `{"x":${' '.repeat(70_000)}`,
    'must be valid JSON in UTF-8': `{"agentId":"a" "x":${' '.repeat(70_000)}`,
    'body/recipients must NOT have more than 1000 items': `{"recipients":[${'1,'.repeat(40_000)}`,
  };
  for (const [fault, begin] of Object.entries(begins)) {
    const early = await post(batch, `early, ${fault}`, { 'Content-Length': 8 * MEBIBYTE }, begin);
    await expect.poll(() => early.text).toMatch(/^HTTP\/1\.1 400 .*\r\nConnection: close\r\n.*}$/s);
    expect(early.text).toContain(fault);
    early.socket.destroy();
  }
  const late = `{"agentId":"${' '.repeat(70_000)}`;
  const slow = await post(batch, 'early', { 'Content-Length': 8 * MEBIBYTE }, late);
  slow.socket.write(`","x":${' '.repeat(400_000)}`);
  await expect.poll(() => slow.text).toContain('body/x is not a known property');
  slow.socket.destroy();
});

test('who is refused one large body after the other waits for the answers', async () => {
  const [begin, length] = [`{"x":${' '.repeat(70_000)}`, { 'Content-Length': 8 * MEBIBYTE }];
  const msOf = async () => {
    const from = performance.now();
    const early = await post(batch, 'again', length, begin);
    await expect.poll(() => early.text, { interval: 5 }).toContain('is not a known property');
    early.socket.destroy();
    return performance.now() - from;
  };
  await msOf();
  await msOf();
  // Its 8 MiB take two seconds.
  expect(await msOf()).toBeGreaterThan(1200);
});

test('a list that is too long is refused in the same words, however large the body is', async () => {
  const refused = async (items: number) => {
    const answer = await edge.send('POST', batch, {
      body: `{"agentId":"a","fromNumber":"+14155550100","recipients":[${'1,'.repeat(items)}1]}`,
    });
    return { status: answer.status, ...answer.body, requestId: '' };
  };
  expect(await refused(40_000)).toEqual(await refused(1_000));
});

test('what comes of a body after its refusal is let through slowly', async () => {
  const early = await post(list, 'nobody', { 'Content-Length': 1024 * MEBIBYTE });
  await expect.poll(() => early.text).toMatch(/^HTTP\/1\.1 401 .*}$/s);
  const chunk = Buffer.alloc(MEBIBYTE);
  let taken = 0;
  const goOn = (): unknown =>
    early.socket.write(chunk, (error) => {
      if (error) return;
      taken += 1;
      goOn();
    });
  goOn();
  await sleep(500);
  // 31 of them in a second, and what the sockets hold.
  expect(taken).toBeLessThan(40);
  early.socket.destroy();
});

test('who asks on without a pause is refused no faster than others should feel', async () => {
  let limited = 0;
  const own = await startEdge({
    rateLimit: () => {
      limited += 1;
      throw new ServiceError('rate_limited', 'Too many requests.', { headers: { 'Retry-After': '1' } });
    },
  });
  const from = performance.now();
  const answers = await Promise.all(Array.from({ length: 110 }, () => own.send('POST', list, { body: {} })));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([429]));
  expect(limited).toBe(110);
  // 50 at once, and then one in 5 ms.
  expect(performance.now() - from).toBeGreaterThan(250);
  await own.stop();
});
