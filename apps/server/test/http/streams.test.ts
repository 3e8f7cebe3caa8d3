import { createServer, get, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { sendEventStream } from '../../src/http/event-stream.ts';
import { contractOf, KEY, startEdge } from './edge-app.ts';

const event = (id: number) => ({ id: String(id), event: 'thing.changed', data: { n: id, text: 'a\nb' } });
const stream = { description: 'Events.', content: { 'text/event-stream': { schema: { type: 'string' } } } };
const contract = contractOf({ responses: { 200: stream } }, { method: 'get' });

/** Frames until the signal: `count` at once, then silence. */
const frames =
  (count: number) =>
  async (_input: unknown, { signal }: { signal: AbortSignal }) => ({
    status: 200,
    stream: (async function* () {
      for (let id = 1; id <= count; id += 1) yield event(id);
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    })(),
  });

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

test('HEAD opens no stream', async () => {
  const edge = await startEdge({ contract, handlers: { act: frames(0) } });
  const { status, headers, text } = await edge.send('HEAD', '/v1/things');
  expect([status, headers.get('content-type'), text]).toEqual([200, 'text/event-stream', '']);
  await edge.stop();
});

test('the handler hears when the client has gone', async () => {
  const aborted = vi.fn();
  const edge = await startEdge({
    contract,
    handlers: {
      act: async (input: unknown, context: { signal: AbortSignal }) => {
        context.signal.addEventListener('abort', aborted);
        return frames(1)(input, context);
      },
    },
  });
  const { response, text } = await open(edge.url);
  await expect.poll(text).toContain('id: 1');
  expect(aborted).not.toHaveBeenCalled();
  response.destroy();
  await expect.poll(() => aborted.mock.calls.length).toBe(1);
  await edge.stop();
});

// A machine that stalls for a moment makes it late; hence the retries, here and where else time is measured.
test('a stream ends within a second of its key being revoked', { retry: 3 }, async () => {
  let principal: object | undefined = { keyId: 'k', workspaceId: 'w', permissions: ['*'] };
  const edge = await startEdge({ contract, handlers: { act: frames(1) }, authenticate: () => principal as never });
  const { ended, text } = await open(edge.url);
  await sleep(600);
  expect(text()).not.toContain('retry');
  principal = undefined;
  const revokedAt = performance.now();
  await ended;
  expect(performance.now() - revokedAt).toBeLessThan(1000);
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
        stream: (async function* () {
          yield event(1);
          throw new Error('lost');
        })(),
      }),
    },
  });
  const { ended, text } = await open(edge.url);
  await ended;
  expect(text()).toContain('id: 1');
  expect(edge.logged).toContainEqual(expect.objectContaining({ msg: 'a request failed' }));
  await edge.stop();
});

test('a silent stream is pinged; a client that does not read is not sent to', async () => {
  let taken = 0;
  const big = { id: '1', event: 'e', data: 'x'.repeat(100_000) };
  async function* endless() {
    for (;;) {
      taken += 1;
      yield big;
    }
  }
  async function* silent(signal: AbortSignal) {
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    yield big;
  }
  const never = new AbortController().signal;
  const server = createServer((request, response) => {
    const gone = new AbortController();
    response.once('close', () => gone.abort());
    const source = request.url === '/silent' ? silent(gone.signal) : endless();
    void sendEventStream(response, source, { signal: gone.signal, draining: never, headers: {}, pingMs: 20 });
  }).listen(0);
  const { port } = server.address() as AddressInfo;

  const reader = connect(port, '127.0.0.1', () => reader.write('GET /endless HTTP/1.1\r\nHost: x\r\n\r\n'));
  reader.pause();
  await expect.poll(() => taken).toBeGreaterThan(1);
  await sleep(300);
  const before = taken;
  await sleep(300);
  expect(taken).toBe(before);
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
