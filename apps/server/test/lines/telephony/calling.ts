import type { Config } from '../../../src/config.ts';
import { startTestServer, type TestServer } from '../../server.ts';
import { until } from '../../until.ts';
import { type Callee, type Carrier, startCarrier } from './carrier.ts';

export const FROM = '+14155550100';

/** A server that calls over SIP, and the carrier behind which the callees are. */
export interface Calling extends AsyncDisposable {
  server: TestServer;
  carrier: Carrier;
  /** Makes an agent. @returns its ID */
  agentAt(url: string): Promise<string>;
  /** Calls somebody. @returns what reads the call once it is over */
  call(agentId: string, toNumber: string): Promise<() => Promise<CallOver>>;
}

type CallOver = Awaited<ReturnType<typeof readCall>>;

async function readCall(server: TestServer, roomId: string) {
  return (await server.client.GET('/v1/calls/{roomId}', { params: { path: { roomId } } })).data!;
}

/**
 * @param also an address, beside those of loopback, at which an agent may be
 * @param more settings of the server
 * @param named the name of the trunk, if it is not the carrier's address, and who knows it
 */
export async function startCalling(
  callee: Callee,
  also?: string,
  named?: { terminationUrl: string; nameServer: string },
  more: Partial<Config> = {},
): Promise<Calling> {
  const networks = [{ address: '127.0.0.0', prefix: 8 }, ...(also ? [{ address: also, prefix: 32 }] : [])];
  const allowed = { networks, hosts: [] };
  const carrier = await startCarrier(() => callee);
  const rtpPortMin = 31_000 + 2 * Math.floor(Math.random() * 4000);
  const server = await startTestServer({
    ...(named && { nameServers: [named.nameServer] }),
    config: {
      ...{ drainSeconds: 0, sipHost: '127.0.0.1', sipPort: 0, rtpPortMin, rtpPortMax: rtpPortMin + 399 },
      ...{ sipAllowedAddresses: allowed, outboundAllowedAddresses: allowed, ...more },
    },
  });
  const { client } = server;
  const terminationUrl = named?.terminationUrl ?? `127.0.0.1:${carrier.port}`;
  const trunk = await client.POST('/v1/telephony/trunks', { body: { terminationUrl } });
  const numbers = { phoneNumbers: [FROM], trunkId: trunk.data!.id };
  await client.POST('/v1/telephony/phone-numbers/import/manual', { body: numbers });
  return {
    server,
    carrier,
    agentAt: async (url) => {
      const made = await client.POST('/v1/agents', { body: { name: 'Anna', connection: { type: 'stream', url } } });
      return made.data!.data.agent.id;
    },
    call: async (agentId, toNumber) => {
      const { data } = await client.POST('/v1/calls', { body: { agentId, fromNumber: FROM, toNumber } });
      const read = () => readCall(server, data!.roomId);
      return async () => {
        await until(async () => (await read()).endedAt !== undefined);
        return read();
      };
    },
    [Symbol.asyncDispose]: async () => {
      await server.stop();
      await carrier.stop();
    },
  };
}
