import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { json } from 'node:stream/consumers';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { fileOf } from '../../../src/foundation/http/slow-files.ts';
import { type DiskObjectStore, openDiskObjectStore } from '../../../src/foundation/objects/disk.ts';
import { ObjectMissing, translatedWrite } from '../../../src/foundation/objects/object-store.ts';
import { objectsRouter } from '../../../src/foundation/objects/router.ts';
import { createComingFiles } from '../../../src/platform/workspace/coming-files.ts';
import { startEdge } from '../http/edge-app.ts';
import { mayMount, mount, unmount } from './mount.ts';
import { freshKey, objectStoreSuite } from './object-store-suite.ts';

const log = pino({ level: 'silent' });
let directory: string;
let server: Awaited<ReturnType<typeof startEdge>>;
let store: DiskObjectStore;
let now = new Date('2026-11-20T09:00:00.000Z');
let baseUrl = '';
const stored: string[] = [];
let failing = false;

const open = () =>
  openDiskObjectStore({ directory, secrets: ['a secret'], baseUrl: () => baseUrl, clock: { now: () => now }, log });

beforeAll(async () => {
  directory = join(await mkdtemp(join(tmpdir(), 'trunkline-objects-')), 'objects');
  store = await open();
  const onStored = async (key: string) => {
    if (failing) throw new Error('the database is away');
    stored.push(key);
    return undefined;
  };
  const coming = createComingFiles(new Registry());
  const begin = async () => ({ ...coming.enter('workspace', Number.POSITIVE_INFINITY), message: 'full' });
  const judge = { onStored, begin, read: fileOf };
  server = await startEdge({ outside: [{ path: '/', router: objectsRouter(store, judge) }] });
  baseUrl = server.url;
});
afterAll(async () => {
  await server.stop();
  await rm(directory, { recursive: true, force: true });
});

const options = { contentType: 'text/csv', maxBytes: 1000, expiresInSeconds: 60 };

async function send(url: string, init: RequestInit & { duplex?: 'half' } = {}) {
  const response = await fetch(url, { method: 'PUT', headers: { 'Content-Type': 'text/csv' }, ...init });
  return { status: response.status, body: (await response.json()) as { code?: string; error?: string } };
}

// Before the others of this file: the timer that one of them has begun would not be ours.
it('refuses a file that comes too slowly, and keeps nothing of it', async () => {
  const key = freshKey();
  const { url } = await store.uploadUrl(key, { ...options, maxBytes: 1_000_000 });
  const from = { headers: { 'Content-Type': 'text/csv', 'Content-Length': 900_000 }, method: 'PUT' };
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  try {
    const slow = httpRequest(url, from);
    const answered = once(slow, 'response');
    slow.on('error', () => undefined).write('x'.repeat(1000));
    await vi.waitUntil(() => vi.getTimerCount() > 0, { timeout: 120_000 });
    await vi.waitUntil(async () => (await readdir(join(directory, '.incoming'))).length > 0, { timeout: 120_000 });
    // Seconds that find bytes which are not yet taken do not count.
    await vi.waitUntil(() => vi.advanceTimersByTime(60_000).getTimerCount() === 0, { timeout: 120_000 });
    const [answer] = (await answered) as [IncomingMessage];
    expect([answer.statusCode, answer.headers.connection]).toEqual([408, 'close']);
    expect(await json(answer)).toMatchObject({ code: 'request_timeout' });
  } finally {
    vi.useRealTimers();
  }
  await vi.waitUntil(async () => (await readdir(join(directory, '.incoming'))).length === 0, { timeout: 120_000 });
  expect(await store.stat(key)).toBeUndefined();
  expect((await send(url, { body: 'x' })).status).toBe(200);
});

objectStoreSuite('disk', () => store);

describe('signed URLs of the disk store', () => {
  it('tells of a finished upload, and only then', async () => {
    const key = freshKey();
    const { url } = await store.uploadUrl(key, options);
    expect(await send(url, { body: 'phone\n' })).toEqual({ status: 200, body: { key } });
    expect(stored).toContain(key);
  });

  it('tells again when the client repeats an upload whose telling failed', async () => {
    const key = freshKey();
    const { url } = await store.uploadUrl(key, options);
    failing = true;
    const response = await fetch(url, { method: 'PUT', headers: { 'Content-Type': 'text/csv' }, body: 'x' });
    failing = false;
    expect(response.status).toBe(500);
    expect(await send(url, { body: 'x' })).toMatchObject({ status: 409, body: { code: 'invalid_state' } });
    expect(stored).toContain(key);
  });

  it('refuses a URL that was changed in any part, or is over', async () => {
    const key = freshKey();
    const { url } = await store.uploadUrl(key, options);
    const changes = [
      url.replace('maxBytes=1000', 'maxBytes=1001'),
      url.replace('text%2Fcsv', 'text%2Fhtml'),
      url.replace(/expires=\d+/, 'expires=9999999999'),
      url.replace(key, freshKey()),
      url.replace(/signature=.*/, ''),
      url.replace(/signature=..../, 'signature=AAAA'),
      `${url}.`,
      `${url}%0A`,
      `${url}&more=1`,
      `${url}&expires=9999999999`,
      `${baseUrl}/objects/${key}`,
      `${baseUrl}/objects/..%2f..%2fetc%2fpasswd?${new URL(url).searchParams}`,
    ];
    for (const changed of changes) {
      expect(await send(changed, { body: 'x' })).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    }
    const started = now;
    now = new Date(started.getTime() + 61_000);
    expect((await send(url, { body: 'x' })).status).toBe(403);
    now = started;
    expect((await fetch(url)).status).toBe(403);
    expect((await send(url, { body: 'x' })).status).toBe(200);
  });

  it('refuses a file over the cap, by its declared length and while it streams', async () => {
    const key = freshKey();
    const { url } = await store.uploadUrl(key, options);
    expect(await send(url, { body: 'x'.repeat(1001) })).toMatchObject({
      status: 413,
      body: { code: 'payload_too_large' },
    });
    const chunks = Array.from({ length: 200 }, () => Buffer.alloc(60_000));
    const body = ReadableStream.from(chunks) as NonNullable<RequestInit['body']>;
    const streamed = await send(url, { body, duplex: 'half' });
    expect(streamed).toMatchObject({ status: 413, body: { code: 'payload_too_large' } });
    expect(await store.stat(key)).toBeUndefined();
    expect(await readdir(join(directory, '.incoming'))).toEqual([]);
    expect((await send(url, { body: 'x'.repeat(1000) })).status).toBe(200);
  });

  it('refuses another content type, and other methods', async () => {
    const { url } = await store.uploadUrl(freshKey(), options);
    expect(await send(url, { body: 'x', headers: { 'Content-Type': 'text/html' } })).toMatchObject({
      status: 415,
      body: { code: 'unsupported_media_type' },
    });
    expect(await send(url, { method: 'POST', body: 'x' })).toMatchObject({
      status: 405,
      body: { code: 'method_not_allowed' },
    });
    expect((await send(url, { body: 'x', headers: { 'Content-Type': 'Text/CSV; charset=utf-8' } })).status).toBe(200);
  });

  it('leaves nothing of an upload that breaks off, and takes it when it comes again', async () => {
    const key = freshKey();
    const { url } = await store.uploadUrl(key, options);
    const { hostname, port, pathname, search } = new URL(url);
    const headers = { 'Content-Type': 'text/csv', 'Content-Length': '500' };
    const broken = httpRequest({ hostname, port, path: pathname + search, method: 'PUT', headers });
    broken.on('error', () => {});
    broken.write('half');
    await expect.poll(() => readdir(join(directory, '.incoming'))).toHaveLength(1);
    broken.destroy();
    await expect.poll(() => readdir(join(directory, '.incoming'))).toHaveLength(0);
    expect(await store.stat(key)).toBeUndefined();
    expect(stored).not.toContain(key);
    expect((await send(url, { body: 'whole' })).status).toBe(200);
  });

  it('lets one of many uploads at once win', async () => {
    const key = freshKey();
    const { url } = await store.uploadUrl(key, options);
    const statuses = await Promise.all(Array.from({ length: 8 }, (_, n) => send(url, { body: `${n}` })));
    expect(statuses.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409, 409, 409]);
  });

  it('answers downloads safely, and 404 for what is gone', async () => {
    const key = freshKey();
    const url = await store.downloadUrl(key, { fileName: 'a b.csv', contentType: 'text/csv', expiresInSeconds: 60 });
    const missing = await fetch(url);
    expect([missing.status, await missing.json()]).toMatchObject([404, { code: 'not_found' }]);
    const { url: put } = await store.uploadUrl(key, options);
    await send(put, { body: '<script>' });
    const found = await fetch(url);
    expect(found.headers.get('x-content-type-options')).toBe('nosniff');
    expect(found.headers.get('content-security-policy')).toContain('sandbox');
    expect(found.headers.get('cache-control')).toContain('no-store');
    expect(await found.text()).toBe('<script>');
    const head = await fetch(url, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '8', '']);
  });

  it('refuses a download name that would need quoting', async () => {
    const download = { fileName: 'a"b.csv', contentType: 'text/csv', expiresInSeconds: 60 };
    await expect(store.downloadUrl(freshKey(), download)).rejects.toThrow(TypeError);
  });

  it('removes at opening what a crash left a day ago, and nothing younger', async () => {
    const [old, young] = ['old', 'young'].map((name) => join(directory, '.incoming', name));
    await Promise.all([writeFile(old!, ''), writeFile(young!, '')]);
    const past = new Date(Date.now() - 25 * 3600 * 1000);
    await utimes(old!, past, past);
    await open();
    expect(await readdir(join(directory, '.incoming'))).toEqual(['young']);
    await rm(young!);
  });
});

describe('the folder of the disk store', () => {
  it('is made again where it vanished', async () => {
    await rm(directory, { recursive: true });
    const { url } = await store.uploadUrl(freshKey(), options);
    expect((await send(url, { body: 'x' })).status).toBe(200);
    await rm(directory, { recursive: true });
    expect(await store.faults()).toEqual([]);
    expect(await readdir(directory)).toEqual(['.incoming']);
  });

  it.runIf(mayMount)('is not made on another disk where its own is gone', async () => {
    await mount(directory, '1m');
    const mounted = await open();
    await unmount(directory);
    await rm(directory, { recursive: true });
    expect(await mounted.faults()).toEqual(['the folder of files is not there, or can not be used']);
    const key = freshKey();
    for (const act of [
      () => mounted.put(key, Readable.from(['x']), 9),
      () => mounted.get(key),
      () => mounted.delete(key),
    ])
      await expect(act()).rejects.toMatchObject({ code: 'unavailable' });
    await mkdir(join(directory, '.incoming'), { recursive: true });
    expect(await mounted.faults()).toEqual([]);
  });

  it.each(['ENOSPC', 'EDQUOT'])('that is full, by %s, is unavailable', (code) => {
    const headers = { 'Retry-After': '30' };
    expect(translatedWrite(Object.assign(new Error('write'), { code }))).toMatchObject({
      code: 'unavailable',
      headers,
    });
  });
});

it('tells of a file that went before its reader began as of one that is missing', async () => {
  const key = freshKey();
  await store.put(key, Readable.from([Buffer.from('phone')]), 100);
  const content = await store.get(key);
  await store.delete(key);
  await expect(content[Symbol.asyncIterator]().next()).rejects.toThrow(ObjectMissing);
});
