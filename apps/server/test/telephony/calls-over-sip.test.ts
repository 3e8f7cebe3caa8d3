import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createClient, type TrunklineClient } from '@trunkline/client';
import { createUserAgent, SdpSession } from '@trunkline/sip';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newKey } from '../../src/api-keys/key.ts';
import { freshDatabase } from '../database.ts';
import { type Agent, startAgent } from '../media/agent.ts';
import { startPeer } from '../media/peer.ts';
import { msOf, tone } from '../media/tone.ts';
import { startTestServer, type TestServer } from '../server.ts';
import { startServerProcess } from '../server-process.ts';
import { until } from '../until.ts';
import { type Callee, type Carrier, startCarrier } from './carrier.ts';

const FROM = '+14155550100';
const CALLEE_HERTZ = 450;
const AGENT_HERTZ = 1000;
const loopback = { networks: [{ address: '127.0.0.1', prefix: 32 }], hosts: [] };

/** Speaks for a second, listens, and hangs up after two. */
const talks: Callee = async (call, answer) => {
  call.ring();
  const phone = await answer();
  void phone.speak(tone(CALLEE_HERTZ, 8000));
  await sleep(2000);
  await call.hangUp();
};
const callees: Record<string, Callee> = {
  '+14155550111': talks,
  '+14155550112': (call) => call.reject(486),
  '+14155550113': (call) => call.reject(603),
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
  const body = { terminationUrl: `127.0.0.1:${carrier.port}`, callsPerSecond: 50 };
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
  const server: TestServer = await startTestServer({
    config: {
      sipHost: '127.0.0.1',
      sipPort: 0,
      sipAllowedAddresses: loopback,
      outboundAllowedAddresses: loopback,
      rtpPortMin: portMin,
      rtpPortMax: portMin + 199,
    },
  });
  const { client } = server;
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

  await arriving(server);
  await server.stop();
});

/** Somebody calls our number from the trunk's address, and somebody else from elsewhere. */
async function arriving({ client }: TestServer): Promise<void> {
  const sip = carrier.calls[0]!.call.source;
  const phone = await startPeer(9);
  const session = new SdpSession({ address: '127.0.0.1', port: phone.port, codecs: ['PCMA'] });
  const invite = {
    to: `sip:${FROM}@127.0.0.1:${sip.port}`,
    from: '<sip:+14155550177@carrier.example>',
    targets: [sip],
    sdp: session.offer(),
  };
  const stranger = await createUserAgent({ host: '127.0.0.2', port: 0, timers: { t1: 50 } });
  const ignored = stranger.invite(invite);
  expect(await ignored.ended).toMatchObject({ kind: 'silence', wasRinging: false });
  await stranger.stop(0);

  let answered = false;
  let call!: ReturnType<typeof carrier.userAgent.invite>;
  await until(async () => {
    // Until the server has learned whose address this is, nothing comes back.
    call = carrier.userAgent.invite({
      ...invite,
      onAnswered: () => {
        answered = true;
      },
      ringTimeoutMs: 3000,
    });
    await Promise.race([call.ended, sleep(3000)]);
    return answered;
  });
  const inbound = async () => (await client.GET('/v1/calls')).data!.items.find((each) => each.direction === 'inbound');
  await until(async () => (await inbound())?.status === 'in_progress');
  expect(await inbound()).toMatchObject({ fromNumber: '+14155550177', toNumber: FROM, simulated: false });
  const closed = await client.POST('/v1/calls/{roomId}/end', {
    params: { path: { roomId: (await inbound())!.roomId } },
  });
  expect(closed.error).toBeUndefined();
  expect(await call.ended).toMatchObject({ kind: 'hung_up', by: 'remote' });
  await until(async () => (await inbound())?.endedAt !== undefined);
  expect(await inbound()).toMatchObject({ outcome: 'answered', endedBy: 'service', codec: 'PCMA' });
  phone.close();
}

test('calls of a server that was killed are hung up by another one, and nobody is called again', async () => {
  const fresh = await freshDatabase();
  const apiKey = newKey('test');
  const folder = await mkdtemp(join(tmpdir(), 'sip-crash-'));
  const start = (name: string, portMin: number) =>
    startServerProcess({
      ...{ DATABASE_URL: fresh.connection.connectionString, DATA_DIR: join(folder, name), BOOTSTRAP_API_KEY: apiKey },
      ...{ ENCRYPTION_KEY: '0'.repeat(64), LEASE_SECONDS: '2', SIP_HOST: '127.0.0.1', SIP_PORT: '0' },
      ...{ SIP_ALLOWED_ADDRESSES: '127.0.0.1', OUTBOUND_ALLOWED_ADDRESSES: '127.0.0.1', LOG_LEVEL: 'error' },
      ...{ RTP_PORT_MIN: String(portMin), RTP_PORT_MAX: String(portMin + 99) },
    });
  const first = await start('one', 40_000);
  const second = await start('two', 40_200);
  const before = carrier.calls.length;
  const clientOf = ({ url }: { url: string }) => createClient({ baseUrl: url, apiKey, maxRetries: 0 });
  const agentId = await connect(clientOf(first));
  const callees = Array.from({ length: 8 }, (_, index) => `+1415555${String(200 + index).padStart(4, '0')}`);
  for (const number of callees) carrierTalks(number);
  const listed = await dial(clientOf(second), agentId, callees);
  await until(async () => (await listed()).filter(({ status }) => status === 'in_progress').length === callees.length);
  // Whichever of the two holds them.
  await first.kill();
  const third = await start('three', 40_400);
  await second.kill();
  const after = clientOf(third);
  await until(async () => {
    const { data } = await after.GET('/v1/calls', { params: { query: { perPage: 100 } } });
    return data!.items.length === callees.length && data!.items.every(({ endedAt }) => endedAt !== undefined);
  });
  const { data } = await after.GET('/v1/calls', { params: { query: { perPage: 100 } } });
  expect(data!.items.map(({ outcome }) => outcome)).toEqual(callees.map(() => 'answered'));
  const placed = carrier.calls.slice(before);
  expect(placed).toHaveLength(callees.length);
  for (const { call } of placed) expect(await call.ended).toMatchObject({ kind: 'hung_up', by: 'remote' });
  await third.kill();
  await rm(folder, { recursive: true, force: true });
  await fresh.drop();
});

/** A callee who talks until somebody hangs up. */
function carrierTalks(number: string): void {
  callees[number] = async (call, answer) => {
    call.ring();
    await answer();
  };
}
