import { createClient } from '@trunkline/client';
import { sql } from 'kysely';
import { expect } from 'vitest';
import { sayHello, startAgent } from '../lines/media/agent.ts';
import { startCarrier } from '../lines/telephony/carrier.ts';
import { startTestServer, type TestServer } from '../server.ts';
import { until } from '../until.ts';
import type { Cluster } from './cluster.ts';

const FROM = '+14155550100';
const RING_MS = 1000;
const CALLS_PER_SECOND = 5;
const loopback = { networks: [{ address: '127.0.0.0', prefix: 8 }], hosts: [] };

/** A campaign over SIP that runs on a cluster. The carrier's own record says who was rung. */
export interface RunningCampaign {
  server: TestServer;
  /** How many calls have come to the carrier. */
  rung(): number;
  /** Kills what it is told to, and waits until another machine is the primary and more calls come. @returns after how many seconds */
  goesOnAfter(killing: (primary: number) => Promise<void>, seconds: number): Promise<number>;
  /** Waits for the campaign's end: everybody was rung once, but for those whose call is told as unknown, and nothing is held. */
  expectWholeAndOnce(): Promise<void>;
  stop(): Promise<void>;
}

/** @param servers how many servers dial */
export async function startCampaign(cluster: Cluster, people: number, servers: number): Promise<RunningCampaign> {
  const carrier = await startCarrier(() => (call) => {
    call.ring();
    setTimeout(() => call.reject(486), RING_MS);
  });
  const agent = await startAgent(sayHello);
  const config = {
    ...{ sipHost: '127.0.0.1', sipPort: 0, sipAllowedAddresses: loopback, outboundAllowedAddresses: loopback },
    encryptionKey: Buffer.alloc(32),
  };
  const all = [await startTestServer({ connectionString: cluster.url, config })];
  const server = all[0]!;
  while (all.length < servers) {
    const { apiKey } = server;
    all.push(await startTestServer({ connectionString: cluster.url, apiKey, config }));
  }
  const client = createClient({ baseUrl: server.url, apiKey: server.apiKey });
  const { data: made } = await client.POST('/v1/agents', {
    body: { name: 'Anna', connection: { type: 'stream', url: agent.url } },
  });
  const { data: trunk } = await client.POST('/v1/telephony/trunks', {
    body: { terminationUrl: `127.0.0.1:${carrier.port}`, callsPerSecond: CALLS_PER_SECOND },
  });
  await client.POST('/v1/telephony/phone-numbers/import/manual', {
    body: { phoneNumbers: [FROM], trunkId: trunk!.id },
  });
  const numbers = Array.from({ length: people }, (_, at) => `+1415555${String(1000 + at)}`);
  const file = new Blob([`phone\n${numbers.join('\n')}\n`], { type: 'text/csv' });
  const { list } = await client.contactLists.upload({ name: 'People', fileName: 'people.csv', file });
  await client.contactLists.confirm(list.id);
  const { id } = await client.campaigns.create({
    name: 'On',
    agentId: made!.data.agent.id,
    fromNumber: FROM,
    lists: [{ id: list.id, role: 'contacts' }],
  });
  await client.campaigns.start(id);
  const rung = () => carrier.calls.length;
  return {
    server,
    rung,
    goesOnAfter: async (killing, seconds) => {
      const begun = rung();
      await until(() => rung() > begun + CALLS_PER_SECOND);
      const primaryBefore = await cluster.primary();
      await killing(primaryBefore);
      const killedAt = performance.now();
      const left = () => seconds - (performance.now() - killedAt) / 1000;
      await until(async () => (await cluster.primary()) !== primaryBefore, left());
      // What was committed before may still be on its way.
      const before = rung();
      await until(() => rung() > before + CALLS_PER_SECOND, left());
      return (performance.now() - killedAt) / 1000;
    },
    expectWholeAndOnce: async () => {
      await until(async () => {
        const { data } = await client.GET('/v1/calls/campaigns/{id}', { params: { path: { id } } });
        expect(data?.data.status).toBe('completed');
      }, 120);
      const users = carrier.calls.map(({ user }) => user);
      // A call whose last commit was cut off counts as placed, though its INVITE was never sent.
      const { rows: lost } = await server.database.inEngine(({ db }) =>
        sql<{ number: string }>`select '+' || to_number as number from calls where outcome = 'unknown'`.execute(db),
      );
      const unsent = lost.map(({ number }) => number).filter((number) => !users.includes(number));
      expect([...users, ...unsent].sort()).toEqual(numbers);
      const { rows } = await server.database.inEngine(({ db }) =>
        sql`select held_at, dialing_paused_at from installation, workspaces`.execute(db),
      );
      expect(rows).toEqual([{ held_at: null, dialing_paused_at: null }]);
    },
    stop: async () => {
      for (const each of all) await each.stop();
      await agent.stop();
      await carrier.stop();
    },
  };
}
