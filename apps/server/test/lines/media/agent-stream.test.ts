import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, test, vi } from 'vitest';
import { createAddressGuard } from '../../../src/foundation/outbound-http/address-guard.ts';
import type { StreamEnd } from '../../../src/lines/media/agent-end.ts';
import { isAgentSignature } from '../../../src/lines/media/agent-signature.ts';
import { AgentStream } from '../../../src/lines/media/agent-stream.ts';
import { until } from '../../until.ts';
import { type Agent, startAgent } from './agent.ts';
import { connection, openTestCall, talking, testPlane } from './plane.ts';
import { msOf, tone } from './tone.ts';

const plane = testPlane();

test('the handshake bears the headers that were given, and a signature for this call', async () => {
  await using call = await talking(plane, {
    agent: {
      headers: { authorization: 'Bearer x', 'x-trunkline-call-id': 'forged' },
      secret: 's3cret',
      callSid: 'room_7',
      customParameters: { name: 'Ada' },
    },
  });
  const [headers = {}] = call.agent.headers;
  expect(headers).toMatchObject({ authorization: 'Bearer x', 'x-trunkline-call-id': 'room_7' });
  expect(isAgentSignature(String(headers['x-trunkline-signature']), 's3cret', 'room_7', new Date(), 60)).toBe(true);
  await until(() => call.agent.of('start').length === 1);
  const [start] = call.agent.of('start');
  expect(start?.start).toMatchObject({ callSid: 'room_7', customParameters: { name: 'Ada' } });
  expect(start?.start?.streamSid).toMatch(/^MZ[0-9a-f]{32}$/);
  expect(start?.streamSid).toBe(start?.start?.streamSid);
});

test('an agent that cannot be reached is told of with its reason, and the call is there still', async () => {
  await using call = await openTestCall(plane);
  const reason = async (url: string, changes = {}) => {
    const result = await call.media.speak('agent', connection(url, changes));
    return result.connected ? 'connected' : result.text;
  };
  const forbidding = createHttpServer((_, response) => response.writeHead(403).end());
  const mute = createServer(() => {});
  const urlOf = (port: number) => `ws://127.0.0.1:${port}/`;
  for (const server of [forbidding, mute]) await once(server.listen(0, '127.0.0.1'), 'listening');
  forbidding.on('upgrade', (_, socket) => socket.end('HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n'));
  const [forbids, silent] = [forbidding, mute].map((server) => (server.address() as AddressInfo).port);
  expect(await reason(urlOf(forbids!))).toBe('The agent answered the handshake with 401.');
  expect(await reason(urlOf(silent!), { connectTimeoutMs: 200 })).toBe('The agent took no connection within 200 ms.');
  forbidding.close();
  mute.close();
  expect(await reason(urlOf(forbids!))).toContain('ECONNREFUSED');
  expect(await reason('wss://10.0.0.1/')).toBe(
    "The agent's URL must not lead into the network of the server, unless OUTBOUND_ALLOWED_ADDRESSES names it.",
  );
  expect(await reason('ws://203.0.113.1/')).toContain('must not lead into');
  expect(await reason('ws://8.8.8.8/')).toContain('must be a wss URL');
  expect(await reason('ftp://127.0.0.1/')).toContain("can't be connected to");
  expect(await reason('wss://user:pass@example.com/')).toContain('no user name');
  expect(await reason(call.agent.url, { headers: { 'x-bad': 'a\nb' } })).toContain("can't be connected to");
  expect(await reason('ws://localhost:1/')).toContain('must be a wss URL');
  expect(await reason(call.agent.url)).toBe('connected');
});

test('a name whose address lies in the network of the server is not connected to', async () => {
  const guard = createAddressGuard({ networks: [], hosts: [] }, async () => [{ address: '127.0.0.1', family: 4 }]);
  const heard = { message: () => {}, ignored: () => {}, ended: () => {} };
  const result = await new AgentStream(connection('wss://agent.example'), guard, heard).connect();
  expect(result).toMatchObject({ connected: false, text: expect.stringContaining('no address that may be reached') });
});

test.each([
  [1000, 1000],
  [undefined, 1005],
])('an agent that closes with %s has hung up, when what it said has been heard', async (code, closeCode) => {
  await using call = await talking(plane);
  const { agent, peer, events } = call;
  agent.say(tone(700, 4000));
  await until(() => msOf(700, peer.sound()) > 0);
  agent.connections[0]!.close(code);
  await until(() => events.some(({ type }) => type === 'voice_ended'));
  await until(() => msOf(700, peer.sound()) >= 480);
  const end = { reason: 'hung_up', closeCode };
  expect(events.filter(({ type }) => type !== 'first_packet')).toEqual([
    { type: 'voice_heard' },
    { type: 'voice_ended', end },
  ]);
  expect(await call.media.close()).toMatchObject({ voiceEnd: end, soundLeftOutMs: 0 });
});

test.each([
  ['breaks', { reason: 'crashed', closeCode: 1006 }],
  ['closes with 4001', { reason: 'crashed', closeCode: 4001, text: 'Key … refused by wss://example.com/' }],
  ['says too much at once', { reason: 'too_large', closeCode: 1009, text: expect.stringContaining('too long') }],
])('an agent that %s has not hung up: what it said and was not heard is left out', async (how, end) => {
  await using call = await talking(plane, { agent: { headers: { authorization: 'sk-1' } } });
  const { agent, peer, events } = call;
  const [socket] = agent.connections;
  agent.say(tone(700, 80_000));
  await until(() => msOf(700, peer.sound()) > 0);
  if (how.startsWith('closes')) socket!.close(4001, 'Key sk-1 refused\nby wss://me:pass@example.com/');
  else if (how === 'breaks') socket!.terminate();
  else socket!.send('x'.repeat(4 * 1024 * 1024 + 1));
  await until(() => events.some(({ type }) => type === 'voice_ended'));
  expect(events.filter(({ type }) => type !== 'first_packet')).toEqual([
    { type: 'voice_heard' },
    { type: 'voice_ended', end },
  ]);
  const stats = await call.media.close();
  expect(stats).toMatchObject({ voiceEnd: end, firstSoundMs: expect.any(Number) });
  const heardMs = msOf(700, peer.sound());
  expect(stats.soundLeftOutMs).toBeGreaterThan(5000);
  expect(stats.soundLeftOutMs + heardMs).toBeLessThanOrEqual(10_000);
});

test('a dropped connection is made once more where that is allowed, and what is said meanwhile is kept', async () => {
  await using call = await talking(plane, { agent: { reconnect: true } });
  const { agent, peer, events } = call;
  await peer.speak(tone(400, 1600));
  agent.connections[0]!.terminate();
  await peer.speak(tone(400, 3200));
  await until(() => agent.of('start').length === 2);
  expect(agent.of('start')[0]!.streamSid).not.toBe(agent.of('start')[1]!.streamSid);
  await until(() => msOf(400, agent.sound()) >= 500);
  agent.say(tone(1000, 3200));
  await until(() => msOf(1000, peer.sound()) >= 380);
  expect(events.filter(({ type }) => type === 'voice_ended')).toEqual([]);
  agent.connections[1]!.terminate();
  await until(() => events.some(({ type }) => type === 'voice_ended'));
});

test('an agent that does not come back is told of once', async () => {
  await using call = await talking(plane, { agent: { reconnect: true } });
  await call.agent.stop();
  await until(() => call.events.length > 0);
  const text = expect.stringMatching(/not there again: .*ECONNRE(FUSED|SET)/);
  expect(call.events).toEqual([{ type: 'voice_ended', end: { reason: 'crashed', closeCode: 1006, text } }]);
});

test('a connection is made once more within four seconds, whatever the agent is given to connect', async () => {
  const agent = await startAgent();
  const { stream, ends } = await streamTo(agent, { reconnect: true, connectTimeoutMs: 10_000 });
  const [socket] = agent.connections;
  const port = Number(new URL(agent.url).port);
  agent.release();
  const taken: Socket[] = [];
  const mute = createServer((connection) => taken.push(connection));
  await once(mute.listen(port, '127.0.0.1'), 'listening');
  const timers = vi.spyOn(globalThis, 'setTimeout');
  socket!.close(4000);
  await until(() => taken.length > 0);
  expect(timers).toHaveBeenCalledWith(expect.any(Function), 4000);
  expect(timers).not.toHaveBeenCalledWith(expect.any(Function), 10_000);
  timers.mockRestore();
  taken[0]!.destroy();
  await until(() => ends.length > 0);
  expect(ends).toMatchObject([
    { reason: 'crashed', closeCode: 4000, text: expect.stringContaining('not there again') },
  ]);
  stream.close();
  mute.close();
  await agent.stop();
});

test('at the end the agent is told to stop, and the connection is closed with 1000', async () => {
  await using call = await talking(plane);
  await until(() => call.agent.of('start').length === 1);
  const closed = once(call.agent.connections[0]!, 'close');
  const stats = await call.media.close();
  expect((await closed)[0]).toBe(1000);
  expect(stats).toMatchObject({ voiceEnd: { reason: 'call_ended' }, voice: { framesMissed: 0 } });
  expect(stats.firstSoundMs).toBeUndefined();
  expect(call.agent.messages.at(-1)).toMatchObject({ event: 'stop', stop: { accountSid: 'AC1', callSid: 'room_1' } });
  expect(call.events).toEqual([]);
});

test('what means nothing is left out and counted, and so are hours of sound', async () => {
  await using call = await talking(plane);
  const { agent, media } = call;
  for (const text of ['', 'x', '{}', '[]', 'null', '{"event":"media"}', '{"event":"mark","mark":{}}']) agent.send(text);
  agent.connections[0]!.send(Buffer.from([1, 2, 3]));
  await until(async () => (await media.stats()).voice['messagesIgnored'] === 8);
  for (let minute = 0; minute < 10; minute += 1) agent.say(Buffer.alloc(60 * 8000, 1));
  await until(async () => (await media.stats()).soundLeftOutMs >= 4 * 60_000);
  agent.clear();
  agent.say(tone(700, 3200));
  await until(() => msOf(700, call.peer.sound()) >= 380);
});

const guard = createAddressGuard({ networks: [{ address: '127.0.0.1', prefix: 32 }], hosts: [] });

/** A stream of its own to an agent, whose seconds are ours. */
async function streamTo(agent: Agent, changes: Parameters<typeof connection>[1] = {}) {
  const ends: StreamEnd[] = [];
  const stream = new AgentStream(connection(agent.url, changes), guard, {
    message: () => {},
    ignored: () => {},
    ended: (end) => ends.push(end),
  });
  await stream.connect();
  stream.start();
  return { stream, ends };
}

test('an agent that reads nothing misses frames, and is let go of once its pings stay unanswered', async () => {
  const agent = await startAgent((socket) => socket.pause());
  const { stream, ends } = await streamTo(agent);
  for (let frame = 0; frame < 200; frame += 1) stream.hear(Buffer.alloc(160));
  expect(stream.framesMissed).toBe(50);
  for (let beat = 0; beat < 7; beat += 1) stream.beat();
  await until(() => ends.length > 0);
  expect(ends).toEqual([{ reason: 'frozen', text: expect.stringContaining('took what was sent') }]);
  await agent.stop();
});

test('one that answers pings misses nothing', async () => {
  const agent = await startAgent();
  const { stream, ends } = await streamTo(agent);
  for (let second = 0; second < 10; second += 1) {
    const pongs = agent.pings;
    stream.beat();
    stream.beat();
    await until(() => agent.pings > pongs);
    for (let frame = 0; frame < 75; frame += 1) stream.hear(Buffer.alloc(160));
    await until(() => agent.of('media').length === 75 * (second + 1));
  }
  expect([stream.framesMissed, ends]).toEqual([0, []]);
  stream.close();
  await agent.stop();
});
