import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { components } from '@trunkline/client/schema';
import { sql } from 'kysely';
import { expect } from 'vitest';
import type { WebSocket } from 'ws';
import { createAuthority } from '../../../../../packages/sip/test/certificates.ts';
import { type Kamailio, kamailio, startKamailio } from '../../../../../packages/sip/test/peers/kamailio.ts';
import { freePort } from '../../../../../packages/sip/test/peers/peer-process.ts';
import { type LoggedMessage, sipp, startSipp } from '../../../../../packages/sip/test/peers/sipp.ts';
import { addresses } from '../../../src/config-values.ts';
import { toId } from '../../../src/foundation/values/ids.ts';
import { seedList } from '../../seed/list.ts';
import { startTestServer, type TestServer } from '../../server.ts';
import { until } from '../../until.ts';
import { type Agent, startAgent } from '../media/agent.ts';
import { sidesOf } from '../media/sides.ts';
import { msOf, tone } from '../media/tone.ts';
import { answersOf, byCall, dialled, isBye, liveIn } from './sip-log.ts';

type CreateTrunk = components['schemas']['CreateTrunk'];

const authority = createAuthority();
export const hasCarrier = Boolean(kamailio && sipp && authority);

/** What callees come to, by the last two digits of their numbers. */
const ends = {
  '00': ['answered', 'agent'],
  '11': ['answered', 'callee'],
  '86': ['busy', 'callee', 486, 'Busy Here'],
  '03': ['declined', 'callee', 603, 'Decline'],
  '04': ['invalid_number', 'callee', 404, 'Not Found'],
  '08': ['no_answer', 'service', 487],
  // It answers when we have given up: the answer crosses our CANCEL.
  '09': ['no_answer', 'service', 200],
} as const;

export interface RealCampaign {
  /** How many callees there are of each kind. */
  callees: Record<keyof typeof ends, number>;
  /** Of each trunk. */
  pace: { maxChannels: number; callsPerSecond: number };
}

/** What the callees play who play something, and what the agent says to a number: each another tone. */
const CALLEE_HERTZ = 450;
const agentHertz = (number: string) => 600 + 50 * (Math.floor(Number(number.slice(-4)) / 100) % 40);
/** For how long they do. */
const AGENT_MS = 500;
const HEARD_MS = 300;
/** Callees who echo; the agent ends their calls. */
const AGENT_ENDS = '00';

/** So late a call may leave on a busy machine: those after it seem to come too soon. */
const LATE_SECONDS = 0.5;

const digitsOf = (number: number) => String(number).slice(-2) as keyof typeof ends;

/**
 * Runs a campaign over a pool of three trunks: one of TLS with a digest of SHA-256, one that is registered with, one
 * that is down. Then compares what we say of its calls with what the peers say, and listens to the recordings.
 */
export async function runRealCampaign({ callees, pace }: RealCampaign): Promise<void> {
  const numbers = Object.entries(callees)
    .flatMap(([digits, count]) => Array.from({ length: count }, (_, at) => 14_155_550_000 + 100 * at + Number(digits)))
    // One of each kind by turns, since ten wrong numbers in a row would pause their trunk.
    .sort((a, b) => a - b);
  const peers = await Promise.all([startSipp(), startSipp(tone(CALLEE_HERTZ, 8000))]);
  const [echoes, speakers] = peers;
  const carrier = await startKamailio(authority!.issue('IP:127.0.0.1'), echoes.port, speakers.port);
  const agent = await startAgent(speakToEach);
  const server = await startServer(carrier);
  try {
    const campaignId = await dial(server, { carrier, agent, numbers, pace });
    await expectRightOutcomes(server, campaignId, numbers);
    const messages = () => peers.flatMap((peer) => peer.messages());
    await until(() => expect(liveIn(messages())).toBe(0));
    expectRightMessages(messages(), numbers);
    expectRightPace(carrier, numbers, pace);
    await expectRightSound(server, campaignId);
  } finally {
    await server.stop();
    await Promise.all([agent.stop(), carrier.stop(), ...peers.map((peer) => peer.stop())]);
  }
}

/** Says each number its own tone, and hangs up when it was heard, but on those who hang up themselves. */
function speakToEach(socket: WebSocket): void {
  socket.on('message', (data) => {
    const { event, start } = JSON.parse(String(data));
    if (event !== 'start') return;
    // The test of the agent before the campaign starts says no number.
    const { to = '' } = start.customParameters;
    const payload = tone(agentHertz(to), 8 * AGENT_MS).toString('base64');
    socket.send(JSON.stringify({ event: 'media', media: { payload } }));
    if (to.endsWith(AGENT_ENDS)) setTimeout(() => socket.close(1000), 2 * AGENT_MS);
  });
}

async function startServer(carrier: Kamailio): Promise<TestServer> {
  const ca = path.join(carrier.folder, 'ca.pem');
  await writeFile(ca, authority!.ca);
  const loopback = addresses('127.0.0.1');
  const allowed = { sipAllowedAddresses: loopback, outboundAllowedAddresses: loopback };
  const rtpPortMin = await freePort();
  const ports = { sipPort: 0, rtpPortMin, rtpPortMax: rtpPortMin + 199 };
  return startTestServer({ config: { sipHost: '127.0.0.1', sipTlsCaFile: ca, ...ports, ...allowed } });
}

/** Calls all numbers. Resolves when the campaign is completed, to its ID. */
async function dial(
  { client, database }: TestServer,
  {
    carrier,
    agent,
    numbers,
    pace,
  }: { carrier: Kamailio; agent: Agent; numbers: number[] } & Pick<RealCampaign, 'pace'>,
): Promise<string> {
  const connection = { type: 'stream' as const, url: agent.url };
  const made = await client.POST('/v1/agents', { body: { name: 'Anna', connection } });
  const agentId = made.data!.data.agent.id;
  const numberOver = async (body: CreateTrunk, phoneNumber: string) => {
    const trunk = (await client.POST('/v1/telephony/trunks', { body: { ...pace, ...body } })).data!;
    const number = { phoneNumbers: [phoneNumber], trunkId: trunk.id, outboundAgentId: agentId };
    const imported = await client.POST('/v1/telephony/phone-numbers/import/manual', { body: number });
    return { trunk, id: imported.data!.imported[0]!.id };
  };
  const known = (username: string) => ({ username, password: 'secret', fromUser: username });
  const terminationUrl = (port: number) => ({ terminationUrl: `127.0.0.1:${port}` });
  const lines = await Promise.all([
    numberOver(
      { ...terminationUrl(carrier.tlsPort), ...known('alice'), transport: 'tls', probe: 'register' },
      '+12125550101',
    ),
    numberOver(
      { ...terminationUrl(carrier.udpPort), ...known('bob'), transport: 'udp', register: true },
      '+12125550102',
    ),
    numberOver({ ...terminationUrl(await freePort()), transport: 'tcp' }, '+12125550103'),
  ]);
  const read = (trunkId: string) => client.GET('/v1/telephony/trunks/{trunkId}', { params: { path: { trunkId } } });
  const states = async () =>
    (await Promise.all(lines.map(({ trunk }) => read(trunk.id)))).map(
      ({ data }) => data!.reason ?? data!.registration?.status ?? data!.status,
    );
  await until(async () => expect(await states()).toEqual(['active', 'registered', 'unreachable']));
  const phoneNumberIds = lines.map(({ id }) => id);
  const pool = (await client.POST('/v1/number-pools', { body: { name: 'Pool', phoneNumberIds } })).data!;
  const { rows } = await database.inEngine(({ db }) => sql<{ id: string }>`select id from workspaces`.execute(db));
  const people = numbers.map((phone_number) => ({ phone_number }));
  const list = toId('list', await seedList(database, rows[0]!.id, people));
  const body = {
    ...{ name: 'Reminders', agentId, numberPoolId: pool.data.id, lists: [{ id: list, role: 'contacts' as const }] },
    ...{ ringTimeoutSeconds: 5, retryPolicy: [], maxConcurrency: 20, recording: true },
  };
  const { id } = (await client.POST('/v1/calls/campaigns', { body })).data!.data;
  const params = { path: { id } };
  expect((await client.POST('/v1/calls/campaigns/{id}/start', { params })).error).toBeUndefined();
  await until(async () => {
    const { data } = await client.GET('/v1/calls/campaigns/{id}', { params });
    return data!.data.status === 'completed';
  }, 120);
  return id;
}

const callsOf = async ({ client }: TestServer, campaignId: string) => {
  const calls = [];
  for (let page = 1; ; page += 1) {
    const { data } = await client.GET('/v1/calls', { params: { query: { campaignId, page, perPage: 100 } } });
    calls.push(...data!.items);
    if (data!.items.length < 100) return calls;
  }
};

/** Every contact was called once, and each outcome and reason is the one that the callee has caused. */
async function expectRightOutcomes(server: TestServer, campaignId: string, numbers: number[]): Promise<void> {
  const said = (await callsOf(server, campaignId)).map(({ toNumber, outcome, endedBy, sipStatus, sipReason }) =>
    [toNumber, outcome, endedBy, sipStatus, sipReason].filter((each) => each !== undefined).join(' '),
  );
  const expected = numbers.map((number) => [`+${number}`, ...ends[digitsOf(number)]].join(' '));
  expect(said.sort()).toEqual(expected.sort());
}

/** Each number got one INVITE, each INVITE one final answer, each 200 an ACK and a BYE. */
function expectRightMessages(said: LoggedMessage[], numbers: number[]): void {
  const log = byCall(said);
  expect([...log.values()].map(dialled).sort()).toEqual(numbers.map((number) => `+${number}`).sort());
  for (const messages of log.values()) {
    const answers = answersOf(messages);
    expect(answers).toHaveLength(1);
    if (answers[0] !== '200') continue;
    expect(messages.filter(({ start }) => start.startsWith('ACK'))).not.toEqual([]);
    expect(messages.filter(isBye)).not.toEqual([]);
  }
}

/** By the carrier's own count, neither trunk had more calls up, or more in a second, than it may. */
function expectRightPace(carrier: Kamailio, numbers: number[], { maxChannels, callsPerSecond }: RealCampaign['pace']) {
  const counted = carrier.counted();
  expect(counted).toHaveLength(numbers.length);
  for (const caller of ['alice', 'bob']) {
    const calls = counted.filter((each) => each.caller === caller).sort((a, b) => a.at - b.at);
    expect(calls.length).toBeGreaterThan(numbers.length / 5);
    expect(Math.max(...calls.map(({ up }) => up))).toBeLessThanOrEqual(maxChannels);
    for (const [first, { at }] of calls.entries())
      for (const [more, later] of calls.slice(first + 1).entries())
        expect(more + 1).toBeLessThanOrEqual(callsPerSecond * (later.at - at + LATE_SECONDS));
  }
}

/** Agents have said their tone and no other; callees who echo were heard with that tone, others with their own. */
async function expectRightSound(server: TestServer, campaignId: string): Promise<void> {
  const { client } = server;
  for (const { roomId, toNumber, outcome } of await callsOf(server, campaignId)) {
    if (outcome !== 'answered') continue;
    const params = { path: { roomId } };
    const read = async () => (await client.GET('/v1/calls/{roomId}', { params })).data!.recording;
    await until(async () => expect(await read()).toMatchObject({ status: 'stored' }));
    const file = await fetch((await read())!.url!);
    const [callee, agent] = sidesOf(Buffer.from(await file.arrayBuffer()));
    const said = agentHertz(toNumber!);
    const [heard, other] = toNumber!.endsWith(AGENT_ENDS) ? [said, CALLEE_HERTZ] : [CALLEE_HERTZ, said];
    const ms = { said: msOf(said, agent), heard: msOf(heard, callee), other: msOf(other, callee) };
    expect([toNumber, ms.said > HEARD_MS, ms.heard > HEARD_MS, ms.other]).toEqual([toNumber, true, true, 0]);
  }
}
