import { expect } from 'vitest';
import { freePort } from '../../../../../packages/sip/test/peers/peer-process.ts';
import { addresses } from '../../../src/config-values.ts';
import { startTestServer, type TestServer } from '../../server.ts';
import { until } from '../../until.ts';
import { type Agent, startAgent } from '../media/agent.ts';
import { tone } from '../media/tone.ts';
import { createNat, type Nat } from './nat.ts';

export const AGENT_HERTZ = 1000;

/** A server behind a NAT, and its agent, who says a tone. */
export interface BehindNat {
  nat: Nat;
  server: TestServer;
  agent: Agent;
  /** A trunk that is there, and a number over it; then calls from it. */
  over(terminationUrl: string, phoneNumber: string): Promise<(to: string) => Promise<() => Promise<Call>>>;
  stop(): Promise<void>;
}
type Call = NonNullable<Awaited<ReturnType<typeof listed>>>;

const listed = async (server: TestServer, batchId: string) =>
  (await server.client.GET('/v1/calls', { params: { query: { batchId } } })).data!.items[0];

export async function startBehindNat(): Promise<BehindNat> {
  const sipPort = await freePort();
  const nat = createNat(sipPort);
  const agent = await startAgent((socket) =>
    socket.on('message', (data) => {
      if (JSON.parse(String(data)).event === 'start') agent.say(tone(AGENT_HERTZ, 24_000));
    }),
  );
  const rtpPortMin = await freePort();
  const ports = { sipPort, rtpPortMin, rtpPortMax: rtpPortMin + 99 };
  const allowed = { sipAllowedAddresses: addresses(nat.all), outboundAllowedAddresses: addresses('127.0.0.1') };
  const server = await startTestServer({
    config: { sipHost: nat.own, sipPublicAddress: nat.public, ...ports, ...allowed },
  });
  const { client } = server;
  const connection = { type: 'stream' as const, url: agent.url };
  const agentId = (await client.POST('/v1/agents', { body: { name: 'Anna', connection } })).data!.data.agent.id;
  return {
    nat,
    server,
    agent,
    over: async (terminationUrl, phoneNumber) => {
      const { id } = (await client.POST('/v1/telephony/trunks', { body: { terminationUrl, callsPerSecond: 50 } }))
        .data!;
      const body = { phoneNumbers: [phoneNumber], trunkId: id };
      expect((await client.POST('/v1/telephony/phone-numbers/import/manual', { body })).data!.rejected).toEqual([]);
      await until(async () => {
        const { data } = await client.GET('/v1/telephony/trunks/{trunkId}', { params: { path: { trunkId: id } } });
        expect([data?.status, data?.reason]).toEqual(['active', undefined]);
      });
      return async (to) => {
        const recipients = [{ phoneNumber: to }];
        const placed = await client.POST('/v1/calls/batch', { body: { agentId, fromNumber: phoneNumber, recipients } });
        const { batchId } = placed.data!;
        await until(async () => (await listed(server, batchId)) !== undefined);
        return async () => (await listed(server, batchId))!;
      };
    },
    stop: async () => {
      await server.stop();
      await agent.stop();
      nat.remove();
    },
  };
}
