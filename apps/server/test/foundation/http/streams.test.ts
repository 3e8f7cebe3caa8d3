import { once } from 'node:events';
import { createServer, get, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { expect, test, vi } from 'vitest';
import { createEventStreams } from '../../../src/foundation/http/event-stream.ts';
import type { OpenStream, StreamFrame, StreamSource } from '../../../src/foundation/http/handler.ts';
import { createOpenStreams } from '../../../src/foundation/http/open-streams.ts';
import { contractOf, KEY, startEdge } from './edge-app.ts';

const event = (id: number) => ({ id: String(id), event: 'thing.changed', data: { n: id, text: 'a\nb' } });
const stream = { description: 'Events.', content: { 'text/event-stream': { schema: { type: 'string' } } } };
const contract = contractOf({ responses: { 200: stream } }, { method: 'get' });

/** Sends frames as long as there is room for them and some are left, then none. */
const sending =
  (next: () => StreamFrame | undefined, onEnd = () => {}): StreamSource =>
  (stream) => {
    const onRoom = () => {
      let frame = next();
      while (frame && stream.send(frame)) frame = next();
    };
    setImmediate(onRoom);
    return { onRoom, onEnd };
  };

/** A stream with so many frames. */
const frames =
  (count: number, onEnd = () => {}) =>
  async () => {
    let id = 0;
    const next = () => {
      id += 1;
      return id <= count ? event(id) : undefined;
    };
    return { status: 200, stream: sending(next, onEnd) };
  };

function open(url: string): Promise<{ response: IncomingMessage; text: () => string; ended: Promise<unknown> }> {
  return new Promise((resolve) => {
    get(`${url}/v1/things`, { headers: { 'X-API-Key': KEY } }, (response) => {
      let text = '';
      response.on('data', (chunk) => {
        text += chunk;
      });
      const ended = new Promise((done) => response.once('close', done));
      response.once('error', () => undefined);
      resolve({ response, text: () => text, ended });
    });
  });
}

test('a frame is id, event and one line of data; the headers are those of a stream', async () => {
  const edge = await startEdge({ contract, handlers: { act: frames(2) } });
  const { response, text } = await open(edge.url);
  await expect.poll(text).toContain('id: 2');
  expect(text()).toBe(
    'id: 1\nevent: thing.changed\ndata: {"n":1,"text":"a\\nb"}\n\nid: 2\nevent: thing.changed\ndata: {"n":2,"text":"a\\nb"}\n\n',
  );
  expect(response.headers).toMatchObject({ 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
  response.destroy();
  await edge.stop();
});

test('a key that has its share of the streams is told to wait, and others have theirs', async () => {
  const other = 'tl_test_11111111111111111111';
  const authenticate = (key: string) => {
    const who = key === KEY ? 'noisy' : 'quiet';
    return { keyId: who, hash: who, workspaceId: who, permissions: ['*'] };
  };
  const edge = await startEdge({
    contract,
    handlers: { act: frames(1) },
    authenticate,
    streams: createOpenStreams(new Registry(), 9),
  });
  const noisy = await Promise.all([open(edge.url), open(edge.url), open(edge.url)]);
  const refused = await edge.send('GET', '/v1/things');
  expect(refused.body).toMatchObject({ code: 'rate_limited', error: expect.stringContaining('streams') });
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '5']);
  const theirs = await fetch(`${edge.url}/v1/things`, { headers: { 'X-API-Key': other } });
  expect(theirs.status).toBe(200);
  await theirs.body!.cancel();
  // What is closed is free again, once the server knows.
  noisy[0]!.response.destroy();
  await expect.poll(async () => (await open(edge.url)).response.statusCode).toBe(200);
  await edge.stop();
});

test('streams that are opened at once take turns, and those of another workspace have theirs', async () => {
  let going = () => {};
  const gone = new Promise<void>((resolve) => {
    going = resolve;
  });
  const begun = { noisy: 0, quiet: 0 };
  const act = async (_input: object, context: { key: { id: string } }) => {
    begun[context.key.id as keyof typeof begun] += 1;
    if (context.key.id === 'noisy') await gone;
    return frames(1)();
  };
  const authenticate = (key: string) => {
    const who = key === KEY ? 'noisy' : 'quiet';
    return { keyId: who, hash: who, workspaceId: who, permissions: ['*'] };
  };
  const edge = await startEdge({ contract, handlers: { act }, authenticate });
  const noisy = Array.from({ length: 20 }, () => open(edge.url));
  await expect.poll(() => begun.noisy).toBe(2);
  const theirs = await fetch(`${edge.url}/v1/things`, { headers: { 'X-API-Key': 'tl_test_11111111111111111111' } });
  expect([theirs.status, begun]).toEqual([200, { noisy: 2, quiet: 1 }]);
  await theirs.body!.cancel();
  going();
  for (const { response } of await Promise.all(noisy)) expect(response.statusCode).toBe(200);
  expect(begun.noisy).toBe(20);
  await edge.stop();
});

test('HEAD opens no stream', async () => {
  const edge = await startEdge({ contract, handlers: { act: frames(0) } });
  const { status, headers, text } = await edge.send('HEAD', '/v1/things');
  expect([status, headers.get('content-type'), text]).toEqual([200, 'text/event-stream', '']);
  await edge.stop();
});

test('who sends hears when the client has gone; the stream is counted until then', async () => {
  const onEnd = vi.fn();
  const edge = await startEdge({ contract, handlers: { act: frames(1, onEnd) } });
  const { response, text } = await open(edge.url);
  await expect.poll(text).toContain('id: 1');
  expect(onEnd).not.toHaveBeenCalled();
  const counted = async () => (await edge.send('GET', '/metrics')).text.match(/^trunkline_event_streams (\d+)$/m)?.[1];
  expect(await counted()).toBe('1');
  response.destroy();
  await expect.poll(() => onEnd.mock.calls.length).toBe(1);
  await expect.poll(counted).toBe('0');
  await edge.stop();
});

test('a stream ends once its key is revoked, and stays while it is looked at and good', async () => {
  let principal: object | undefined = { keyId: 'k', workspaceId: 'w', permissions: ['*'] };
  const authenticate = vi.fn(() => principal as never);
  const edge = await startEdge({ contract, handlers: { act: frames(1) }, authenticate });
  const { ended, text } = await open(edge.url);
  // Once as it was opened; how often after that is told by watch-keys.test.ts.
  await expect.poll(() => authenticate.mock.calls.length).toBeGreaterThan(2);
  expect(text()).not.toContain('retry');
  principal = undefined;
  await ended;
  await edge.stop();
});

test('a server that drains tells its streams to come back, and ends them', async () => {
  const draining = new AbortController();
  const edge = await startEdge({ contract, handlers: { act: frames(1) }, draining: draining.signal });
  const { ended, text } = await open(edge.url);
  await expect.poll(text).toContain('id: 1');
  draining.abort();
  await ended;
  expect(text()).toMatch(/\n\nretry: \d+\n\n$/);
  expect((await edge.send('GET', '/v1/nothing')).headers.get('connection')).toBe('close');
  await edge.stop();
});

test('a stream that fails midway is closed and logged', async () => {
  const edge = await startEdge({
    contract,
    handlers: {
      act: async () => ({
        status: 200,
        stream: (stream: OpenStream) => {
          setImmediate(() => {
            stream.send(event(1));
            setImmediate(() => stream.fail(new Error('lost')));
          });
          return { onRoom: () => undefined, onEnd: () => undefined };
        },
      }),
    },
  });
  const { ended, text } = await open(edge.url);
  await ended;
  expect(text()).toContain('id: 1');
  expect(edge.logged).toContainEqual(expect.objectContaining({ msg: 'a request failed' }));
  await edge.stop();
});

test('a client that reads nothing is dropped, and goes on from the last event that it has seen', async () => {
  const ends: string[] = [];
  const closed = new Set<string>();
  const streams = createEventStreams(new AbortController().signal, 20);
  const server = createServer((request, response) => {
    response.once('close', () => closed.add(request.url!));
    response.flushHeaders();
    let seen = Number(request.headers['last-event-id'] ?? 0);
    const next = () => {
      seen += 1;
      return { id: String(seen), event: 'e', data: 'x'.repeat(100_000) };
    };
    const onEnd = () => void ends.push(request.url!);
    streams.open(response, sending(next, onEnd), () => undefined);
  }).listen(0);
  const { port } = server.address() as AddressInfo;

  const stalled = connect(port, '127.0.0.1', () => stalled.write('GET /stalled HTTP/1.1\r\nHost: x\r\n\r\n'));
  stalled.on('error', () => undefined);
  const [first] = (await once(stalled, 'data')) as [Buffer];
  stalled.pause();
  expect(first.toString()).toContain('id: 1\n');
  await expect.poll(() => [...closed]).toEqual(['/stalled']);
  await expect.poll(() => ends).toEqual(['/stalled']);

  let text = '';
  const again = get({ port, path: '/again', headers: { 'Last-Event-ID': '1' } }, (response) => {
    response.on('data', (chunk) => (text += chunk)).on('error', () => undefined);
  });
  again.on('error', () => undefined);
  await expect.poll(() => text).toMatch(/^id: 2\n.*\nid: 3\n/s);
  again.destroy();
  server.closeAllConnections();
  server.close();
});

test('a silent stream is pinged; a client that does not read is not sent to', async () => {
  let taken = 0;
  const big = { id: '1', event: 'e', data: 'x'.repeat(100_000) };
  const endless = () => {
    taken += 1;
    return big;
  };
  const streams = createEventStreams(new AbortController().signal, 20);
  const server = createServer((request, response) => {
    response.flushHeaders();
    streams.open(response, sending(request.url === '/silent' ? () => undefined : endless), () => undefined);
  }).listen(0);
  const { port } = server.address() as AddressInfo;

  const reader = connect(port, '127.0.0.1', () => reader.write('GET /endless HTTP/1.1\r\nHost: x\r\n\r\n'));
  reader.pause();
  await expect.poll(() => taken).toBeGreaterThan(1);
  // Until what the kernel takes is full.
  for (let before = 0; before !== taken; await sleep(300)) before = taken;
  expect(taken).toBeLessThan(1000);
  reader.destroy();

  let text = '';
  get(`http://127.0.0.1:${port}/silent`, (response) =>
    response.on('data', (chunk) => (text += chunk)).on('error', () => undefined),
  );
  await expect.poll(() => text).toMatch(/^(: ping\n\n){2,}/);
  server.closeAllConnections();
  server.close();
});
