import type { IncomingCall } from '@trunkline/sip';
import { expect, test } from 'vitest';
import { fromId, toId } from '../../../src/foundation/values/ids.ts';
import { seedList } from '../../seed/list.ts';
import { until } from '../../until.ts';
import { sayHello, startAgent } from '../media/agent.ts';
import { FROM, startCalling } from './calling.ts';

const because = (cause: number): [string, string][] => [['Reason', `Q.850;cause=${cause};text="Why"`]];
const elsewhere: [string, string][] = [['Contact', '<sip:+14155550100@elsewhere.example:5070>']];

/** Answers that carriers give, and what each is to the one who was called. */
const answers: [status: number, headers: [string, string][], outcome: string, sipReason: string][] = [
  ...Array.from({ length: 4 }, (): (typeof answers)[number] => [503, because(1), 'invalid_number', 'Why']),
  [500, because(17), 'busy', 'Why'],
  [503, because(19), 'no_answer', 'Why'],
  [403, because(28), 'invalid_number', 'Why'],
  [480, because(21), 'declined', 'Why'],
  [404, because(38), 'trunk_error', 'Why'],
  [488, [], 'trunk_error', 'Not Acceptable Here'],
  [302, elsewhere, 'trunk_error', 'Unknown, to elsewhere.example:5070'],
];
const PEOPLE = 40;
const FIRST = 14_155_560_000;

test('each answer of a carrier is taken by its cause, rings once, and says nothing of the trunk if it tells of the callee', async () => {
  const agent = await startAgent(sayHello);
  const answer = (call: IncomingCall) => {
    const at = Number(/^sip:\+?(\d+)@/.exec(call.requestUri)![1]) - FIRST;
    const [status, headers] = answers[at] ?? [486, []];
    call.reject(status, { headers });
  };
  await using calling = await startCalling(answer);
  const { client, database } = calling.server;
  const [trunk] = (await client.GET('/v1/telephony/trunks')).data!.items;
  const pace = { params: { path: { trunkId: trunk!.id } }, body: { callsPerSecond: 40 } };
  expect((await client.PATCH('/v1/telephony/trunks/{trunkId}', pace)).error).toBeUndefined();
  const workspaceId = fromId((await client.GET('/v1/workspace')).data!.data.id);
  const people = Array.from({ length: PEOPLE }, (_, i) => ({ phone_number: FIRST + i }));
  const lists = [{ id: toId('list', await seedList(database, workspaceId, people)), role: 'contacts' as const }];
  const body = { name: 'People', agentId: await calling.agentAt(agent.url), fromNumber: FROM, lists };
  const { id } = (await client.POST('/v1/calls/campaigns', { body })).data!.data;
  const params = { path: { id } };
  expect((await client.POST('/v1/calls/campaigns/{id}/start', { params })).error).toBeUndefined();
  // Only whom the trunk failed waits to be called again.
  const isFault = ([, , outcome]: (typeof answers)[number]) => outcome === 'trunk_error';
  const query = { campaignId: id, perPage: 100 };
  const calls = async () => (await client.GET('/v1/calls', { params: { query } })).data!.items;
  await until(async () => (await calls()).filter(({ endedAt }) => endedAt).length === PEOPLE);
  expect(calling.carrier.calls).toHaveLength(PEOPLE);
  expect(new Set(calling.carrier.calls.map(({ user }) => user)).size).toBe(PEOPLE);
  const told = new Map((await calls()).map((call) => [call.toNumber, call]));
  for (const [at, [sipStatus, , outcome, sipReason]] of answers.entries())
    expect(told.get(`+${FIRST + at}`)).toMatchObject({ outcome, sipStatus, sipReason });
  const stats = (await client.GET('/v1/calls/campaigns/{id}/stats', { params })).data!.data;
  expect(stats).toMatchObject({ waiting: answers.filter(isFault).length });
  expect((await client.GET('/v1/telephony/trunks')).data!.items[0]!.status).toBe('active');
  await agent.stop();
});
