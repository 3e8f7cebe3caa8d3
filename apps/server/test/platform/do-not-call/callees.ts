import { type Agent, sayHello, startAgent } from '../../lines/media/agent.ts';
import { startCarrier } from '../../lines/telephony/carrier.ts';
import { seedHeardAgent } from '../../seed/agent.ts';
import { startTestServer, type TestServer } from '../../server.ts';
import { until } from '../../until.ts';

const FROM = '+14155550100';
/** Calls that are up at a time, at most. */
const CHANNELS = 240;
/** How many opt-outs are asked for at a time, and how far ahead of who rings. */
const AT_A_TIME = 8;
const AHEAD = 5;
/** Who answers the telephone, and who lets it ring for good; others have it ring for so long. */
export const [TALKS, RINGS] = ['+14155559001', '+14155559000'];
const RING_MS = 1000;
/** A call that fails on a busy machine is placed again a minute later. */
const LONGEST_SECONDS = 150;
const loopback = { networks: [{ address: '127.0.0.0', prefix: 8 }], hosts: [] };

/** A server with people behind a carrier over SIP, of whom every other one is busy. */
export interface Callees {
  server: TestServer;
  /** The people in the order in which they are called, in E.164. */
  numbers: readonly string[];
  /** When each number rang first, by the callee's own clock, in milliseconds. */
  rangAt: ReadonlyMap<string, number>;
  /** The agent, and the number that calls. */
  caller: { agentId: string; fromNumber: string };
  addDoNotCall: (phoneNumber: string, more?: { endRinging?: boolean }) => Promise<number>;
  /**
   * Has each person who is not busy opt out as soon as somebody rings who comes right before: at the head of what is dialled.
   * Resolves once all who are busy have rung, to when each opt-out was answered, by the same clock.
   */
  optOutAtHead: () => Promise<Map<string, number>>;
  stop: () => Promise<void>;
}

export async function startCallees(people: number): Promise<Callees> {
  const numbers = Array.from({ length: people }, (_, at) => `+1415555${String(1000 + at)}`);
  const busy = new Set(numbers.filter((_, at) => at % 2 === 0));
  const rangAt = new Map<string, number>();
  const places = new Map(numbers.map((number, at) => [number, at]));
  /** Who has rung that comes last. */
  let head = -1;
  const carrier = await startCarrier((user) => {
    if (!rangAt.has(user)) rangAt.set(user, performance.now());
    head = Math.max(head, places.get(user) ?? -1);
    return async (call, answer) => {
      if (busy.has(user)) return call.reject(486);
      call.ring();
      if (user === TALKS) await answer();
      else if (user !== RINGS) setTimeout(() => call.reject(480), RING_MS);
    };
  });
  const agent = await startAgent(sayHello);
  const rtpPortMin = 31_000 + 2 * Math.floor(Math.random() * 4000);
  const server = await startTestServer({
    config: {
      ...{ drainSeconds: 0, sipHost: '127.0.0.1', sipPort: 0, rtpPortMin, rtpPortMax: rtpPortMin + 4 * CHANNELS },
      ...{ sipAllowedAddresses: loopback, outboundAllowedAddresses: loopback },
    },
  });
  const agentId = await connect(server, agent, carrier.port);
  await seedHeardAgent(server.database, agentId);
  const addDoNotCall: Callees['addDoNotCall'] = async (phoneNumber, more = {}) => {
    const body = { phoneNumbers: [phoneNumber], ...more };
    return (await server.client.POST('/v1/calls/do-not-call', { body })).response.status;
  };
  return {
    server,
    numbers,
    rangAt,
    caller: { agentId, fromNumber: FROM },
    addDoNotCall,
    optOutAtHead: async () => {
      const answeredAt = new Map<string, number>();
      const queue = [...numbers.entries()].filter(([, number]) => !busy.has(number)).values();
      const optOut = async (): Promise<void> => {
        for (const [at, number] of queue) {
          await until(() => at <= head + AHEAD);
          if ((await addDoNotCall(number)) !== 200) throw new Error(`The opt-out of ${number} was refused.`);
          answeredAt.set(number, performance.now());
        }
      };
      await Promise.all(Array.from({ length: AT_A_TIME }, optOut));
      await until(() => [...busy].every((number) => rangAt.has(number)), LONGEST_SECONDS);
      return answeredAt;
    },
    stop: async () => {
      await server.stop();
      await agent.stop();
      await carrier.stop();
    },
  };
}

/** Makes the agent, the trunk and the number that calls. Answers the agent's ID. */
async function connect({ client }: TestServer, agent: Agent, port: number): Promise<string> {
  const connection = { type: 'stream' as const, url: agent.url };
  const { data } = await client.POST('/v1/agents', { body: { name: 'Anna', connection } });
  const trunk = { terminationUrl: `127.0.0.1:${port}`, callsPerSecond: 100, maxChannels: CHANNELS };
  const trunkId = (await client.POST('/v1/telephony/trunks', { body: trunk })).data!.id;
  await client.POST('/v1/telephony/phone-numbers/import/manual', { body: { phoneNumbers: [FROM], trunkId } });
  return data!.data.agent.id;
}
