import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { components } from '@trunkline/client/schema';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAuthority } from '../../../../packages/sip/test/certificates.ts';
import { type Kamailio, kamailio, startKamailio } from '../../../../packages/sip/test/peers/kamailio.ts';
import { freePort } from '../../../../packages/sip/test/peers/peer-process.ts';
import { type LoggedMessage, type Sipp, sipp, startSipp } from '../../../../packages/sip/test/peers/sipp.ts';
import { addresses } from '../../src/config-values.ts';
import { fromId, toId } from '../../src/ids.ts';
import { type Agent, startAgent } from '../media/agent.ts';
import { seedList } from '../seed/list.ts';
import { startTestServer, type TestServer } from '../server.ts';
import { until } from '../until.ts';

type CreateTrunk = components['schemas']['CreateTrunk'];

const authority = createAuthority();

/** What callees come to, by the last two digits of their numbers, and how many there are of each. */
const callees = {
  '00': { count: 9, end: ['answered', 'agent'] },
  '02': { count: 5, end: ['answered', 'callee'] },
  '86': { count: 5, end: ['busy', 'callee', 486, 'Busy Here'] },
  '03': { count: 4, end: ['declined', 'callee', 603, 'Decline'] },
  '04': { count: 4, end: ['invalid_number', 'callee', 404, 'Not Found'] },
  '08': { count: 3, end: ['no_answer', 'service', 487] },
} as const;
const numbers = Object.entries(callees).flatMap(([digits, { count }]) =>
  Array.from({ length: count }, (_, at) => 14_155_550_000 + 100 * at + Number(digits)),
);
const pace = { maxChannels: 4, callsPerSecond: 5 };

describe.skipIf(!kamailio || !sipp || !authority)(
  'a campaign over a real carrier, which needs kamailio and sipp',
  () => {
    let behindTls: Sipp;
    let plain: Sipp;
    let carrier: Kamailio;
    let agent: Agent;
    let server: TestServer;
    beforeAll(async () => {
      [behindTls, plain] = await Promise.all([startSipp(), startSipp()]);
      carrier = await startKamailio(authority!.issue('IP:127.0.0.1'), behindTls.port);
      agent = await startAgent((socket) => void setTimeout(() => socket.close(1000), 800));
      const ca = path.join(carrier.folder, 'ca.pem');
      await writeFile(ca, authority!.ca);
      const loopback = addresses('127.0.0.1');
      const allowed = { sipAllowedAddresses: loopback, outboundAllowedAddresses: loopback };
      const rtpPortMin = await freePort();
      const ports = { sipPort: 0, rtpPortMin, rtpPortMax: rtpPortMin + 199 };
      server = await startTestServer({ config: { sipHost: '127.0.0.1', sipTlsCaFile: ca, ...ports, ...allowed } });
    });
    afterAll(async () => {
      await server?.stop();
      await Promise.all([agent?.stop(), carrier?.stop(), behindTls?.stop(), plain?.stop()]);
    });

    /** A trunk with a number. */
    async function numberOver(body: CreateTrunk, phoneNumber: string, agentId: string) {
      const trunk = (await server.client.POST('/v1/telephony/trunks', { body: { ...pace, ...body } })).data!;
      const number = { phoneNumbers: [phoneNumber], trunkId: trunk.id, outboundAgentId: agentId };
      const imported = await server.client.POST('/v1/telephony/phone-numbers/import/manual', { body: number });
      return { trunk, id: imported.data!.imported[0]!.id };
    }

    async function start() {
      const { client, database } = server;
      const connection = { type: 'stream' as const, url: agent.url };
      const made = await client.POST('/v1/agents', { body: { name: 'Anna', connection } });
      const agentId = made.data!.data.agent.id;
      const overTls = {
        transport: 'tls',
        probe: 'register',
        username: 'alice',
        password: 'secret',
        fromUser: 'alice',
      } as const;
      const lines = await Promise.all([
        numberOver({ terminationUrl: `127.0.0.1:${carrier.tlsPort}`, ...overTls }, '+12125550101', agentId),
        numberOver({ terminationUrl: `127.0.0.1:${plain.port}`, transport: 'udp' }, '+12125550102', agentId),
        numberOver({ terminationUrl: `127.0.0.1:${await freePort()}`, transport: 'tcp' }, '+12125550103', agentId),
      ]);
      const read = (id: string) => client.GET('/v1/telephony/trunks/{id}', { params: { path: { id } } });
      const states = async () =>
        (await Promise.all(lines.map(({ trunk }) => read(trunk.id)))).map(({ data }) => data!.reason ?? data!.status);
      await until(async () => expect(await states()).toEqual(['active', 'active', 'unreachable']));
      const phoneNumberIds = lines.map(({ id }) => id);
      const pool = (await client.POST('/v1/number-pools', { body: { name: 'Pool', phoneNumberIds } })).data!;
      const { rows } = await database.inEngine(({ db }) => sql<{ id: string }>`select id from workspaces`.execute(db));
      const people = numbers.map((phone_number) => ({ phone_number }));
      const list = toId('list', await seedList(database, rows[0]!.id, people));
      const body = {
        ...{ name: 'Reminders', agentId, numberPoolId: pool.data.id, lists: [{ id: list, role: 'contacts' as const }] },
        ...{ ringTimeoutSeconds: 5, retryPolicy: [], maxConcurrency: 20 },
      };
      const { id } = (await client.POST('/v1/calls/campaigns', { body })).data!.data;
      const params = { path: { id } };
      expect((await client.POST('/v1/calls/campaigns/{id}/start', { params })).error).toBeUndefined();
      await until(async () => {
        const { data } = await client.GET('/v1/calls/campaigns/{id}', { params });
        return data!.data.status === 'completed';
      }, 90);
      return fromId(id);
    }

    test('every contact is called once, and every outcome is what the peers have logged', async () => {
      const campaignId = await start();
      const { rows: calls } = await server.database.inEngine(({ db }) =>
        sql<{ said: unknown[] }>`
        select array_to_json(array_remove(array[to_number::text, outcome, ended_by, sip_status::text, sip_reason], null)) as said
        from calls where campaign_id = ${campaignId}`.execute(db),
      );
      const expected = numbers.map((number) => [number, ...callees[digitsOf(number)].end].map(String));
      const found = calls.map(({ said }) => said);
      expect(found.sort()).toEqual(expected.sort());

      await until(() => expect(liveIn(behindTls) + liveIn(plain)).toBe(0));
      const logs = [behindTls, plain].map(({ messages }) => byCall(messages()));
      expect(logs.flatMap((log) => [...log.values()].map(dialled)).sort()).toEqual(
        numbers.map((number) => `+${number}`).sort(),
      );
      for (const log of logs) {
        expect(log.size).toBeGreaterThan(0);
        for (const messages of log.values()) {
          expect(finalAnswers(messages)).toHaveLength(1);
          if (finalAnswers(messages)[0] === '200') expect(messages.filter(isBye)).not.toEqual([]);
        }
      }
      for (const peer of [behindTls, plain]) {
        expect(mostUp(peer.messages())).toBeLessThanOrEqual(pace.maxChannels);
        const begun = [...byCall(peer.messages()).values()].map(([invite]) => invite!.at);
        const seconds = (Math.max(...begun) - Math.min(...begun)) / 1000;
        expect(begun.length).toBeLessThanOrEqual(pace.callsPerSecond * (seconds + 1));
      }
    });
  },
);

const digitsOf = (number: number) => String(number).slice(-2) as keyof typeof callees;

/** The messages of calls by Call-ID, without probes. */
function byCall(messages: LoggedMessage[]): Map<string, LoggedMessage[]> {
  const calls = new Map<string, LoggedMessage[]>();
  for (const message of messages) {
    if (message.start.startsWith('INVITE') && !calls.has(message.callId)) calls.set(message.callId, []);
    calls.get(message.callId)?.push(message);
  }
  return calls;
}

const dialled = ([invite]: LoggedMessage[]) => /^INVITE sip:([^@]*)@/.exec(invite!.start)?.[1];
const isBye = ({ start }: LoggedMessage) => start.startsWith('BYE');
const isFinal = ({ start, cseq }: LoggedMessage) => /^SIP\/2.0 [2-6]/.test(start) && cseq.endsWith('INVITE');
const statusOf = ({ start }: LoggedMessage) => start.split(' ')[1]!;
const finalAnswers = (messages: LoggedMessage[]) => [...new Set(messages.filter(isFinal).map(statusOf))];

/** A call ends with a refusal, or with a BYE. */
const isEnd = (message: LoggedMessage) => isBye(message) || (isFinal(message) && statusOf(message) !== '200');

/** The most calls that were up at once, as the peer has seen them. */
function mostUp(messages: LoggedMessage[]): number {
  const up = new Set<string>();
  let most = 0;
  for (const message of messages) {
    const isFirst = message.start.startsWith('INVITE');
    if (isFirst && !messages.some((each) => each.callId === message.callId && isEnd(each) && each.at <= message.at))
      up.add(message.callId);
    if (isEnd(message)) up.delete(message.callId);
    most = Math.max(most, up.size);
  }
  return most;
}

const liveIn = (peer: Sipp) => [...byCall(peer.messages()).values()].filter((messages) => !messages.some(isEnd)).length;
