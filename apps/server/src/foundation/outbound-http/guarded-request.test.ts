import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server as NetServer } from 'node:net';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addresses } from '../../config-values.ts';
import { createAddressGuard, type Resolve } from './address-guard.ts';
import { createOutboundHttp, type OutboundRequest } from './guarded-request.ts';

const seen: { method?: string; url?: string; headers: Record<string, unknown>; body: string }[] = [];
const answers: Record<string, RequestListener> = {
  '/redirect': (_, response) => response.writeHead(302, { location: '/echo' }).end(),
  '/large': (_, response) => response.end('x'.repeat(10_000)),
  '/endless': (_, response) => {
    response.writeHead(200);
    const write = () => !response.destroyed && response.write('x'.repeat(65_536), () => setImmediate(write));
    write();
  },
  '/silent': () => {},
  '/half': (_, response) => response.writeHead(200).write('half'),
  '/broken': (_, response) => response.writeHead(200, { 'content-length': 9 }).write('half', () => response.destroy()),
  '/reset': (_, response) => void response.destroy(),
};

let server: Server;
let base: string;
beforeAll(async () => {
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method, url, headers } = request;
    seen.push({ method: method!, url: url!, headers, body: Buffer.concat(chunks).toString() });
    const answer = answers[url!];
    if (answer) return answer(request, response);
    response.writeHead(201, { 'content-type': 'text/plain', 'set-cookie': ['a=1', 'b=2'] }).end('made');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  base = `http://127.0.0.1:${portOf(server)}`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const portOf = (listening: NetServer) => (listening.address() as AddressInfo).port;

const asks = { workspaceId: 'ours', method: 'GET', headers: {}, timeoutMs: 20_000, maxBytes: 100_000 } as const;

/** Sends through a guard of its own: by default one that lets 127.0.0.1 be reached. */
async function send(request: Partial<OutboundRequest> & { url: string }, allowed = '127.0.0.1', resolve?: Resolve) {
  const http = createOutboundHttp(createAddressGuard(addresses(allowed), resolve));
  try {
    return await http.send({ ...asks, ...request });
  } finally {
    await http.close();
  }
}

const failing = (code: string) => expect.objectContaining({ code, message: expect.any(String) });

test('sends a request and gives the answer', async () => {
  const { status, headers, body } = await send({
    method: 'POST',
    url: `${base}/echo?a=1`,
    headers: { 'X-Test': 'yes' },
    body: 'é',
  });
  expect([status, headers['content-type'], headers['set-cookie'], body.toString()]).toEqual([
    201,
    'text/plain',
    'a=1, b=2',
    'made',
  ]);
  expect(seen.at(-1)).toMatchObject({ method: 'POST', url: '/echo?a=1', body: 'é', headers: { 'x-test': 'yes' } });
});

test('keeps a connection for the next request', async () => {
  const http = createOutboundHttp(createAddressGuard(addresses('127.0.0.1')));
  const connections = new Set<unknown>();
  const note = (request: IncomingMessage) => connections.add(request.socket);
  server.on('request', note);
  let sent = 0;
  // A connection is free a moment after its answer has been read.
  while (connections.size === sent && sent < 50) {
    await http.send({ ...asks, url: base });
    sent += 1;
  }
  server.off('request', note);
  await http.close();
  expect(connections.size).toBeLessThan(sent);
});

test('follows no redirect', async () => {
  const { status, headers } = await send({ url: `${base}/redirect` });
  expect([status, headers['location']]).toEqual([302, '/echo']);
  expect(seen.at(-1)!.url).toBe('/redirect');
});

test('a body over the cap, also one without end, is not taken', async () => {
  expect((await send({ url: `${base}/large`, maxBytes: 10_000 })).body).toHaveLength(10_000);
  await expect(send({ url: `${base}/large`, maxBytes: 9_999 })).rejects.toEqual(failing('response_too_large'));
  await expect(send({ url: `${base}/endless` })).rejects.toEqual(failing('response_too_large'));
});

test('the time covers headers and body', async () => {
  await expect(send({ url: `${base}/silent`, timeoutMs: 100 })).rejects.toEqual(failing('timeout'));
  await expect(send({ url: `${base}/half`, timeoutMs: 100 })).rejects.toEqual(failing('timeout'));
});

test('a body that is thrown away is not waited for, and keeps its connection no longer than its request', async () => {
  const http = createOutboundHttp(createAddressGuard(addresses('127.0.0.1')));
  const connections = () => promisify(server.getConnections.bind(server))();
  const before = await connections();
  let most = 0;
  for (let sent = 0; sent < 8; sent += 1) {
    const request = { ...asks, url: `${base}/half`, maxBytes: 'none', timeoutMs: 60_000 } as const;
    expect((await http.send(request)).status).toBe(200);
    most = Math.max(most, (await connections()) - before);
  }
  // One that has ended may be counted until the receiver knows.
  expect(most).toBeLessThanOrEqual(4);
  await http.close();
});

test('the time covers the search for an address too, and nothing is sent after it', async () => {
  let find = (): void => {};
  const slow: Resolve = () =>
    new Promise((resolve) => {
      find = () => resolve([{ address: '127.0.0.1', family: 4 }]);
    });
  const http = createOutboundHttp(createAddressGuard(addresses('127.0.0.1'), slow));
  const url = `http://slow.example:${portOf(server)}/late`;
  await expect(http.send({ ...asks, url, timeoutMs: 50 })).rejects.toEqual(failing('timeout'));
  find();
  const next = http.send({ ...asks, url: `http://slow.example:${portOf(server)}/next` });
  find();
  expect((await next).status).toBe(201);
  expect(seen.map((each) => each.url)).not.toContain('/late');
  await http.close();
});

test('whoever asked may give up', async () => {
  const signal = AbortSignal.timeout(50);
  await expect(send({ url: `${base}/silent`, signal })).rejects.toEqual(failing('aborted'));
});

test('tells a connection that broke from one that never was', async () => {
  await expect(send({ url: `${base}/broken` })).rejects.toEqual(failing('connection_lost'));
  await expect(send({ url: `${base}/reset` })).rejects.toEqual(failing('connection_lost'));
  const gone = createTcpServer().listen(0, '127.0.0.1');
  await once(gone, 'listening');
  const port = portOf(gone);
  gone.close();
  await once(gone, 'close');
  await expect(send({ url: `http://127.0.0.1:${port}` })).rejects.toEqual(failing('connect_failed'));
  const unknown: Resolve = () => Promise.reject(Object.assign(new Error('x'), { code: 'ENOTFOUND' }));
  await expect(send({ url: 'http://a.example' }, '127.0.0.1', unknown)).rejects.toMatchObject({
    code: 'connect_failed',
    message: 'No connection to a.example: its name is not known.',
  });
  await expect(send({ url: `https://127.0.0.1:${portOf(server)}` })).rejects.toEqual(failing('connect_failed'));
});

test.each([
  'ftp://example.com/',
  'file:///etc/passwd',
  'example.com',
  'http://user:secret@example.com/',
  'http://user@example.com/',
  '',
])('%s is no URL to send to', async (url) => {
  await expect(send({ url })).rejects.toEqual(failing('invalid_request'));
});

test.each([{ a: 'x\r\ny: z' }, { a: 'é€' }, { 'a b': 'x' }, { 'transfer-encoding': 'chunked' }])(
  '%j are no headers to send',
  async (headers) => {
    await expect(send({ url: base, headers: headers as Record<string, string> })).rejects.toEqual(
      failing('invalid_request'),
    );
  },
);

test('addresses of the own network are refused, however they are written', async () => {
  const port = portOf(server);
  const before = seen.length;
  for (const host of ['127.0.0.1', '2130706433', '0x7f.1', '[::ffff:127.0.0.1]', '[::1]', '0.0.0.0', '127.1'])
    await expect(send({ url: `http://${host}:${port}/` }, '192.0.2.1')).rejects.toEqual(failing('blocked_address'));
  await expect(send({ url: `http://localhost:${port}/` }, '192.0.2.1')).rejects.toEqual(failing('blocked_address'));
  expect(seen.length).toBe(before);
});

test('a name that answers with another address the second time leads nowhere else', async () => {
  const given = ['192.0.2.7', '127.0.0.1'];
  const rebinding: Resolve = async () => [{ address: given.shift() ?? '127.0.0.1', family: 4 }];
  const http = createOutboundHttp(createAddressGuard(addresses('192.0.2.8'), rebinding));
  const before = seen.length;
  const url = `http://rebinding.example:${portOf(server)}/`;
  // The first answer is reserved too, so that the test needs no network; what matters is that each connection asks.
  for (let attempt = 0; attempt < 3; attempt += 1)
    await expect(http.send({ ...asks, url })).rejects.toEqual(failing('blocked_address'));
  await http.close();
  expect(given).toEqual([]);
  expect(seen.length).toBe(before);
});

test('a name is connected to at the address that was judged, and at no other', async () => {
  let asked = 0;
  const rebinding: Resolve = async () => {
    asked += 1;
    return [{ address: asked === 1 ? '127.0.0.1' : '127.0.0.2', family: 4 }];
  };
  const url = `http://rebinding.example:${portOf(server)}/echo`;
  const http = createOutboundHttp(createAddressGuard(addresses('127.0.0.1'), rebinding));
  expect((await http.send({ ...asks, url })).status).toBe(201);
  expect(asked).toBe(1);
  expect(seen.at(-1)!.headers['host']).toBe(`rebinding.example:${portOf(server)}`);
  server.closeAllConnections();
  await expect(http.send({ ...asks, url })).rejects.toMatchObject({
    code: expect.stringMatching(/^(blocked_address|connection_lost)$/),
  });
  await expect(http.send({ ...asks, url })).rejects.toEqual(failing('blocked_address'));
  await http.close();
});
