import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from '../../until.ts';
import { type Callees, startCallees } from './callees.ts';

/** Of whom half opt out. */
const PEOPLE = 4000;
const AT_A_TIME = 1000;

let callees: Callees;
beforeAll(async () => {
  callees = await startCallees(PEOPLE);
});
afterAll(() => callees.stop());

test('of 2,000 opt-outs at the head of a running campaign over SIP none is dialled after its answer', {
  timeout: 300_000,
}, async () => {
  const { numbers, rangAt, caller, server } = callees;
  const { client } = server;
  const { data: list } = await client.POST('/v1/calls/contact-lists', { body: { name: 'People' } });
  const path = { id: list!.id };
  for (let at = 0; at < PEOPLE; at += AT_A_TIME) {
    const entries = numbers.slice(at, at + AT_A_TIME).map((phoneNumber) => ({ phoneNumber }));
    await client.POST('/v1/calls/contact-lists/{id}/entries', { params: { path }, body: { entries } });
  }
  const body = {
    name: 'Reminders',
    ...caller,
    lists: [{ id: path.id, role: 'contacts' as const }],
    maxConcurrency: 100,
  };
  const { data: campaign } = await client.POST('/v1/calls/campaigns', { body });
  const { id } = campaign!.data;
  const started = await client.POST('/v1/calls/campaigns/{id}/start', { params: { path: { id } } });
  expect(started.error).toBeUndefined();
  const answeredAt = await callees.optOutAtHead();
  expect(answeredAt.size).toBe(PEOPLE / 2);
  expect([...answeredAt].filter(([number, at]) => (rangAt.get(number) ?? 0) > at)).toEqual([]);
  await until(async () => {
    const { data } = await client.GET('/v1/calls/campaigns/{id}/stats', { params: { path: { id } } });
    const { done, skipped } = data!.data;
    expect(done + skipped).toBe(PEOPLE);
  }, 150);
});
