import type { components } from '@trunkline/client/schema';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Agent, startAgent } from '../media/agent.ts';
import { startTestServer, type TestServer } from '../server.ts';
import { type Carrier, startCarrier } from '../telephony/carrier.ts';
import { until } from '../until.ts';

const FROM = '+14155550100';
const PEOPLE = 240;
/** How many opt-outs are asked for at a time, and how far ahead of who rings. */
const AT_A_TIME = 8;
const AHEAD = 5;
/** Who answers the telephone, and who lets it ring for good; others have it ring for so long. */
const [TALKS, RINGS, RING_MS] = ['+14155559001', '+14155559000', 1000];
const loopback = { networks: [{ address: '127.0.0.0', prefix: 8 }], hosts: [] };
const numbers = Array.from({ length: PEOPLE }, (_, at) => `+1415555${String(1000 + at)}`);

/** Every other person, whose line is busy. */
const busy = new Set(numbers.filter((_, at) => at % 2 === 0));
/** When each number rang first, by the callee's own clock. */
const rangAt = new Map<string, number>();
let [carrier, agent, server]: [Carrier, Agent, TestServer] = [] as never;

beforeAll(async () => {
  carrier = await startCarrier((user) => {
    if (!rangAt.has(user)) rangAt.set(user, performance.now());
    return async (call, answer) => {
      if (busy.has(user)) return call.reject(486);
      call.ring();
      if (user === TALKS) await answer();
      else if (user !== RINGS) setTimeout(() => call.reject(480), RING_MS);
    };
  });
  agent = await startAgent();
  const rtpPortMin = 31_000 + 2 * Math.floor(Math.random() * 4000);
  server = await startTestServer({
    config: {
      ...{ drainSeconds: 0, sipHost: '127.0.0.1', sipPort: 0, rtpPortMin, rtpPortMax: rtpPortMin + 4 * PEOPLE },
      ...{ sipAllowedAddresses: loopback, outboundAllowedAddresses: loopback },
    },
  });
});
let agentId: string;
beforeAll(async () => {
  const { client } = server;
  const connection = { type: 'stream' as const, url: agent.url };
  agentId = (await client.POST('/v1/agents', { body: { name: 'Anna', connection } })).data!.data.agent.id;
  const trunk = { terminationUrl: `127.0.0.1:${carrier.port}`, callsPerSecond: 100, maxChannels: PEOPLE };
  const trunkId = (await client.POST('/v1/telephony/trunks', { body: trunk })).data!.id;
  await client.POST('/v1/telephony/phone-numbers/import/manual', { body: { phoneNumbers: [FROM], trunkId } });
});
afterAll(async () => {
  await server.stop();
  await agent.stop();
  await carrier.stop();
});

/** Calls some numbers. Answers the batch's ID. */
async function startBatch(phoneNumbers: string[]): Promise<string> {
  const recipients = phoneNumbers.map((phoneNumber) => ({ phoneNumber }));
  const body = { agentId, fromNumber: FROM, recipients };
  const { data, error } = await server.client.POST('/v1/calls/batch', { body });
  expect(error).toBeUndefined();
  return data!.batchId;
}

/** What has become of the people of a batch, by number. */
async function recipientsOf(batchId: string) {
  const found = new Map<string, components['schemas']['BatchRecipientState']>();
  for (let page = 1; ; page += 1) {
    const params = { path: { batchId }, query: { page, perPage: 100 } };
    const { data } = await server.client.GET('/v1/calls/batch/{batchId}/recipients', { params });
    for (const each of data!.items) found.set(each.phoneNumber, each);
    if (data!.items.length < 100) return found;
  }
}

const addDoNotCall = (phoneNumber: string, more: { endRinging?: boolean } = {}) =>
  server.client.POST('/v1/calls/do-not-call', { body: { phoneNumbers: [phoneNumber], ...more } });
const callsTo = async (phoneNumbers: string[]) =>
  server.database.inEngine(async ({ db }) =>
    db
      .selectFrom('calls')
      .select(['status', 'outcome', 'ended_by', 'ringing_at', 'ended_at'])
      .where('to_number', 'in', phoneNumbers.map(Number))
      .execute(),
  );

test('after the answer to an opt-out nobody is dialled, at the head of a running batch over SIP', async () => {
  const batchId = await startBatch(numbers);
  const answeredAt = new Map<string, number>();
  // Each other person is asked about as soon as somebody rings who comes right before: at the head of what is dialled.
  const queue = [...numbers.entries()].filter(([at]) => at % 2 === 1).values();
  const optOut = async (): Promise<void> => {
    for (const [at, number] of queue) {
      await until(() => at < AHEAD || rangAt.has(numbers[at - AHEAD]!));
      const { response } = await addDoNotCall(number);
      answeredAt.set(number, performance.now());
      expect(response.status).toBe(200);
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, optOut));
  await until(() => expect([...busy].filter((number) => !rangAt.has(number))).toEqual([]));
  const late = [...answeredAt].filter(([number, at]) => (rangAt.get(number) ?? 0) > at);
  expect(late).toEqual([]);
  // It was a race: some rang before, and were cancelled by us; others never rang.
  const calls = await callsTo(numbers);
  const cancelled = calls.filter(({ ringing_at, ended_by }) => ringing_at !== null && ended_by === 'service');
  expect(cancelled.length).toBeGreaterThan(0);
  expect(rangAt.size).toBeLessThan(PEOPLE);
  // Whoever asked before it was over with them is left out, and told so; what was tried is told as it was.
  await until(async () => {
    const { data } = await server.client.GET('/v1/calls/batch/{batchId}', { params: { path: { batchId } } });
    expect(data!.status).toBe('completed');
  });
  const people = await recipientsOf(batchId);
  for (const number of answeredAt.keys()) {
    const { state, reason, attempts, lastOutcome } = people.get(number)!;
    if (lastOutcome === 'no_answer') continue;
    expect({ number, state, reason }).toEqual({ number, state: 'skipped', reason: 'do_not_call' });
    if (rangAt.has(number)) expect({ attempts, lastOutcome }).toEqual({ attempts: 1, lastOutcome: 'cancelled' });
  }
});

test('a call that rings goes on if the request says so, and one that is up goes on always', async () => {
  const [ringing, talking] = [RINGS, TALKS];
  const batchId = await startBatch([ringing, talking]);
  await until(async () => {
    expect(await callsTo([ringing])).toMatchObject([{ status: 'ringing' }]);
    expect(await callsTo([talking])).toMatchObject([{ status: 'in_progress' }]);
  });
  for (const number of [ringing, talking]) await addDoNotCall(number, { endRinging: false });
  await addDoNotCall(talking);
  // Answered only once it has ended.
  await addDoNotCall(ringing);
  expect(await callsTo([ringing])).toMatchObject([{ status: 'cancelled', outcome: 'cancelled', ended_by: 'service' }]);
  expect(await callsTo([talking])).toMatchObject([{ status: 'in_progress', ended_at: null }]);
  const left = { state: 'skipped', reason: 'do_not_call', attempts: 1, lastOutcome: 'cancelled' };
  expect((await recipientsOf(batchId)).get(ringing)).toMatchObject(left);
  const { data } = await server.client.GET('/v1/calls/batch/{batchId}', { params: { path: { batchId } } });
  expect(data!.stats).toMatchObject({ skipped: 1, done: 0, dialing: 1, attempts: 2, outcomes: { cancelled: 1 } });
});
