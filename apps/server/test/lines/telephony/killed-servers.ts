import type { TrunklineClient } from '@trunkline/client';
import { ULAW_SILENCE } from '@trunkline/media';
import { expect } from 'vitest';
import { fromId } from '../../../src/foundation/values/ids.ts';
import { countersOf } from '../../dialing/audit.ts';
import { withDatabase } from '../../foundation/database/own-database.ts';
import { until } from '../../until.ts';
import { sayHello, startAgent } from '../media/agent.ts';
import { type Callee, startCarrier } from './carrier.ts';
import { killableServers, RTP_PORTS } from './killable-servers.ts';

const FROM = '+14155550100';
/** A trunk gives out this many starts in a second: the calls that are placed as a server dies are a second's. */
const CALLS_PER_SECOND = 50;

export interface KilledServers {
  /** Calls that are up as the first server dies, that ring then, and that are being placed. */
  talking: number;
  ringing: number;
  placing: number;
  /** First port of RTP of three servers. */
  rtpPort: number;
}

/**
 * Kills a server with live calls, then the one that has taken them over: whichever holds them. The third must end what
 * is up, at the peer and in its records, and call nobody again.
 */
export const killServers = (options: KilledServers): Promise<void> =>
  withDatabase(async (database) => {
    const { talking, ringing, placing, rtpPort } = options;
    const talks: Callee = async (call, answer) => {
      call.ring();
      const phone = await answer();
      const speaking = setInterval(() => phone.send(Buffer.alloc(160, ULAW_SILENCE)), 1000);
      void call.ended.then(() => clearInterval(speaking));
    };
    const rings: Callee = (call) => call.ring();
    const isBusy: Callee = (call) => call.reject(486);
    let made = 0;
    const numbers = (count: number) => Array.from({ length: count }, () => `+1415555${String(1000 + made++)}`);
    const people = { talks: numbers(talking), rings: numbers(ringing), busy: numbers(placing) };
    const all = Object.values(people).flat();
    const carrier = await startCarrier({
      ...Object.fromEntries(people.talks.map((number) => [number, talks])),
      ...Object.fromEntries(people.rings.map((number) => [number, rings])),
      ...Object.fromEntries(people.busy.map((number) => [number, isBusy])),
    });
    const agent = await startAgent(sayHello);
    const { start, clientOf, clear } = await killableServers(database);
    const [first, second] = [await start('one', rtpPort), await start('two', rtpPort + RTP_PORTS)];
    try {
      const agentId = await connectNumber(clientOf(first), carrier.port, agent.url);
      const up = await dial(clientOf(second), agentId, [...people.talks, ...people.rings]);
      await until(async () => {
        const calls = await callsOf(clientOf(second), up);
        const count = (status: string) => calls.filter((call) => call.status === status).length;
        expect([count('in_progress'), count('ringing')]).toEqual([talking, ringing]);
      });
      const batches = [up];
      if (placing > 0) batches.push(await dial(clientOf(second), agentId, people.busy));
      await until(() => carrier.calls.length >= talking + ringing + placing / 4);
      await first.kill();
      const third = await start('three', rtpPort + 2 * RTP_PORTS);
      await second.kill();
      const after = clientOf(third);
      for (const batchId of batches) {
        await until(async () => {
          const open = (await callsOf(after, batchId)).filter(({ endedAt }) => endedAt === undefined);
          expect(open).toEqual([]);
        });
      }
      await until(async () => {
        const counters = await Promise.all(batches.map((id) => countersOf(database, fromId(id))));
        for (const { kept, counted } of counters) {
          expect(kept).toEqual(counted);
          expect(kept).toMatchObject({ pending: 0, waiting: 0, in_flight: 0 });
        }
      });
      expectEnded(await callsOf(after, up), people);

      // What the callees have seen is the judge: who rang, how often, and whether it is over.
      const rang = carrier.calls.map(({ user }) => user);
      expect(new Set(rang).size).toBe(rang.length);
      expect(all).toEqual(expect.arrayContaining(rang));
      for (const { user, call } of carrier.calls) {
        const end = await call.ended;
        if (people.talks.includes(user)) expect(end).toMatchObject({ kind: 'hung_up', by: 'remote' });
        else if (people.rings.includes(user)) expect(end).toMatchObject({ kind: 'cancelled', by: 'remote' });
      }
      await third.kill();
    } finally {
      await Promise.all([first.kill(), second.kill(), agent.stop(), carrier.stop()]);
      await clear();
    }
  });

/** A number on a trunk to the carrier, bound to an agent. */
export async function connectNumber(client: TrunklineClient, port: number, url: string): Promise<string> {
  await client.PATCH('/v1/workspace', { body: { quietHours: null } });
  const made = await client.POST('/v1/agents', { body: { name: 'Anna', connection: { type: 'stream', url } } });
  const body = { terminationUrl: `127.0.0.1:${port}`, callsPerSecond: CALLS_PER_SECOND };
  const trunkId = (await client.POST('/v1/telephony/trunks', { body })).data!.id;
  const number = { phoneNumbers: [FROM], trunkId };
  const imported = await client.POST('/v1/telephony/phone-numbers/import/manual', { body: number });
  expect(imported.data!.rejected).toEqual([]);
  return made.data!.data.agent.id;
}

async function dial(client: TrunklineClient, agentId: string, numbers: string[]): Promise<string> {
  const recipients = numbers.map((phoneNumber) => ({ phoneNumber }));
  const { data, error } = await client.POST('/v1/calls/batch', {
    body: { agentId, fromNumber: FROM, recipients, maxConcurrency: 100 },
  });
  if (!data) throw new Error(JSON.stringify(error));
  return data.batchId;
}

const callsOf = async (client: TrunklineClient, batchId: string) =>
  (await client.GET('/v1/calls', { params: { query: { batchId, perPage: 100 } } })).data!.items;

/**
 * Those who talked were answered, whatever came after. Those whose phones rang say that they know the call no more; where
 * a server died before it had kept that it rang, it is unknown.
 */
function expectEnded(calls: Awaited<ReturnType<typeof callsOf>>, people: { talks: string[]; rings: string[] }): void {
  const outcomes = (numbers: string[]) =>
    calls.filter(({ toNumber }) => numbers.includes(toNumber!)).map(({ outcome }) => outcome);
  expect(outcomes(people.talks)).toEqual(people.talks.map(() => 'answered'));
  const rang = outcomes(people.rings);
  for (const outcome of rang) expect(['cancelled', 'unknown']).toContain(outcome);
  if (rang.length > 0) expect(rang).toContain('cancelled');
}
