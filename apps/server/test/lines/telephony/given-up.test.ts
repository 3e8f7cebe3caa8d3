import { SdpSession } from '@trunkline/sip';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../../../../../packages/sip/test/peers/peer-process.ts';
import { newUuid } from '../../../src/foundation/values/ids.ts';
import type { CallEvent } from '../../../src/lines/telephony/call-gateway.ts';
import { type CallStore, postgresCallStore } from '../../../src/lines/telephony/sip/call-store.ts';
import type { SipGatewayOptions } from '../../../src/lines/telephony/sip/sip-gateway.ts';
import { seedRow } from '../../seed/rows.ts';
import { seedNumber, seedWorkspace } from '../../seed/workspace.ts';
import { unguarded } from '../../unguarded.ts';
import { until } from '../../until.ts';
import { startCarrier } from './carrier.ts';
import { byItself, callees, openSipGateways, type SipGateways, trunkTo } from './sip-gateways.ts';

let gateways: SipGateways;
beforeAll(async () => {
  gateways = await openSipGateways();
});
afterAll(() => gateways.close());

const numbers = { from: '+14155550100', to: '+14155550108' };
const limits = { ringTimeoutSeconds: 30, maxCallSeconds: 60, recording: false, owner: byItself };
const newCall = () => ({ ...numbers, workspaceId: newUuid(), roomId: newUuid(), attempt: 1 });

/** The ways to see that a server was given up: its lease has ended, or it has a new one by now. */
const ways = ['ended', 'anew'] as const;
function giveUpAfter(
  way: (typeof ways)[number],
  what: 'begin' | 'note',
): Pick<SipGatewayOptions, 'lease'> & { store: CallStore } {
  const store = postgresCallStore(gateways.database, unguarded(gateways.database));
  let [serverId, leftMs] = [newUuid(), 1000];
  const giveUp = <T>(result: T): T => {
    if (way === 'ended') leftMs = 0;
    else serverId = newUuid();
    return result;
  };
  const given: Partial<CallStore> = {
    [what]: async (call: Parameters<CallStore['begin']>[0]) => giveUp(await store[what](call)),
  };
  return { lease: { serverId: () => serverId, leftMs: () => leftMs }, store: { ...store, ...given } };
}

test.each(ways)(
  'a caller is turned away by a server that was given up before it answered him (lease %s)',
  async (way) => {
    const carrier = await startCarrier(callees);
    const [workspaceId, port] = [newUuid(), await freePort()];
    const settings = { host: '127.0.0.1', port, tls: {}, localNetworks: [], drainSeconds: 0, optionsSeconds: 30 };
    const trunk = { ...trunkTo(carrier.port), workspaceId, digestNumbers: [], alikeNumbers: [], headersToAgent: [] };
    const gateway = await gateways.gatewayFor(2, {
      ...giveUpAfter(way, 'begin'),
      settings,
      inbound: {
        trunks: async () => [trunk],
        trunk: async () => undefined,
        numbersOf: async (asked) => asked.map((number) => ({ number, workspaceId, trunkId: trunk.id })),
      },
    });
    const answer = { workspaceId, agentId: 'anna', maxCallSeconds: 60 };
    gateway.onInbound((call) => void gateway.answerInbound(call, { ...answer, roomId: newUuid() }));
    await gateway.start();
    const before = gateways.agent.connections.length;
    const call = () =>
      carrier.userAgent.invite({
        to: `sip:+14155550100@127.0.0.1:${port}`,
        from: '<sip:+14155550177@carrier.example>',
        targets: [{ address: '127.0.0.1', port, transport: 'udp' }],
        sdp: new SdpSession({ address: '127.0.0.1', port: 9, codecs: ['PCMU'] }).offer(),
        ringTimeoutMs: 3000,
      });
    // Until the server has learned whose address this is, nothing comes back.
    await until(async () => expect(await call().ended).toMatchObject({ kind: 'rejected', status: 503 }));
    // Its agent was there: the caller was turned away for no want of room.
    expect(gateways.agent.connections.length).toBeGreaterThan(before);
    await gateway.stop();
    await carrier.stop();
  },
);

test.each(ways)('what was kept and not sent by a server that was given up goes back (lease %s)', async (way) => {
  const carrier = await startCarrier(callees);
  const frozen = await gateways.gatewayFor(2, giveUpAfter(way, 'begin'));
  const other = await gateways.gatewayFor(2);
  for (const gateway of [frozen, other]) await gateway.start();
  const call = newCall();
  const terms = { ...limits, agentId: 'anna', trunk: trunkTo(carrier.port) };
  expect(await frozen.placeCall({ ...call, ...terms })).toMatchObject({ status: 'unknown' });
  const reference = { ...call, placedAt: new Date() };
  for (const gateway of [other, frozen])
    await until(async () => expect(await gateway.lookup(reference)).toEqual({ state: 'absent' }));
  expect(await other.placeCall({ ...call, ...terms, attempt: 2 })).toEqual({ status: 'accepted' });
  expect(carrier.calls).toHaveLength(1);
  for (const gateway of [frozen, other]) await gateway.stop();
  await carrier.stop();
});

test('a call whose callee has asked not to be called since its claim is not sent', async () => {
  const carrier = await startCarrier(callees);
  const gateway = await gateways.gatewayFor(4);
  await gateway.start();
  const { database } = gateways;
  const workspaceId = await seedWorkspace(database, { do_not_call_revision: 7 });
  const phoneNumberId = await seedNumber(database, workspaceId, '14155550100');
  const place = async (doNotCallRevision: number, ended: Date | null) => {
    const call = { ...newCall(), workspaceId };
    await seedRow(database, 'calls', {
      ...{ workspace_id: workspaceId, id: call.roomId, phone_number_id: phoneNumberId, status: 'dialing' },
      ...{ direction: 'outbound', to_number: 14_155_550_000 + carrier.calls.length + doNotCallRevision },
      end_requested_at: ended,
    });
    const given = { ...limits, agentId: 'anna', trunk: trunkTo(carrier.port), doNotCallRevision };
    return { call, result: await gateway.placeCall({ ...call, ...given }) };
  };
  const forbidden = await place(6, new Date());
  expect(forbidden.result).toMatchObject({ status: 'rejected', outcome: 'cancelled' });
  const reference = { ...forbidden.call, placedAt: new Date() };
  await until(async () => expect(await gateway.lookup(reference)).toEqual({ state: 'absent' }));
  expect(carrier.calls).toEqual([]);
  // Somebody else has: this call is not asked to end.
  expect((await place(5, null)).result).toEqual({ status: 'accepted' });
  expect(carrier.calls).toHaveLength(1);
  await gateway.stop();
  await carrier.stop();
});

const unknown = { type: 'ended', outcome: 'unknown', endedBy: 'error' } as const;

test('what another server has ended before it was sent stays as that one has ended it', async () => {
  const carrier = await startCarrier(callees);
  const { lease, store } = giveUpAfter('ended', 'begin');
  const begin: CallStore['begin'] = async (call) => {
    const isNew = await store.begin(call);
    await store.end({ ...unknown, roomId: call.roomId, at: new Date() });
    return isNew;
  };
  const frozen = await gateways.gatewayFor(2, { lease, store: { ...store, begin } });
  await frozen.start();
  const call = newCall();
  await frozen.placeCall({ ...call, ...limits, agentId: 'anna', trunk: trunkTo(carrier.port) });
  const reference = { ...call, placedAt: new Date() };
  await until(async () => expect(await frozen.lookup(reference)).toMatchObject({ state: 'ended', outcome: 'unknown' }));
  expect(carrier.calls).toEqual([]);
  await frozen.stop();
  await carrier.stop();
});

test.each([...ways, 'unseen'] as const)(
  'a challenge is not answered by a server that was given up (lease %s)',
  async (way) => {
    const challenge = 'Digest realm="carrier", nonce="once", algorithm=MD5';
    const carrier = await startCarrier(
      () => (call) => call.reject(407, { headers: [['Proxy-Authenticate', challenge]] }),
    );
    let given: Partial<SipGatewayOptions>;
    if (way === 'unseen') {
      // Another server has ended the call, however this one's lease looks.
      const store = postgresCallStore(gateways.database, unguarded(gateways.database));
      const note: CallStore['note'] = async (call) => {
        await store.end({ ...unknown, roomId: call.roomId, at: new Date() });
        return store.note(call);
      };
      given = { store: { ...store, note } };
    } else given = giveUpAfter(way, 'note');
    const frozen = await gateways.gatewayFor(2, given);
    const told: CallEvent[] = [];
    frozen.onEvents((events) => told.push(...events));
    await frozen.start();
    const trunk = { ...trunkTo(carrier.port), username: 'ada', password: 'secret' };
    await frozen.placeCall({ ...newCall(), ...limits, agentId: 'anna', trunk });
    await until(() => expect(told).toMatchObject([unknown]));
    expect(carrier.calls).toHaveLength(1);
    await frozen.stop();
    await carrier.stop();
  },
);

test('a call that its server has taken up again under a new lease is ended by that server alone', async () => {
  const carrier = await startCarrier(callees);
  const [before, now] = [newUuid(), newUuid()];
  let serverId = before;
  const holder = await gateways.gatewayFor(2, { lease: { serverId: () => serverId, leftMs: () => 1000 } });
  const other = await gateways.gatewayFor(2);
  for (const gateway of [holder, other]) await gateway.start();
  const call = newCall();
  await holder.placeCall({ ...call, ...limits, agentId: 'anna', trunk: trunkTo(carrier.port) });
  await seedRow(gateways.database, 'servers', { id: now });
  serverId = now;
  await gateways.database.inEngine((tx) => holder.moveCalls!(tx, [call.roomId], now));
  const reference = { ...call, placedAt: new Date() };
  expect(await other.endCall(reference)).toBe('ending');
  expect(await other.lookup(reference)).toMatchObject({ state: 'undetermined' });
  expect(await holder.lookup(reference)).toMatchObject({ state: 'live' });
  for (const gateway of [holder, other]) await gateway.stop();
  await carrier.stop();
});
