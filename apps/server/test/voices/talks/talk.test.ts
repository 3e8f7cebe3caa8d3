import { once } from 'node:events';
import { connect } from 'node:net';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { addresses } from '../../../src/config-values.ts';
import { fromId } from '../../../src/foundation/values/ids.ts';
import { type Agent, startAgent } from '../../lines/media/agent.ts';
import { msOf, tone } from '../../lines/media/tone.ts';
import { keyWith } from '../../platform/api-keys/keys.ts';
import { startTestServer, type TestServer } from '../../server.ts';
import { until } from '../../until.ts';
import { browse, urlOfTalk as urlOf } from './browser.ts';

let server: TestServer;
let agent: Agent;
let agentId: string;
beforeAll(async () => {
  server = await startTestServer({ config: { outboundAllowedAddresses: addresses('127.0.0.1') } });
  agent = await startAgent();
  const connection = { type: 'stream' as const, url: 'wss://agents.example.com/' };
  const made = await server.client.POST('/v1/agents', { body: { name: 'Anna', connection } });
  agentId = made.data!.data.agent.id;
  const row = { connection_url: agent.url };
  await server.database.inEngine(({ db }) =>
    db.updateTable('agents').set(row).where('id', '=', fromId(agentId)).execute(),
  );
});
afterAll(async () => {
  await server.stop();
  await agent.stop();
});

const urlOfTalk = (variables?: Record<string, string>) => urlOf(server, agentId, variables);

/** What a server answers to a browser that it doesn't let in. */
const refusalOf = async (url: string, origin?: string): Promise<number> => {
  const socket = new WebSocket(url, { ...(origin !== undefined && { origin }) });
  socket.on('error', () => {});
  const [, response] = await once(socket, 'unexpected-response');
  response.destroy();
  return response.statusCode;
};

/** A tone of 16 kHz PCM, sent as a browser does: 20 ms at a time. */
async function play(socket: WebSocket, hertz: number, ms: number): Promise<void> {
  for (let at = 0; at < ms; at += 20) {
    const pcm = Buffer.alloc(640);
    for (let sample = 0; sample < 320; sample += 1)
      pcm.writeInt16LE(Math.round(8000 * Math.sin((2 * Math.PI * hertz * (at * 16 + sample)) / 16_000)), 2 * sample);
    socket.send(pcm);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test('a browser talks to an agent as a caller does: it is heard, hears it, presses keys and hangs up', async () => {
  const { socket, told, ulaw } = await browse(await urlOfTalk({ first_name: 'Ada' }), server.url);
  await until(() => agent.of('start').length > 0);
  const { customParameters } = agent.of('start')[0]!.start!;
  expect(customParameters).toMatchObject({ direction: 'inbound', first_name: 'Ada' });
  expect(JSON.parse(customParameters['trunkline']!)).toMatchObject({ agentId, talk: true });
  expect(told[0]).toEqual({ event: 'answered' });
  agent.say(tone(600, 8000));
  await play(socket, 400, 600);
  socket.send(JSON.stringify({ event: 'digit', digit: '5' }));
  await until(() => msOf(400, agent.sound()) >= 400 && msOf(600, ulaw()) >= 700 && agent.digits() === '5');
  agent.connections.at(-1)!.close(1000);
  await until(() => socket.readyState === WebSocket.CLOSED);
  expect(told.at(-1)).toMatchObject({ event: 'ended', outcome: 'answered', endedBy: 'agent' });
  const calls = await server.client.GET('/v1/calls');
  expect(calls.data!.items).toEqual([]);
});

test('a talk opens once, on pages of the server alone, and for a minute', async () => {
  const url = await urlOfTalk();
  expect(await refusalOf(url, 'https://elsewhere.example')).toBe(403);
  const { socket } = await browse(url);
  expect(await refusalOf(url)).toBe(410);
  socket.close();
  expect(await refusalOf(`${url}x`)).toBe(404);
});

test('an agent that is not there is told, and a browser that leaves ends its part', async () => {
  const before = agent.connections.length;
  const { socket } = await browse(await urlOfTalk());
  await until(() => agent.connections.length > before);
  socket.send(JSON.stringify({ event: 'hang_up' }));
  await until(() => agent.connections.at(-1)!.readyState === WebSocket.CLOSED);
  const gone = (
    await server.client.POST('/v1/agents', {
      body: { name: 'Gone', connection: { type: 'stream', url: 'wss://agents.invalid/' } },
    })
  ).data!.data.agent.id;
  const made = await server.client.POST('/v1/agents/{agentId}/talk', { params: { path: { agentId: gone } }, body: {} });
  const { told, socket: other } = await browse(
    made.data!.data.url.replace(/^ws:\/\/[^/]+/, server.url.replace(/^http/, 'ws')),
  );
  await until(() => other.readyState === WebSocket.CLOSED);
  expect(told).toEqual([expect.objectContaining({ event: 'ended', outcome: 'agent_error', endedBy: 'error' })]);
});

test('more variables than a URL can bear are refused, and another workspace has no such agent', async () => {
  const params = { path: { agentId } };
  const variables = { story: 'a'.repeat(4096) };
  const long = await server.client.POST('/v1/agents/{agentId}/talk', { params, body: { variables } });
  expect(long.error).toMatchObject({ code: 'invalid_request', details: [{ path: '/body/variables' }] });
  const other = server.clientOf(await keyWith(server, { permissions: ['agents:write'], workspace: 'Theirs' }));
  const theirs = await other.POST('/v1/agents/{agentId}/talk', { params, body: {} });
  expect(theirs.error).toMatchObject({ code: 'not_found' });
});

test('the page is served with what it loads, and may load nothing from elsewhere', async () => {
  const page = await fetch(`${server.url}/talk`);
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
  const text = await page.text();
  for (const [, file] of text.matchAll(/(?:href|src)="([^"]+)"/g))
    expect((await fetch(server.url + file)).status).toBe(200);
  expect((await fetch(`${server.url}/talk/sound.js`)).headers.get('content-type')).toContain('javascript');
});

test('a client that offers HTTP/2, or another protocol, is served as if it did not', async () => {
  const { port, hostname } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  socket.write('GET /livez HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: h2c\r\n\r\n');
  const [answer] = await once(socket, 'data');
  expect(String(answer)).toMatch(/^HTTP\/1\.1 200 /);
  socket.destroy();
});

/** A request for a WebSocket by hand: what is done with its connection is up to the test. */
function askFor(url: string, allowHalfOpen = false) {
  const { host, hostname, port, pathname } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen });
  socket.on('error', () => {});
  const lines = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13'];
  const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';
  socket.write([`GET ${pathname} HTTP/1.1`, `Host: ${host}`, ...lines, key, '', ''].join('\r\n'));
  return socket;
}

test('sound that comes after the end of a talk harms nobody', async () => {
  const before = agent.connections.length;
  const { socket } = await browse(await urlOfTalk());
  await until(() => agent.connections.length > before);
  socket.on('message', (data, isBinary) => {
    if (!isBinary && String(data).includes('"ended"')) socket.send(Buffer.alloc(640));
  });
  agent.connections.at(-1)!.close(1000);
  await once(socket, 'close');
  await new Promise((resolve) => setTimeout(resolve, 100));
});

test('who goes before a talk has begun leaves no agent that talks to nobody', async () => {
  const connection = { type: 'stream' as const, url: 'wss://agents.example.com/' };
  const made = await server.client.POST('/v1/agents', { body: { name: 'Berta', connection } });
  const { id } = made.data!.data.agent;
  const row = { connection_url: agent.url };
  await server.database.inEngine(({ db }) => db.updateTable('agents').set(row).where('id', '=', fromId(id)).execute());
  const talk = await server.client.POST('/v1/agents/{agentId}/talk', { params: { path: { agentId: id } }, body: {} });
  const before = agent.connections.length;
  await server.database.inEngine(async ({ db }) => {
    await sql`lock table agents in access exclusive mode`.execute(db);
    const socket = askFor(talk.data!.data.url.replace(/^ws:\/\/[^/]+/, server.url.replace(/^http/, 'ws')));
    await once(socket, 'data');
    socket.destroy();
    await new Promise((resolve) => setTimeout(resolve, 50));
  });
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(agent.connections.length).toBe(before);
});

test('the connection of who is refused is closed, even if that one keeps it', async () => {
  const socket = askFor(`${server.url}/talk/none`, true);
  socket.resume();
  await once(socket, 'end');
  const closed = new Promise((resolve) => socket.once('close', resolve));
  const writing = setInterval(() => socket.write('still here'), 20);
  await closed;
  clearInterval(writing);
});

test('a server stops while a browser answers no close', async () => {
  const other = await startTestServer();
  const connection = { type: 'stream' as const, url: 'wss://agents.invalid/' };
  const made = await other.client.POST('/v1/agents', { body: { name: 'Anna', connection } });
  const params = { path: { agentId: made.data!.data.agent.id } };
  const talk = await other.client.POST('/v1/agents/{agentId}/talk', { params, body: {} });
  const socket = askFor(talk.data!.data.url.replace(/^ws:\/\/[^/]+/, other.url.replace(/^http/, 'ws')), true);
  await once(socket, 'data');
  const from = performance.now();
  await other.stop();
  expect(performance.now() - from).toBeLessThan(9000);
  socket.destroy();
});

test('who asks too often for a talk that there is not is told so', async () => {
  const url = `${server.url.replace(/^http/, 'ws')}/talk/none`;
  // One more is let in every half second.
  const statuses = await Promise.all(Array.from({ length: 240 }, () => refusalOf(url)));
  expect(new Set(statuses)).toEqual(new Set([404, 429]));
});
