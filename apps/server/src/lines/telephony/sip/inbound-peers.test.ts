import type { SipRequest, Target } from '@trunkline/sip';
import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { until } from '../../../../test/until.ts';
import type { Trunk } from '../trunk.ts';
import { type InboundTrunk, watchInboundPeers } from './inbound-peers.ts';

const plain = { mediaEncryption: 'none', keysInClear: false } as const;
const from = (address: string): Target => ({ address, port: 5060, transport: 'udp' });
const carrier = from('192.0.2.10');
const stranger = from('198.51.100.1');

function invite(user: string, to = user): SipRequest {
  const headers = {
    get: (name: string) => (name === 'to' ? `<sip:${to}@sip.example>` : undefined),
    read: () => undefined,
    all: () => [],
    tokens: () => [],
  };
  return { method: 'INVITE', uri: `sip:${user}@sip.example`, headers } as unknown as SipRequest;
}

async function stand() {
  const trunk = {
    ...plain,
    terminationUrl: '192.0.2.1',
    transport: 'udp',
    workspaceId: 'w',
    ipAllowlist: [],
    headersToAgent: [],
    alikeNumbers: [],
  } as const;
  const trunks: InboundTrunk[] = [
    { ...trunk, id: 'carrier', ipAllowlist: [carrier.address], country: 'US', digestNumbers: [] },
    { ...trunk, id: 'berlin', country: 'DE', digestNumbers: ['+4930901820'] },
    { ...trunk, id: 'york', country: 'US', digestNumbers: ['+12125550100'] },
    { ...trunk, id: 'nowhere', digestNumbers: ['+442079460000'] },
  ];
  const peers = watchInboundPeers({
    directory: { trunks: async () => trunks, trunk: async () => undefined, numbersOf: async () => [] },
    locate: async () => [],
    registeredAt: () => new Set(),
    log: pino({ level: 'silent' }),
  });
  onTestFinished(() => peers.close());
  await until(() => peers.knows(carrier.address));
  return peers;
}

test('a stranger is challenged for a number with digest, however it is written, in the Request-URI or in To', async () => {
  const peers = await stand();
  const berlin = ['+4930901820', '4930901820', '004930901820', '030901820', '+49%2030%2090-1820;npdi'];
  const york = ['+12125550100', '12125550100', '01112125550100', '2125550100', '(212)555-0100'];
  for (const user of [...berlin, ...york, '+442079460000', '442079460000']) {
    expect([user, peers.admit(invite(user), stranger)]).toEqual([user, 'challenge']);
    expect([user, peers.admit(invite('pbx', user), stranger)]).toEqual([user, 'challenge']);
    expect([user, peers.admit(invite('+14155550100', user), stranger)]).toEqual([user, 'challenge']);
  }
  for (const user of ['pbx', '901820', '02079460000', '+12125550101', '1302125550100'])
    expect([user, peers.admit(invite(user), stranger)]).toEqual([user, 'ignore']);
});

test('a carrier that is known is not challenged for what To names, unless its Request-URI has no number', async () => {
  const peers = await stand();
  expect(peers.admit(invite('+14155550100', '+4930901820'), carrier)).toBe('accept');
  expect(peers.admit(invite('trunk-7', '+4930901820'), carrier)).toBe('challenge');
  expect(peers.admit(invite('+4930901820'), carrier)).toBe('challenge');
});

test('the callers of a trunk are not challenged for a number of another one that is written as its own', async () => {
  const trunk = { ...plain, terminationUrl: '192.0.2.1', transport: 'udp', headersToAgent: [] } as const;
  const [munich, linz] = ['+498912345678', '+438912345678'];
  const trunks: InboundTrunk[] = [
    {
      ...{ ...trunk, id: '1', workspaceId: 'munich', country: 'DE', ipAllowlist: [carrier.address] },
      ...{ digestNumbers: [], alikeNumbers: [munich] },
    },
    {
      ...{ ...trunk, id: '2', workspaceId: 'linz', country: 'AT', ipAllowlist: [] },
      ...{ digestNumbers: [linz], alikeNumbers: [linz] },
    },
  ];
  const peers = watchInboundPeers({
    directory: { trunks: async () => trunks, trunk: async () => undefined, numbersOf: async () => [] },
    locate: async () => [],
    registeredAt: () => new Set(),
    log: pino({ level: 'silent' }),
  });
  onTestFinished(() => peers.close());
  await until(() => peers.knows(carrier.address));
  expect(peers.admit(invite('08912345678'), carrier)).toBe('accept');
  expect(peers.admit(invite(munich), carrier)).toBe('accept');
  expect(peers.admit(invite(linz), carrier)).toBe('challenge');
  expect(peers.admit(invite('08912345678'), stranger)).toBe('challenge');
});

test('calls in the name of an address shut it out neither of other trunks nor from answering its challenge', async () => {
  const peers = await stand();
  const allowed = (user: string, isTry: boolean) =>
    Array.from({ length: 20 }, () => peers.allows(invite(user), stranger, isTry)).filter(Boolean).length;
  expect(allowed('+4930901820', false)).toBeLessThan(20);
  expect([allowed('+4930901820', true), allowed('+12125550100', false)]).toEqual([10, 10]);
  expect(peers.allows(invite('pbx'), stranger, false)).toBe(false);
});

/** Trunks in Germany and Austria, of two workspaces, whose numbers people there dial alike: 089 12345678. */
async function twoThatSpellAlike(
  names: [string, string],
  passwords: [string, string],
  carriersOfLinz: string[] = [carrier.address],
) {
  const trunk = {
    ...plain,
    terminationUrl: '192.0.2.1',
    transport: 'udp',
    ipAllowlist: [carrier.address],
    headersToAgent: [],
    alikeNumbers: [],
  } as const;
  const [munich, linz] = ['+498912345678', '+438912345678'];
  const trunks: InboundTrunk[] = [
    {
      ...{ ...trunk, id: '2', workspaceId: 'linz', country: 'AT', digestNumbers: [linz], digestUsername: names[1] },
      ipAllowlist: carriersOfLinz,
    },
    { ...trunk, id: '1', workspaceId: 'munich', country: 'DE', digestNumbers: [munich], digestUsername: names[0] },
  ];
  const secrets = new Map([
    ['1', passwords[0]],
    ['2', passwords[1]],
  ]);
  const owners = new Map([
    [munich, 'munich'],
    [linz, 'linz'],
  ]);
  const trunkOf = async ({ trunkId }: { trunkId: string }) => {
    const [username, password] = [trunks.find(({ id }) => id === trunkId)!.digestUsername, secrets.get(trunkId)];
    return { inboundDigest: true, username, password } as Trunk;
  };
  const peers = watchInboundPeers({
    directory: {
      trunks: async () => trunks,
      trunk: trunkOf,
      numbersOf: async (numbers, trunkIds) =>
        numbers.flatMap((number) => {
          const owner = trunks.find(
            ({ workspaceId, id }) => workspaceId === owners.get(number) && trunkIds.includes(id),
          );
          return owner ? [{ number, workspaceId: owner.workspaceId, trunkId: owner.id }] : [];
        }),
    },
    locate: async () => [],
    registeredAt: () => new Set(),
    log: pino({ level: 'silent' }),
  });
  onTestFinished(() => peers.close());
  await until(() => peers.knows(carrier.address));
  const called = async (user: string, username?: string) =>
    (await peers.read(invite(user), username === undefined ? carrier : stranger, username))?.to;
  const passwordOf = (user: string, username: string, to = user) =>
    peers.passwordOf(username, invite(user, to), stranger);
  return { munich, linz, called, passwordOf, peers };
}

test('who has a number where callers are shared gets its calls, also beside one that was there a moment ago', async () => {
  const trunk = { ...plain, terminationUrl: '192.0.2.1', transport: 'udp', headersToAgent: [], country: 'DE' } as const;
  const more = { digestNumbers: [], alikeNumbers: [], ipAllowlist: [carrier.address] };
  const trunks: InboundTrunk[] = ['them', 'us'].map((workspaceId) => ({
    ...trunk,
    ...more,
    id: workspaceId,
    workspaceId,
  }));
  const peers = watchInboundPeers({
    directory: {
      trunks: async () => trunks,
      trunk: async () => undefined,
      numbersOf: async (numbers) =>
        numbers.flatMap((number) => [
          { number, workspaceId: 'them', trunkId: 'them', shared: false },
          { number, workspaceId: 'us', trunkId: 'us', shared: true },
        ]),
    },
    locate: async () => [],
    registeredAt: () => new Set(),
    log: pino({ level: 'silent' }),
  });
  onTestFinished(() => peers.close());
  await until(() => peers.knows(carrier.address));
  for (const user of ['+498912345678', '498912345678', '08912345678'])
    expect(await peers.read(invite(user), carrier, undefined)).toMatchObject({
      to: '+498912345678',
      workspaceId: 'us',
    });
});

test('of numbers that two countries write alike, a caller by digest reaches the one whose name it bears', async () => {
  const { munich, linz, called, passwordOf } = await twoThatSpellAlike(['pbx-m', 'pbx-l'], ['one', 'two']);
  const alike = '08912345678';
  expect([await passwordOf(alike, 'pbx-m'), await called(alike, 'pbx-m')]).toEqual(['one', munich]);
  expect([await passwordOf(alike, 'pbx-l'), await called(alike, 'pbx-l')]).toEqual(['two', linz]);
  expect(await passwordOf(munich, 'pbx-m', munich.slice(1))).toBe('one');
  expect([await passwordOf(linz, 'pbx-m'), await called(linz, 'pbx-m')]).toEqual([undefined, undefined]);
});

test('where the names are alike too the older trunk is meant, and neither where the passwords are', async () => {
  const same = await twoThatSpellAlike(['pbx', 'pbx'], ['one', 'two']);
  expect([await same.passwordOf('08912345678', 'pbx'), await same.called('08912345678', 'pbx')]).toEqual([
    'one',
    same.munich,
  ]);
  const { linz, passwordOf, called } = await twoThatSpellAlike(['pbx', 'pbx'], ['one', 'one']);
  expect(await passwordOf('08912345678', 'pbx')).toBeUndefined();
  expect([await passwordOf(linz, 'pbx'), await called(linz, 'pbx')]).toEqual(['one', linz]);
});

test('from a carrier of both, a number that each reads as its own reaches neither, and one in full its owner', async () => {
  const { munich, linz, called } = await twoThatSpellAlike(['pbx-m', 'pbx-l'], ['one', 'two']);
  expect(await called('08912345678')).toBeUndefined();
  for (const number of [munich, linz]) {
    expect(await called(number)).toBe(number);
    expect(await called(number.slice(1))).toBe(number);
  }
  const own = await twoThatSpellAlike(['pbx-m', 'pbx-l'], ['one', 'two'], []);
  expect(own.peers.admit(invite('08912345678'), carrier)).toBe('accept');
  expect(await own.called('08912345678')).toBe(own.munich);
});

test('of several trunks at one address, that of the number says whether its sound is encrypted', async () => {
  const trunk = { terminationUrl: '192.0.2.1', transport: 'udp', headersToAgent: [], country: 'DE' } as const;
  const more = { workspaceId: 'us', digestNumbers: [], alikeNumbers: [], ipAllowlist: [carrier.address] };
  const peers = watchInboundPeers({
    directory: {
      trunks: async () => [
        { ...trunk, ...more, ...plain, id: 'plain' },
        { ...trunk, ...more, id: 'secret', mediaEncryption: 'required', keysInClear: true },
      ],
      trunk: async () => undefined,
      numbersOf: async ([number]) => [{ number: number!, workspaceId: 'us', trunkId: 'secret' }],
    },
    locate: async () => [],
    registeredAt: () => new Set(),
    log: pino({ level: 'silent' }),
  });
  onTestFinished(() => peers.close());
  await until(() => peers.knows(carrier.address));
  const read = await peers.read(invite('+498912345678'), carrier, undefined);
  expect(read).toMatchObject({ mediaEncryption: 'required', keysInClear: true });
});
