import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { WebSocket } from 'ws';
import { addresses } from '../../../src/config-values.ts';
import { fromId } from '../../../src/foundation/values/ids.ts';
import { isAgentSignature } from '../../../src/lines/media/agent-signature.ts';
import { type Agent, startAgent } from '../../lines/media/agent.ts';
import { startTestServer, type TestServer } from '../../server.ts';
import { until } from '../../until.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({ config: { outboundAllowedAddresses: addresses('127.0.0.1') } });
});
afterAll(() => server.stop());

const headers = { Authorization: 'Bearer x' };

/** Makes an agent with this URL, and answers what its test says; of one whose URL the settings refuse, they once did not. */
async function tried(url: string) {
  const connection = { type: 'stream' as const, headers, secret: 'a-secret-of-our-own', connectTimeoutSeconds: 1 };
  const body = { name: 'Anna', connection: { ...connection, url: 'wss://agents.example.com/' } };
  const agentId = (await server.client.POST('/v1/agents', { body })).data!.data.agent.id;
  const row = { connection_url: url };
  await server.database.inEngine(({ db }) =>
    db.updateTable('agents').set(row).where('id', '=', fromId(agentId)).execute(),
  );
  const params = { path: { agentId } };
  return (await server.client.POST('/v1/agents/{agentId}/test', { params })).data!.data;
}

/** Has an agent on loopback tried. */
async function triedAgent(connected: (socket: WebSocket) => void, look: (agent: Agent) => void = () => {}) {
  const agent = await startAgent(connected);
  try {
    const found = await tried(agent.url);
    await until(() => agent.connections.every(({ readyState }) => readyState === 3));
    look(agent);
    return found;
  } finally {
    await agent.stop();
  }
}

const durationMs = expect.any(Number);
const message = (text: string) => expect.stringContaining(text);
const media = JSON.stringify({ event: 'media', media: { payload: Buffer.alloc(160).toString('base64') } });

test('an agent that speaks is reachable: it is connected to as for a call, told that it is a test, and let go', async () => {
  const found = await triedAgent(
    (socket) => socket.send(media),
    (agent) => {
      const [given = {}] = agent.headers;
      expect(given).toMatchObject({ authorization: 'Bearer x' });
      const callId = String(given['x-trunkline-call-id']);
      const signature = String(given['x-trunkline-signature']);
      expect(isAgentSignature(signature, 'a-secret-of-our-own', callId, new Date())).toBe(true);
      expect(agent.messages.map(({ event }) => event).slice(0, 2)).toEqual(['connected', 'start']);
      expect(agent.of('start')[0]!.start).toMatchObject({ callSid: callId, customParameters: { test: 'true' } });
      expect(agent.messages.at(-1)).toMatchObject({ event: 'stop' });
    },
  );
  expect(found).toEqual({ reachable: true, reason: 'ok', message: message('began to speak'), spoke: true, durationMs });
});

test('one that says nothing for two seconds, but silence, is reachable too, and hears silence', async () => {
  let heard = 0;
  const silence = JSON.stringify({ event: 'media', media: { payload: Buffer.alloc(160, 0xff).toString('base64') } });
  const found = await triedAgent(
    (socket) => socket.send(silence),
    (agent) => {
      heard = agent.sound().length;
    },
  );
  expect(found).toEqual({ reachable: true, reason: 'ok', message: message('2 seconds'), spoke: false, durationMs });
  expect(heard).toBeGreaterThan(160);
});

test('one that hangs up or breaks off at once is not reachable', async () => {
  const closed = { reachable: false, durationMs };
  const hungUp = { ...closed, reason: 'hung_up', message: message('hung up at once') };
  expect(await triedAgent((socket) => socket.close(1000))).toEqual(hungUp);
  const crashed = { ...closed, reason: 'crashed', message: message('1011') };
  expect(await triedAgent((socket) => socket.close(1011))).toEqual(crashed);
});

test('each thing that is in the way has its reason', async () => {
  const refusing = createHttpServer();
  refusing.on('upgrade', (_, socket) => socket.end('HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n'));
  const mute = createServer(() => {});
  const plain = createServer((socket) => socket.on('error', () => {}).end('HTTP/1.1 400 Bad Request\r\n\r\n'));
  for (const each of [refusing, mute, plain]) await once(each.listen(0, '127.0.0.1'), 'listening');
  const at = (scheme: string, each: { address(): unknown }) =>
    `${scheme}://127.0.0.1:${(each.address() as AddressInfo).port}/`;
  const failed = { reachable: false, durationMs };
  expect(await tried(at('ws', refusing))).toEqual({
    ...failed,
    reason: 'rejected',
    message: 'The agent answered 401 instead of taking the connection. Look at the headers of its connection.',
    statusCode: 401,
  });
  const slow = await tried(at('ws', mute));
  expect(slow).toEqual({ ...failed, reason: 'timed_out', message: message('connectTimeoutSeconds') });
  expect(slow.durationMs).toBeGreaterThanOrEqual(990);
  expect(await tried(at('wss', plain))).toEqual({ ...failed, reason: 'tls_failure', message: message('TLS') });
  const left = at('ws', refusing);
  for (const each of [refusing, mute, plain]) each.close();
  const gone = message('(ECONNREFUSED)');
  expect(await tried(left)).toEqual({ ...failed, reason: 'refused', message: gone });
  const inside = await tried('wss://10.0.0.7/');
  expect(inside).toEqual({ ...failed, reason: 'address_refused', message: message('OUTBOUND_ALLOWED_ADDRESSES') });
  const nowhere = await tried('wss://agents.invalid/');
  expect(nowhere).toEqual({ ...failed, reason: 'dns_failure', message: message('has no address') });
});

test('an agent that is not there is 404', async () => {
  const params = { path: { agentId: `agent_${'0'.repeat(32)}` } };
  expect((await server.client.POST('/v1/agents/{agentId}/test', { params })).response.status).toBe(404);
});
