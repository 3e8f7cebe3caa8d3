import { setTimeout as sleep } from 'node:timers/promises';
import { type CallEnd, createUserAgent, type IncomingCall, SdpSession, type SipMessage } from '@trunkline/sip';
import { describe, expect, test } from 'vitest';
import { freePort } from '../../../../../packages/sip/test/peers/peer-process.ts';
import { type SessionStep, startSessionPeer } from '../../../../../packages/sip/test/peers/session-peer.ts';
import { sipp } from '../../../../../packages/sip/test/peers/sipp.ts';
import { addresses } from '../../../src/config-values.ts';
import { startTestServer } from '../../server.ts';
import { until } from '../../until.ts';
import { startAgent } from '../media/agent.ts';
import { msOf, tone } from '../media/tone.ts';

const SESSION_MS = 320_000;
const timeout = 480_000;

const times = (count: number, ...steps: SessionStep[]) => Array.from({ length: count }, () => steps).flat();
const sdp = () => new SdpSession({ address: '127.0.0.1', port: 9, codecs: ['PCMU'] }).offer();

/** A refresh is due after 45 s; who refreshes by themselves do it after 40. */
const bySteps = {
  'we refresh, by UPDATE': { refresher: 'us', steps: times(7, { take: 'UPDATE' }) },
  'we refresh, by re-INVITE': { refresher: 'us', steps: times(7, { take: 'INVITE' }) },
  'the peer refreshes, by UPDATE and re-INVITE': {
    refresher: 'peer',
    steps: times(4, { pause: 40_000 }, { send: 'UPDATE' }, { pause: 40_000 }, { send: 'INVITE' }),
  },
} as const;

describe.skipIf(!sipp)('sessions of 90 s over five minutes, which need sipp', () => {
  const cases = Object.keys(bySteps).flatMap((name) => [
    [name as keyof typeof bySteps, 'callee'] as const,
    [name as keyof typeof bySteps, 'caller'] as const,
  ]);

  test.concurrent.each(cases)('%s: we are the %s', { timeout }, async (name, role) => {
    const { refresher, steps } = bySteps[name];
    const refreshes: string[] = [];
    const note = (direction: string, message: SipMessage) => {
      if (message.kind === 'request' && ['INVITE', 'UPDATE'].includes(message.method)) refreshes.push(direction);
    };
    const arrived: IncomingCall[] = [];
    const agent = await createUserAgent({
      ...{ host: '127.0.0.1', port: 0, onMessage: note },
      onInvite: (call) => {
        arrived.push(call);
        call.answer(sdp());
      },
    });
    const began = performance.now();
    const calls = role === 'callee' ? { calls: agent.port } : {};
    const peer = await startSessionPeer({ steps: [...steps], refresher, ...calls });
    try {
      let end: CallEnd;
      if (role === 'caller') {
        const to = `sip:peer@127.0.0.1:${peer.port}`;
        end = await agent.invite({ to, from: 'sip:us@127.0.0.1', sdp: sdp(), onOffer: () => sdp() }).ended;
      } else {
        await until(() => arrived.length > 0);
        arrived[0]!.listen({ onOffer: () => sdp() });
        end = await arrived[0]!.ended;
      }
      const told = `${peer.output().slice(-2000)} ${JSON.stringify(end)}`;
      expect([told, end.kind, end.kind === 'hung_up' && end.by]).toEqual([told, 'hung_up', 'remote']);
      expect(performance.now() - began).toBeGreaterThan(SESSION_MS - 30_000);
      const [first, ...rest] = refreshes;
      expect(first).toBe(role === 'caller' ? 'sent' : 'received');
      expect(new Set(rest)).toEqual(new Set([refresher === 'us' ? 'sent' : 'received']));
      expect(rest.length).toBeGreaterThanOrEqual(7);
    } finally {
      await peer.stop();
      await agent.stop(0);
    }
  });
});

describe.skipIf(!sipp)('a hold, which needs sipp', () => {
  test.concurrent('a call that is held for a minute goes on, and is heard again', { timeout }, async () => {
    const steps: SessionStep[] = [
      { pause: 2000 },
      { send: 'INVITE', direction: 'sendonly' },
      { pause: 30_000 },
      { send: 'UPDATE' },
      { pause: 30_000 },
      { send: 'INVITE', direction: 'sendrecv' },
      { pause: 8000 },
    ];
    const peer = await startSessionPeer({ steps, refresher: 'us' });
    const agent = await startAgent();
    const rtpPortMin = await freePort();
    const loopback = addresses('127.0.0.1');
    const allowed = { sipAllowedAddresses: loopback, outboundAllowedAddresses: loopback };
    const ports = { sipPort: 0, rtpPortMin, rtpPortMax: rtpPortMin + 99 };
    const server = await startTestServer({ config: { sipHost: '127.0.0.1', ...ports, ...allowed } });
    try {
      const { client } = server;
      const connection = { type: 'stream' as const, url: agent.url };
      const agentId = (await client.POST('/v1/agents', { body: { name: 'Anna', connection } })).data!.data.agent.id;
      const trunk = { terminationUrl: `127.0.0.1:${peer.port}`, probe: 'none' as const };
      const trunkId = (await client.POST('/v1/telephony/trunks', { body: trunk })).data!.id;
      const numbers = { phoneNumbers: ['+14155550100'], trunkId };
      await client.POST('/v1/telephony/phone-numbers/import/manual', { body: numbers });
      const recipients = [{ phoneNumber: '+14155550120' }];
      const body = { agentId, fromNumber: '+14155550100', recipients };
      const { batchId } = (await client.POST('/v1/calls/batch', { body })).data!;
      const read = async () => (await client.GET('/v1/calls', { params: { query: { batchId } } })).data!.items[0]!;
      await until(() => agent.of('start').length > 0);
      agent.say(tone(1000, 8000));
      await until(() => msOf(1000, agent.sound()) > 500);
      await sleep(3000);
      const atHold = agent.sound().length;
      await sleep(58_000);
      expect(agent.connections[0]!.readyState).toBe(agent.connections[0]!.OPEN);
      expect(msOf(1000, agent.sound().subarray(atHold))).toBe(0);
      // Said once a second until it comes back: then the hold is over.
      await until(async () => {
        agent.say(tone(1000, 4000));
        await sleep(500);
        expect(msOf(1000, agent.sound().subarray(atHold))).toBeGreaterThan(500);
      });
      await until(async () => expect((await read()).endedAt).toBeDefined());
      expect(await read()).toMatchObject({ outcome: 'answered', endedBy: 'callee' });
    } finally {
      await server.stop();
      await Promise.all([agent.stop(), peer.stop()]);
    }
  });
});
