import { setTimeout as sleep } from 'node:timers/promises';
import type { TrunklineClient } from '@trunkline/client';
import { createUserAgent, type InviteOptions, SdpSession, type UserAgent } from '@trunkline/sip';
import { sql } from 'kysely';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openDatabase } from '../../../src/foundation/database/database.ts';
import { type Span, setTracer } from '../../../src/foundation/observe/tracing.ts';
import { freshDatabase } from '../../database.ts';
import { startTestServer, type TestServer } from '../../server.ts';
import { until } from '../../until.ts';
import { type Agent, startAgent } from '../media/agent.ts';
import { startPeer } from '../media/peer.ts';
import { msOf, tone } from '../media/tone.ts';
import { type Callee, type Carrier, startCarrier } from './carrier.ts';
import { killServers } from './killed-servers.ts';

const FROM = '+14155550100';
const CALLEE_HERTZ = 450;
const CHANGED_HERTZ = 600;
const AGENT_HERTZ = 1000;
/** With which the sentence of a test call ends. */
const SENTENCE_HERTZ = 800;
/** Of the trunk's network, and not beside its address. */
const GATEWAY = '127.0.7.9';
const loopback = { networks: [{ address: '127.0.0.0', prefix: 8 }], hosts: [] };

/** Speaks for a second, listens, and hangs up after two. */
const talks: Callee = async (call, answer) => {
  call.ring();
  const phone = await answer();
  void phone.speak(tone(CALLEE_HERTZ, 8000));
  await sleep(2000);
  await call.hangUp();
};
/** Hears the sentence of a test call to its end, says something, and hears that too. */
const tests: Callee = async (call, answer) => {
  call.ring();
  const phone = await answer();
  await until(() => msOf(SENTENCE_HERTZ, phone.sound()) >= 260);
  await phone.speak(tone(CALLEE_HERTZ, 8000));
  await until(() => msOf(CALLEE_HERTZ, phone.sound()) >= 600);
  await call.hangUp();
};
/** Presses 11 by INFO, goes over to another codec without telephone-events, and speaks. */
const changes: Callee = async (call, answer) => {
  const phone = await answer();
  for (const digit of '11') await call.info('application/dtmf-relay', `Signal=${digit}\r\nDuration=160`);
  const pcma = new SdpSession({ address: '127.0.0.1', port: phone.port, codecs: ['PCMA'] }).offer();
  const answered = await call.update(pcma.replace(' 8 101', ' 8').replaceAll(/a=\w+:101 .*\r\n/g, ''));
  expect(answered).toMatch(/m=audio \d+ RTP\/AVP 8\r\n/);
  await phone.speak(tone(CHANGED_HERTZ, 8000), { alaw: true });
  await call.hangUp();
};
const portOf = (sdp: string | undefined) => Number(/m=audio (\d+)/.exec(sdp!)![1]);
/** Is spoken to at a gateway in the trunk's network that no description names: one packet takes the call. */
async function spokenToBeside(sdp: string | undefined): Promise<void> {
  const gateway = await startPeer(portOf(sdp), GATEWAY);
  await until(() => {
    // A stranger's stream would have to be one.
    gateway.send(tone(CALLEE_HERTZ, 160), { ssrc: Math.floor(Math.random() * 1e9) });
    return gateway.heard.length > 10;
  });
  gateway.close();
}
const besides: Callee = async (call, answer) => {
  await answer();
  await spokenToBeside(call.sdp);
  await call.hangUp();
};
const callees: Record<string, Callee> = {
  '+14155550116': besides,
  '+14155550121': tests,
  '+14155550122': async (call, answer) => {
    await answer();
    await sleep(2100);
    await call.hangUp();
  },
  '+14155550123': (call) => call.reject(488),
  '+14155550111': talks,
  '+14155550112': (call) => call.reject(486),
  '+14155550113': (call) => call.reject(603),
  '+14155550115': changes,
  '+14155550114': async (call, answer) => {
    call.ring();
    await answer();
  },
};

let carrier: Carrier;
let agent: Agent;
beforeAll(async () => {
  carrier = await startCarrier(callees);
  agent = await startAgent((socket) =>
    socket.on('message', (data) => {
      const { event } = JSON.parse(String(data));
      if (event === 'start') agent.say(tone(AGENT_HERTZ, 12_000));
    }),
  );
});
afterAll(async () => {
  await agent.stop();
  await carrier.stop();
});

/** A number on a trunk to the carrier, bound to an agent. */
async function connect(client: TrunklineClient, url = agent.url) {
  const made = await client.POST('/v1/agents', { body: { name: 'Anna', connection: { type: 'stream', url } } });
  const agentId = made.data!.data.agent.id;
  const terminationUrl = `127.0.0.1:${carrier.port}`;
  const body = { terminationUrl, callsPerSecond: 50, ipAllowlist: ['127.0.7.0/24'], headersToAgent: ['X-Customer-Id'] };
  const trunk = await client.POST('/v1/telephony/trunks', { body });
  expect(trunk.error).toBeUndefined();
  const imported = await client.POST('/v1/telephony/phone-numbers/import/manual', {
    body: { phoneNumbers: [FROM], trunkId: trunk.data!.id, inboundAgentId: agentId },
  });
  expect(imported.data!.rejected).toEqual([]);
  return agentId;
}

const dial = async (
  client: TrunklineClient,
  agentId: string,
  numbers: string[],
  more: { recording?: boolean } = {},
) => {
  const recipients = numbers.map((phoneNumber) => ({ phoneNumber }));
  const { data, error } = await client.POST('/v1/calls/batch', {
    body: { agentId, fromNumber: FROM, recipients, ...more },
  });
  if (!data) throw new Error(JSON.stringify(error));
  const query = { batchId: data.batchId };
  return async () => (await client.GET('/v1/calls', { params: { query } })).data!.items;
};

test('calls go out over a trunk and in over it, agents hear and are heard, and every end is told', async () => {
  const portMin = 31_000 + 2 * Math.floor(Math.random() * 4000);
  const fresh = await freshDatabase();
  const server: TestServer = await startTestServer({
    connectionString: fresh.connection.connectionString,
    config: {
      drainSeconds: 0,
      sipHost: '127.0.0.1',
      sipPort: 0,
      sipAllowedAddresses: loopback,
      outboundAllowedAddresses: loopback,
      rtpPortMin: portMin,
      rtpPortMax: portMin + 199,
    },
  });
  const { client } = server;
  const spans: Span[] = [];
  setTracer({ record: (span) => spans.push(span), close: async () => {} });
  const agentId = await connect(client);
  const listed = await dial(client, agentId, ['+14155550111', '+14155550112', '+14155550113', '+14155550119'], {
    recording: true,
  });
  await until(async () => (await listed()).filter(({ endedAt }) => endedAt).length === 4);
  const calls = new Map((await listed()).map((call) => [call.toNumber, call]));
  expect(calls.get('+14155550111')).toMatchObject({
    ...{ status: 'completed', outcome: 'answered', endedBy: 'callee', simulated: false, codec: 'PCMU' },
  });
  expect(calls.get('+14155550111')!.packetsReceived).toBeGreaterThan(30);
  expect(calls.get('+14155550112')).toMatchObject({ outcome: 'busy', sipStatus: 486 });
  expect(calls.get('+14155550113')).toMatchObject({ outcome: 'declined', sipStatus: 603 });
  expect(calls.get('+14155550119')).toMatchObject({ outcome: 'invalid_number', sipStatus: 404 });
  expect(msOf(CALLEE_HERTZ, agent.sound())).toBeGreaterThan(500);
  expect(msOf(AGENT_HERTZ, carrier.phones[0]!.sound())).toBeGreaterThan(500);
  const [start] = agent.of('start');
  expect(start!.start!.callSid).toBe(calls.get('+14155550111')!.roomId);
  const room = { params: { path: { roomId: calls.get('+14155550111')!.roomId } } };
  await until(async () => (await client.GET('/v1/calls/{roomId}', room)).data!.recording?.status === 'stored');

  const heardBeside = await dial(client, agentId, ['+14155550116']);
  await until(async () => (await heardBeside())[0]!.endedAt !== undefined);
  expect((await heardBeside())[0]).toMatchObject({ outcome: 'answered', endedBy: 'callee' });

  const changed = await dial(client, agentId, ['+14155550115']);
  await until(async () => (await changed())[0]!.endedAt !== undefined);
  expect((await changed())[0]).toMatchObject({ outcome: 'answered', endedBy: 'callee', codec: 'PCMA' });
  expect(agent.digits()).toBe('11');
  expect(msOf(CHANGED_HERTZ, agent.sound())).toBeGreaterThan(500);

  setTracer(undefined);
  const traced = spans.filter(
    ({ attributes }) => attributes['trunkline.room_id'] === calls.get('+14155550111')!.roomId,
  );
  const [call] = traced;
  expect(call).toMatchObject({ name: 'call', attributes: { 'trunkline.outcome': 'answered' } });
  expect(spans.filter(({ parent }) => parent === call!.spanId).map(({ name }) => name)).toEqual(['place', 'agent']);

  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  expect(metrics).toMatch(/^trunkline_media_packets_total\{kind="received"\} [1-9]\d/m);
  expect(metrics).toMatch(/^trunkline_media_threads 1$/m);
  expect(metrics).toMatch(/^trunkline_media_worst_late_seconds 0\.\d/m);
  expect(metrics).toMatch(/^trunkline_trunks\{status="active",reason=""\} 1$/m);

  await testCalls(client);
  await arriving(server, agentId);

  const last = await dial(client, agentId, ['+14155550114'], { recording: true });
  await until(async () => (await last())[0]?.status === 'in_progress');
  await server.stop();
  const database = openDatabase({ connection: fresh.connection, poolSize: 1, log: pino({ level: 'silent' }) });
  const { rows } = await database.inEngine(({ db }) =>
    sql<{ status: string; endedBy: string }>`
      select r.status, c.ended_by as "endedBy" from call_recordings r
      join calls c on c.workspace_id = r.workspace_id and c.id = r.room_id order by r.created_at desc, r.room_id desc limit 1`.execute(
      db,
    ),
  );
  expect(rows).toEqual([{ status: 'stored', endedBy: 'service' }]);
  await database.close();
  await fresh.drop();
});

/** Rings phones without an agent, and reads what that has shown. */
async function testCalls(client: TrunklineClient): Promise<void> {
  const { data } = await client.GET('/v1/telephony/phone-numbers');
  const report = async (toNumber: string) => {
    const request = { params: { path: { id: data!.items[0]!.id } }, body: { toNumber } };
    const started = await client.POST('/v1/telephony/phone-numbers/{id}/test-call', request);
    expect(started.error).toBeUndefined();
    const one = { params: { path: { roomId: started.data!.roomId } } };
    const read = async () => (await client.GET('/v1/telephony/test-calls/{roomId}', one)).data!;
    await until(async () => (await read()).endedAt !== undefined);
    const { findings, ...rest } = await read();
    return { ...rest, codes: findings!.map(({ code }) => code) };
  };
  const address = expect.stringMatching(/^127\.0\.0\.1:\d+$/);
  const media = { trunkAddress: `127.0.0.1:${carrier.port}`, localAddress: address };
  const works = await report('+14155550121');
  expect(works).toMatchObject({
    verdict: 'works',
    codes: ['ok'],
    simulated: false,
    outcome: 'answered',
    endedBy: 'callee',
  });
  expect(works.media).toMatchObject({ ...media, codec: 'PCMU', remoteAddress: address, heardFrom: address });
  expect(works.media!.packetsReceived).toBeGreaterThan(30);
  expect(works.media!.packetsSent).toBeGreaterThan(30);
  const silent = await report('+14155550122');
  expect(silent).toMatchObject({
    verdict: 'fault',
    codes: ['no_sound_received'],
    media: { ...media, packetsReceived: 0 },
  });
  expect(silent.media).not.toHaveProperty('heardFrom');
  expect(await report('+14155550123')).toMatchObject({
    verdict: 'fault',
    codes: ['no_common_codec'],
    sipStatus: 488,
    media,
  });
  expect(await report('+14155550119')).toMatchObject({ verdict: 'fault', codes: ['number_format'], sipStatus: 404 });
}

/** Somebody calls our number from the trunk's address, and somebody else from elsewhere. */
async function arriving({ client }: TestServer, agentId: string): Promise<void> {
  const sip = carrier.calls[0]!.call.source;
  const phone = await startPeer(9);
  const session = new SdpSession({ address: '127.0.0.1', port: phone.port, codecs: ['PCMA'] });
  const invite = {
    to: `sip:${FROM}@127.0.0.1:${sip.port}`,
    from: '<sip:+14155550177@carrier.example>',
    targets: [sip],
    sdp: session.offer(),
    headers: [
      ['X-Customer-Id', '7781'],
      ['X-Other', '1'],
      ['P-Attestation-Indicator', 'A'],
      ['Diversion', '<sip:+14155550188@carrier.example>;reason=no-answer'],
    ],
  } satisfies InviteOptions;
  const stranger = await createUserAgent({ host: '127.0.0.2', port: 0, timers: { t1: 15 } });
  const ignored = stranger.invite(invite);
  expect(await ignored.ended).toMatchObject({ kind: 'silence', wasRinging: false });
  await stranger.stop(0);

  let answered: string | undefined;
  let call!: ReturnType<typeof carrier.userAgent.invite>;
  await until(async () => {
    // Until the server has learned whose address this is, nothing comes back.
    call = carrier.userAgent.invite({
      ...invite,
      onAnswered: ({ sdp }) => {
        answered = sdp;
      },
      ringTimeoutMs: 3000,
    });
    await Promise.race([call.ended, sleep(3000)]);
    return answered !== undefined;
  });
  const inbound = async () =>
    (await client.GET('/v1/calls')).data!.items.findLast((each) => each.direction === 'inbound');
  await until(async () => (await inbound())?.status === 'in_progress');
  expect(await inbound()).toMatchObject({ fromNumber: '+14155550177', toNumber: FROM, simulated: false });
  await spokenToBeside(answered);
  const { trunkline } = agent.of('start').at(-1)!.start!.customParameters;
  expect(JSON.parse(trunkline!).sip).toEqual({
    ...{ attestation: 'A', diversion: '+14155550188', headers: { 'X-Customer-Id': '7781' } },
  });
  const full = { params: { path: { agentId } }, body: { maxConcurrentCalls: 1 } };
  expect((await client.PATCH('/v1/agents/{agentId}', full)).error).toBeUndefined();
  const further = carrier.userAgent.invite(invite);
  expect(await further.ended).toMatchObject({ kind: 'rejected', status: 480, retryAfterSeconds: 5 });
  await client.PATCH('/v1/agents/{agentId}', { ...full, body: { maxConcurrentCalls: null } });
  const closed = await client.POST('/v1/calls/{roomId}/end', {
    params: { path: { roomId: (await inbound())!.roomId } },
  });
  expect(closed.error).toBeUndefined();
  expect(await call.ended).toMatchObject({ kind: 'hung_up', by: 'remote' });
  await until(async () => (await inbound())?.endedAt !== undefined);
  expect(await inbound()).toMatchObject({ outcome: 'answered', endedBy: 'service', codec: 'PCMA' });
  await byDigest(client, invite);
  phone.close();
}

/** The trunk lets callers in from anywhere who know its password: for its number, and nobody hears of another one. */
async function byDigest(client: TrunklineClient, invite: InviteOptions): Promise<void> {
  const stranger = await createUserAgent({ host: '127.0.0.2', port: 0, timers: { t1: 15 } });
  const { id } = (await client.GET('/v1/telephony/trunks')).data!.items[0]!;
  const body = { username: 'pbx', password: 'secret', inboundDigest: true };
  const changed = await client.PATCH('/v1/telephony/trunks/{trunkId}', { params: { path: { trunkId: id } }, body });
  expect(changed.data).toMatchObject({ inboundDigest: true });
  const credentials = { username: 'pbx', password: 'secret' };
  let call!: ReturnType<UserAgent['invite']>;
  await until(async () => {
    call = stranger.invite({ ...invite, credentials });
    return (await call.answered) !== undefined;
  });
  const { kind } = await call.hangUp();
  expect(kind).toBe('hung_up');
  const arrived = (await client.GET('/v1/calls')).data!.items.filter(({ direction }) => direction === 'inbound');
  expect(arrived.map(({ fromNumber, toNumber }) => [fromNumber, toNumber])).toContainEqual(['+14155550177', FROM]);
  expect(arrived.length).toBeGreaterThan(1);
  const guess = stranger.invite({ ...invite, credentials: { ...credentials, password: 'guess' } });
  expect(await guess.ended).toMatchObject({ kind: 'rejected', status: 401 });
  const elsewhere = stranger.invite({ ...invite, to: invite.to.replace(FROM, '+14155550199'), credentials });
  expect(await elsewhere.ended).toMatchObject({ kind: 'silence', wasRinging: false });
  await stranger.stop(0);
}

test('calls of a server that was killed are ended by another one, and nobody is called again', () =>
  killServers({ talking: 8, ringing: 0, placing: 0, rtpPort: 40_000 }));
