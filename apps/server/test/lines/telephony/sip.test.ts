import { type EndStoredOptions, SdpSession, type StoredDialog, type StoredEnd } from '@trunkline/sip';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { freePort } from '../../../../../packages/sip/test/peers/peer-process.ts';
import { newUuid } from '../../../src/foundation/values/ids.ts';
import type { CallEvent, CallGateway, CallRequest } from '../../../src/lines/telephony/call-gateway.ts';
import { readMessages } from '../../../src/lines/telephony/kept-messages.ts';
import { postgresCallStore } from '../../../src/lines/telephony/sip/call-store.ts';
import { endStoredCall } from '../../../src/lines/telephony/sip/end-stored-call.ts';
import type { Trunk } from '../../../src/lines/telephony/trunk.ts';
import { unguarded } from '../../unguarded.ts';
import { until } from '../../until.ts';
import { callConformance, type GatewayUnderTest } from './call-conformance.ts';
import { type Carrier, startCarrier } from './carrier.ts';
import { proberConformance } from './prober-conformance.ts';
import { byItself, callees, openSipGateways, type SipGateways, trunkTo } from './sip-gateways.ts';

let gateways: SipGateways;
beforeAll(async () => {
  gateways = await openSipGateways();
});
afterAll(() => gateways.close());

/** The gateway as the suite asks for it: each call with its trunk, answers that get lost, events that come twice. */
function behind(carrier: Carrier, gateway: CallGateway) {
  const trunk = trunkTo(carrier.port);
  let loses: 'before' | 'after' | undefined;
  let doubles = false;
  const own: Partial<CallGateway> = {
    placeCall: async (request: CallRequest) => {
      const lost = loses;
      loses = undefined;
      const detail = 'the answer was lost';
      if (lost === 'before') return { status: 'unknown', detail };
      const answer = await gateway.placeCall({ ...request, trunk });
      return lost === 'after' ? { status: 'unknown', detail } : answer;
    },
    onEvents: (listener) =>
      gateway.onEvents((events: CallEvent[]) => {
        listener(events);
        if (doubles) listener(events);
      }),
  };
  const wrapped = new Proxy(gateway, {
    get: (target, name: keyof CallGateway) => {
      const value = own[name] ?? target[name];
      return typeof value === 'function' && !own[name] ? value.bind(target) : value;
    },
  });
  return {
    gateway: wrapped,
    loseNextAnswer: (when: 'before' | 'after') => {
      loses = when;
    },
    doubleEvents: () => {
      doubles = true;
    },
  };
}

callConformance('SIP', async (): Promise<GatewayUnderTest> => {
  const carrier = await startCarrier(callees);
  return {
    ...behind(carrier, await gateways.gatewayFor()),
    startAnother: async () => {
      const { gateway } = behind(carrier, await gateways.gatewayFor());
      await gateway.start();
      return gateway;
    },
    callees: {
      answered: '+14155550101',
      busy: '+14155550186',
      declined: '+14155550103',
      invalid_number: '+14155550104',
      trunk_error: '+14155550150',
    },
    ringsLong: '+14155550108',
    talksLong: '+14155550102',
    outlivesProcess: false,
    placesAbsent: false,
    dialled: async () => carrier.calls.length,
    close: () => carrier.stop(),
  };
});

proberConformance('SIP', async () => {
  const carrier = await startCarrier(callees);
  const gateway = await gateways.gatewayFor();
  await gateway.start();
  return {
    prober: gateway,
    there: trunkTo(carrier.port),
    gone: { ...trunkTo(await freePort()), transport: 'tcp' },
    close: async () => void (await Promise.all([gateway.stop(), carrier.stop()])),
  };
});

test('a call without an agent rings nobody, unless it says what is said in its place', async () => {
  const carrier = await startCarrier(callees);
  const gateway = await gateways.gatewayFor();
  await gateway.start();
  const limits = { ringTimeoutSeconds: 30, maxCallSeconds: 60, recording: false, owner: byItself };
  const call = { from: '+14155550100', to: '+14155550102', ...limits, attempt: 1, trunk: trunkTo(carrier.port) };
  const place = (more: Partial<CallRequest>) =>
    gateway.placeCall({ ...call, workspaceId: newUuid(), roomId: newUuid(), ...more });
  expect(await place({})).toMatchObject({ status: 'rejected', outcome: 'agent_error' });
  expect(carrier.calls).toEqual([]);
  expect(await place({ voice: 'test_sentence' })).toEqual({ status: 'accepted' });
  await gateway.stop();
  await carrier.stop();
});

test('what the two sides of a call said is kept after its end', async () => {
  const carrier = await startCarrier(callees);
  const gateway = await gateways.gatewayFor();
  await gateway.start();
  const { roomId, workspaceId } = { roomId: newUuid(), workspaceId: newUuid() };
  const numbers = { from: '+14155550100', to: '+14155550102' };
  const limits = { ringTimeoutSeconds: 30, maxCallSeconds: 60, recording: false, owner: byItself };
  const trunk = trunkTo(carrier.port);
  await gateway.placeCall({ workspaceId, roomId, attempt: 1, agentId: 'anna', trunk, ...numbers, ...limits });
  const reference = { workspaceId, roomId, attempt: 1, ...numbers, placedAt: new Date() };
  await until(async () => expect(await gateway.lookup(reference)).toMatchObject({ phase: 'answered' }));
  const said = () => gateways.database.inWorkspace(workspaceId, (tx) => readMessages(tx, roomId));
  expect(await said()).toEqual([]);
  await gateway.endCall(reference);
  await until(async () => expect(await said()).not.toEqual([]));
  const messages = (await said())!;
  const lines = messages.map(({ direction, summary }) => `${direction} ${summary.replace(/ sip:.*/, '')}`);
  expect(lines.filter((line) => !line.endsWith('100 Trying'))).toEqual([
    'sent INVITE',
    'received SIP/2.0 180 Ringing',
    'received SIP/2.0 200 OK',
    'sent ACK',
    'sent BYE',
    'received SIP/2.0 200 OK',
  ]);
  expect(messages[0]).toMatchObject({ transport: 'udp', peer: `127.0.0.1:${carrier.port}` });
  expect(messages[0]!.text).toContain('m=audio');
  expect(await postgresCallStore(gateways.database, unguarded(gateways.database)).find(roomId)).toMatchObject({
    trunkId: trunk.id,
  });
  await gateway.stop();
  await carrier.stop();
});

test('the BYE of a call that another server has placed bears the credentials of its trunk', async () => {
  const trunk = { ...trunkTo(5060), username: 'ada', authUsername: 'ada-auth', password: 'secret' };
  const dialog = { version: 1, phase: 'answered' } as StoredDialog;
  const call = {
    roomId: newUuid(),
    workspaceId: newUuid(),
    serverId: newUuid(),
    attempt: 1,
    isOwned: false,
    isRefused: false,
    dialog,
  };
  const given: unknown[] = [];
  const userAgent = {
    endStored: async (_dialog: StoredDialog, options?: EndStoredOptions) => {
      given.push(options);
      return { kind: 'hung_up' } as const;
    },
  };
  expect(await endStoredCall(userAgent, call, new Date(), trunk)).toMatchObject({ outcome: 'answered' });
  const credentials = { username: 'ada-auth', password: 'secret' };
  expect(given).toEqual([{ credentials, asker: call.workspaceId }]);
});

test('names of a trunk, and those that its peers give in calls, are looked up in the share of its workspace', async () => {
  const carrier = await startCarrier(callees, { publicAddress: 'carrier.example' });
  const caller = await startCarrier(callees, { publicAddress: 'caller.example' });
  const [workspaceId, port] = [newUuid(), await freePort()];
  const at = (host: string) => ({ ...trunkTo(carrier.port), workspaceId, terminationUrl: `${host}:${carrier.port}` });
  const [trunk, watched, registered] = [at('trunk.example'), at('watched.example'), at('registrar.example')];
  const asked = new Map<string, string>();
  let by = '';
  const gateway = await gateways.gatewayFor(4, {
    settings: { host: '127.0.0.1', port, tls: {}, localNetworks: [], drainSeconds: 0, optionsSeconds: 30 },
    trunkNames: {
      resolver: {
        srv: async () => ({ records: [], ttlSeconds: 60 }),
        async addresses(name, family) {
          asked.set(name, by);
          return { records: family === 4 ? ['127.0.0.1'] : [], ttlSeconds: 60 };
        },
      },
      turns: (asker, ask) => {
        by = asker;
        return ask();
      },
    },
    inbound: {
      trunks: async () => [{ ...watched, digestNumbers: [], alikeNumbers: [], headersToAgent: [] }],
      trunk: async () => undefined,
      numbersOf: async (all) => all.map((number) => ({ number, workspaceId, trunkId: watched.id })),
    },
    registered: {
      take: async () => [{ workspaceId, trunk: registered, isGranted: true }],
      note: async () => {},
      leave: async () => {},
    },
  });
  const [placed, taken] = [newUuid(), newUuid()];
  gateway.onInbound((call) => {
    void gateway.answerInbound(call, { workspaceId, agentId: 'anna', maxCallSeconds: 60, roomId: taken });
  });
  await gateway.start();
  expect(await gateway.probeTrunk(at('probed.example'), new AbortController().signal)).toMatchObject({ valid: true });
  const numbers = { from: '+14155550100', to: '+14155550102' };
  const limits = { ringTimeoutSeconds: 30, maxCallSeconds: 60, recording: false, owner: byItself };
  await gateway.placeCall({ workspaceId, roomId: placed, attempt: 1, agentId: 'anna', trunk, ...numbers, ...limits });
  await until(() => expect(asked.get('watched.example')).toBeDefined());
  const call = caller.userAgent.invite({
    to: `sip:+14155550100@127.0.0.1:${port}`,
    from: '<sip:+14155550177@caller.example>',
    sdp: new SdpSession({ address: '127.0.0.1', port: 9, codecs: ['PCMU'] }).offer(),
  });
  await call.answered;
  for (const roomId of [placed, taken]) {
    const reference = { workspaceId, roomId, attempt: 1, ...numbers, placedAt: new Date() };
    await until(async () => expect(await gateway.lookup(reference)).toMatchObject({ phase: 'answered' }));
    await gateway.endCall(reference);
    await until(async () => expect(await gateway.lookup(reference)).toMatchObject({ state: 'ended' }));
  }
  const names = ['probed', 'trunk', 'watched', 'registrar', 'carrier', 'caller'].map((name) => `${name}.example`);
  expect(Object.fromEntries(asked)).toEqual(Object.fromEntries(names.map((name) => [name, workspaceId])));
  await gateway.stop();
  await carrier.stop();
  await caller.stop();
});

test('a call that rang as its server died is cancelled by us, and counts; what nobody knows of is unknown', async () => {
  const dialog = { version: 1, phase: 'inviting' } as StoredDialog;
  const ids = { roomId: newUuid(), workspaceId: newUuid(), serverId: newUuid() };
  const call = { ...ids, attempt: 1, isOwned: false, isRefused: false, dialog };
  const end = (found: StoredEnd) => endStoredCall({ endStored: async () => found }, call, new Date(), undefined);
  expect(await end({ kind: 'cancelled' })).toMatchObject({ outcome: 'cancelled', endedBy: 'service' });
  expect(await end({ kind: 'cancelled', status: 487 })).toMatchObject({ outcome: 'cancelled', endedBy: 'service' });
  expect(await end({ kind: 'cancelled', status: 486 })).toMatchObject({ outcome: 'busy', endedBy: 'error' });
  for (const kind of ['hung_up', 'gone'] as const) expect(await end({ kind })).toMatchObject({ outcome: 'unknown' });
});

test('a call for which no port is free could not be sent for want of a channel', async () => {
  const carrier = await startCarrier(callees);
  const gateway = await gateways.gatewayFor(2);
  await gateway.start();
  const [noisy, quiet] = [newUuid(), newUuid()];
  const place = (workspaceId: string, roomId = newUuid()) => {
    const numbers = { from: '+14155550100', to: '+14155550108' };
    const limits = { ringTimeoutSeconds: 30, maxCallSeconds: 60, recording: false, owner: byItself };
    const trunk = trunkTo(carrier.port);
    return gateway.placeCall({ workspaceId, roomId, attempt: 1, agentId: 'anna', trunk, ...numbers, ...limits });
  };
  const none = { status: 'rejected', outcome: 'trunk_error', q850Cause: 34 };
  for (let call = 0; call < 2; call += 1) expect(await place(noisy)).toEqual({ status: 'accepted' });
  for (const workspaceId of [noisy, quiet]) expect(await place(workspaceId)).toMatchObject(none);
  await gateway.stop();
  await carrier.stop();
});

test('a trunk is told who calls, and whom, as it wants', async () => {
  const carrier = await startCarrier({});
  const gateway = await gateways.gatewayFor();
  await gateway.start();
  const numbers = { from: '+14155550100', to: '+14155550177' };
  const limits = { ringTimeoutSeconds: 30, maxCallSeconds: 60, recording: false, owner: byItself };
  /** The INVITE that a trunk of these fields gets. */
  const invite = async (fields: Partial<Trunk>) => {
    const trunk = { ...trunkTo(carrier.port), username: 'ada', password: 'secret', ...fields };
    const before = carrier.calls.length;
    const ids = { workspaceId: newUuid(), roomId: newUuid() };
    await gateway.placeCall({ ...ids, attempt: 1, agentId: 'anna', trunk, ...numbers, ...limits });
    await until(() => carrier.calls.length > before);
    const { user, call } = carrier.calls.at(-1)!;
    const header = (name: string) => call.request.headers.get(name);
    return { user, header, uri: call.requestUri, from: header('from')!.replace(/;tag=.*/, '') };
  };
  const at = `127.0.0.1:${carrier.port}`;
  const asserted = `<sip:+14155550100@${at}>`;
  expect(await invite({})).toMatchObject({ user: '+14155550177', from: asserted });
  const pai = await invite({ callerIdHeader: 'pai', fromDomain: 'example.com' });
  expect(pai.from).toBe('<sip:+14155550100@example.com>');
  expect(pai.header('p-asserted-identity')).toBe('<sip:+14155550100@example.com>');
  const ppi = await invite({ callerIdHeader: 'ppi', fromUser: 'line-1' });
  expect(ppi.from).toBe(`<sip:line-1@${at}>`);
  expect(ppi.header('p-preferred-identity')).toBe(asserted);
  const rpid = await invite({ callerIdHeader: 'rpid' });
  expect(rpid.from).toBe(`<sip:ada@${at}>`);
  expect(rpid.header('remote-party-id')).toBe(`${asserted};party=calling;privacy=off`);
  const national = { numberFormat: 'national', country: 'US', dialPrefix: '9' } as const;
  const dialled = await invite({ ...national, headers: { 'X-Team': 'north' } });
  expect(dialled).toMatchObject({ user: '94155550177', from: `<sip:4155550100@${at}>` });
  expect(dialled.header('x-team')).toBe('north');
  const proxied = await invite({ terminationUrl: 'sip:carrier.example', outboundProxy: `sip:${at}` });
  expect(proxied).toMatchObject({ uri: 'sip:+14155550177@carrier.example' });
  await gateway.stop();
  await carrier.stop();
});
