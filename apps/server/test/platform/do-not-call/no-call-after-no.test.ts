import type { components } from '@trunkline/client/schema';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../../until.ts';
import { type Callees, RINGS, startCallees, TALKS } from './callees.ts';

/** Of whom half opt out. */
const PEOPLE = 300;

let callees: Callees;
beforeAll(async () => {
  callees = await startCallees(PEOPLE);
});
afterAll(() => callees.stop());

/** Calls some numbers. Answers the batch's ID. */
async function startBatch(phoneNumbers: readonly string[]): Promise<string> {
  const body = {
    ...callees.caller,
    recipients: phoneNumbers.map((phoneNumber) => ({ phoneNumber })),
    maxConcurrency: 100,
  };
  const { data, error } = await callees.server.client.POST('/v1/calls/batch', { body });
  expect(error).toBeUndefined();
  return data!.batchId;
}

/** What has become of the people of a batch, by number. */
async function recipientsOf(batchId: string) {
  const found = new Map<string, components['schemas']['BatchRecipientState']>();
  for (let page = 1; ; page += 1) {
    const params = { path: { batchId }, query: { page, perPage: 100 } };
    const { data } = await callees.server.client.GET('/v1/calls/batch/{batchId}/recipients', { params });
    for (const each of data!.items) found.set(each.phoneNumber, each);
    if (data!.items.length < 100) return found;
  }
}

const callsTo = async (phoneNumbers: readonly string[]) =>
  callees.server.database.inEngine(async ({ db }) =>
    db
      .selectFrom('calls')
      .select(['status', 'outcome', 'ended_by', 'ringing_at', 'ended_at'])
      .where('to_number', 'in', phoneNumbers.map(Number))
      .execute(),
  );

test('after the answer to an opt-out nobody is dialled, at the head of a running batch over SIP', async () => {
  const { numbers, rangAt, server } = callees;
  const batchId = await startBatch(numbers);
  const answeredAt = await callees.optOutAtHead();
  expect(answeredAt.size).toBe(PEOPLE / 2);
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
  for (const number of [ringing, talking]) await callees.addDoNotCall(number, { endRinging: false });
  await callees.addDoNotCall(talking);
  // Answered only once it has ended.
  await callees.addDoNotCall(ringing);
  expect(await callsTo([ringing])).toMatchObject([{ status: 'cancelled', outcome: 'cancelled', ended_by: 'service' }]);
  expect(await callsTo([talking])).toMatchObject([{ status: 'in_progress', ended_at: null }]);
  const left = { state: 'skipped', reason: 'do_not_call', attempts: 1, lastOutcome: 'cancelled' };
  expect((await recipientsOf(batchId)).get(ringing)).toMatchObject(left);
  const { data } = await callees.server.client.GET('/v1/calls/batch/{batchId}', { params: { path: { batchId } } });
  expect(data!.stats).toMatchObject({ skipped: 1, done: 0, dialing: 1, attempts: 2, outcomes: { cancelled: 1 } });
});
