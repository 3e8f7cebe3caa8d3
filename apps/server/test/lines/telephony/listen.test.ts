import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { fromId } from '../../../src/foundation/values/ids.ts';
import { keyWith } from '../../platform/api-keys/keys.ts';
import { until } from '../../until.ts';
import { type Agent, startAgent } from '../media/agent.ts';
import { msOf, tone } from '../media/tone.ts';
import { type Calling, FROM, startCalling } from './calling.ts';
import type { Callee } from './carrier.ts';

const OF_CALLEE = 500;
const OF_AGENT = 900;

let callee: Callee;
let calling: Calling;
let agent: Agent;
beforeAll(async () => {
  agent = await startAgent();
  calling = await startCalling((call, answer) => callee(call, answer));
});
afterAll(async () => {
  await calling[Symbol.asyncDispose]();
  await agent.stop();
});

const listen = (roomId: string, client = calling.server.client) =>
  client.POST('/v1/calls/{roomId}/listen', { params: { path: { roomId } } });

/** Whoever opens such a URL, and what they hear of both sides. */
function hearing(url: string, origin?: string) {
  const socket = new WebSocket(url.replace(/^wss?:\/\/[^/]+/, calling.server.url.replace(/^http/, 'ws')), {
    ...(origin !== undefined && { origin }),
  });
  const told: { event: string; start?: object; media?: { track: string; payload: string; timestamp: string } }[] = [];
  socket.on('message', (data) => told.push(JSON.parse(String(data))));
  socket.on('error', () => {});
  const closed = new Promise<number>((resolve) => socket.once('close', resolve));
  const refused = new Promise((resolve) => {
    socket.once('unexpected-response', (_request, { statusCode }) => resolve(statusCode));
  });
  const track = (name: string) =>
    Buffer.concat(told.flatMap(({ media }) => (media?.track === name ? [Buffer.from(media.payload, 'base64')] : [])));
  return { socket, told, closed, refused, track };
}

async function callOf(toNumber: string) {
  const agentId = await calling.agentAt(agent.url);
  const { data } = await calling.server.client.POST('/v1/calls', { body: { agentId, fromNumber: FROM, toNumber } });
  const { roomId } = data!;
  const status = async () =>
    (await calling.server.client.GET('/v1/calls/{roomId}', { params: { path: { roomId } } })).data!.status;
  return { roomId, status };
}
const end = (roomId: string) => calling.server.client.POST('/v1/calls/{roomId}/end', { params: { path: { roomId } } });

test('a call that is up is heard by who may, both sides of it, until its end; nobody in it hears of that', async () => {
  let isToAnswer = false;
  callee = async (incoming, answer) => {
    incoming.ring();
    await until(() => isToAnswer);
    const phone = await answer();
    // It speaks until it is hung up.
    await phone.speak(tone(OF_CALLEE, 8000 * 20)).catch(() => {});
  };
  const { roomId, status } = await callOf('+14155550121');
  await until(async () => (await status()) === 'ringing');
  expect((await listen(roomId)).error).toMatchObject({
    code: 'invalid_state',
    error: expect.stringContaining('not answered'),
  });
  isToAnswer = true;
  await until(async () => (await status()) === 'in_progress' && agent.of('start').length === 1);
  agent.say(tone(OF_AGENT, 8000 * 20));

  const made = await listen(roomId);
  expect(made.response.status).toBe(201);
  const { url, expiresAt } = made.data!;
  expect(Date.parse(expiresAt) - Date.now()).toBeGreaterThan(50_000);
  const one = hearing(url);
  const other = hearing((await listen(roomId)).data!.url);
  for (const { track } of [one, other]) {
    await until(() => msOf(OF_CALLEE, track('inbound')) >= 400 && msOf(OF_AGENT, track('outbound')) >= 400);
    expect([msOf(OF_AGENT, track('inbound')), msOf(OF_CALLEE, track('outbound'))]).toEqual([0, 0]);
  }
  expect(one.told.slice(0, 2)).toMatchObject([
    { event: 'connected' },
    { event: 'start', start: { callSid: roomId, tracks: ['inbound', 'outbound'] } },
  ]);
  const times = one.told.flatMap(({ media }) => (media?.track === 'outbound' ? [Number(media.timestamp)] : []));
  expect(times).toEqual(times.map((_, at) => at * 20));

  expect(await hearing(url).refused).toBe(410);
  expect(await hearing((await listen(roomId)).data!.url, 'https://elsewhere.example').refused).toBe(403);
  expect(await hearing(url.replace(/.{4}$/, 'aaaa')).refused).toBe(404);
  other.socket.close();
  await other.closed;

  await end(roomId);
  expect(await one.closed).toBe(1000);
  expect(one.told.at(-1)).toMatchObject({ event: 'stop' });
  expect((await listen(roomId)).error).toMatchObject({ code: 'call_not_active' });
  expect(agent.of('media').length).toBeGreaterThan(0);
  const { data } = await calling.server.client.GET('/v1/audit-log', { params: { query: { resourceId: roomId } } });
  expect(data!.data.items.map(({ action }) => action)).toContain('call.listened_to');
});

test('the URL leads to the server that holds the call, and elsewhere nothing is heard', async () => {
  callee = async (incoming, answer) => {
    incoming.ring();
    await answer();
  };
  const { roomId, status } = await callOf('+14155550122');
  await until(async () => (await status()) === 'in_progress');
  await calling.server.database.inEngine(({ db }) =>
    sql`update servers set url = 'https://two.example.com'`.execute(db),
  );
  const { url } = (await listen(roomId)).data!;
  expect(url).toMatch(/^wss:\/\/two\.example\.com\/listen\//);
  await end(roomId);
  await until(async () => (await status()) === 'completed');
  expect(await hearing(url).closed).toBe(1011);
});

test('the right to listen ends with the key that asked', async () => {
  callee = async (_incoming, answer) => void (await answer());
  const { roomId, status } = await callOf('+14155550124');
  await until(async () => (await status()) === 'in_progress');
  const { server } = calling;
  const made = await server.client.POST('/v1/api-keys', { body: { name: 'Ear', permissions: ['calls:listen'] } });
  const key = made.data!.data;
  const ear = server.clientOf(key.key);
  const one = hearing((await listen(roomId, ear)).data!.url);
  await until(() => one.told.length > 0);
  const { url } = (await listen(roomId, ear)).data!;
  await server.client.DELETE('/v1/api-keys/{keyId}', { params: { path: { keyId: key.id } } });
  expect(await one.closed).toBe(1008);
  expect(await hearing(url).closed).toBe(1008);
  await end(roomId);
});

test('a simulated call has no sound, and a key needs calls:listen', async () => {
  const { server } = calling;
  const reader = server.clientOf(await keyWith(server, { permissions: ['calls:read', 'calls:write'] }));
  callee = async (_incoming, answer) => void (await answer());
  const { roomId, status } = await callOf('+14155550123');
  await until(async () => (await status()) === 'in_progress');
  expect((await listen(roomId, reader)).response.status).toBe(403);
  await server.database.inEngine(({ db }) =>
    sql`update calls set simulated = true where id = ${fromId(roomId)}`.execute(db),
  );
  expect((await listen(roomId)).error).toMatchObject({
    code: 'invalid_state',
    error: expect.stringContaining('simulated'),
  });
  await end(roomId);
});
