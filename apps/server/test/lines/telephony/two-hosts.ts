import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import { fromId, toId } from '../../../src/foundation/values/ids.ts';
import { startNameServer } from '../../fairness/name-server.ts';
import { seedList } from '../../seed/list.ts';
import { until } from '../../until.ts';
import { startAgent } from '../media/agent.ts';
import { tone } from '../media/tone.ts';
import { FROM, startCalling } from './calling.ts';
import { type Callee, startCarrier } from './carrier.ts';

const FIRST = 14_155_560_000;
export const CALLS_PER_SECOND = 20;

/** Rings, answers, says something, and hangs up. */
const talks: Callee = async (call, answer) => {
  call.ring();
  await sleep(50);
  const phone = await answer();
  await phone.speak(tone(400, 800));
  void call.hangUp();
};

/** A trunk whose name leads to two hosts of one carrier, and a campaign that is started by `start`. */
export async function twoHosts(people: number, first: Callee = talks) {
  const [one, other] = await Promise.all([startCarrier(() => first), startCarrier(() => talks)]);
  const names = await startNameServer({ 'one.carrier.test': '127.0.0.1', 'two.carrier.test': '127.0.0.1' }, 60, {
    '_sip._udp.carrier.test': [
      { name: 'one.carrier.test', port: one.port },
      { name: 'two.carrier.test', port: other.port },
    ],
  });
  const terminationUrl = 'carrier.test';
  const calling = await startCalling(talks, undefined, { terminationUrl, nameServer: names.address });
  const agent = await startAgent();
  onTestFinished(async () => {
    await calling[Symbol.asyncDispose]();
    await Promise.all([one.stop(), other.stop(), names.stop(), agent.stop()]);
  });
  const { client, database } = calling.server;
  const [trunk] = (await client.GET('/v1/telephony/trunks')).data!.items;
  const path = { trunkId: trunk!.id };
  await client.PATCH('/v1/telephony/trunks/{trunkId}', {
    params: { path },
    body: { callsPerSecond: CALLS_PER_SECOND },
  });
  const readTrunk = async () => (await client.GET('/v1/telephony/trunks')).data!.items[0]!;
  await until(async () => expect((await readTrunk()).status).toBe('active'), 20);
  const workspaceId = fromId((await client.GET('/v1/workspace')).data!.data.id);
  const agentId = await calling.agentAt(agent.url);
  // It was heard before: else three calls at most would ring.
  await database.inEngine(({ db }) =>
    db
      .insertInto('agent_health')
      .values({ workspace_id: workspaceId, agent_id: agentId, heard_at: new Date(Date.now() + 3_600_000) })
      .execute(),
  );
  const contacts = Array.from({ length: people }, (_, i) => ({ phone_number: FIRST + i }));
  const lists = [{ id: toId('list', await seedList(database, workspaceId, contacts)), role: 'contacts' as const }];
  const made = { name: 'People', agentId, fromNumber: FROM, lists, maxConcurrency: 45 };
  const { id } = (await client.POST('/v1/calls/campaigns', { body: made })).data!.data;
  const params = { path: { id } };
  const read = async () => (await client.GET('/v1/calls/campaigns/{id}/stats', { params })).data!.data;
  return {
    hosts: [one, other] as const,
    readTrunk,
    start: async () => {
      const started = await client.POST('/v1/calls/campaigns/{id}/start', {
        params: { ...params, query: { force: true } },
      });
      expect(started.error).toBeUndefined();
    },
    stats: read,
    /** Waits until only such calls are left that a dead host holds: those take as long as they may ring. */
    called: (most: number) =>
      until(async () => {
        const { done, dialing } = await read();
        return done + dialing === people && done >= people - most;
      }, 60),
    /** How many were rung more than once, by the carrier's own record. */
    rungTwice: () => {
      const users = [...one.calls, ...other.calls].map(({ user }) => user);
      return users.length - new Set(users).size;
    },
  };
}
