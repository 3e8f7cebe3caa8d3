import { expect, test } from 'vitest';
import { addresses } from '../../config-values.ts';
import { createAddressGuard, isReserved } from './address-guard.ts';
import { urlFault } from './url-fault.ts';

test.each([
  '0.0.0.0',
  '10.1.2.3',
  '100.64.0.1',
  '100.100.100.200',
  '127.0.0.1',
  '127.255.255.254',
  '168.63.129.16',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.192',
  '192.168.1.1',
  '198.18.0.1',
  '203.0.113.9',
  '224.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::7f00:1',
  '::ffff:127.0.0.1',
  '::ffff:a00:1',
  '0:0:0:0:0:ffff:a9fe:a9fe',
  '::ffff:0:127.0.0.1',
  '64:ff9b::10.0.0.1',
  '64:ff9b::a9fe:a9fe',
  '64:ff9b:1::808:808',
  '2002:7f00:1::',
  '2002:808:808::1',
  '2001::1',
  '2001:db8::1',
  'fc00::1',
  'fd00:ec2::254',
  'fe80::1',
  'fe80::1%eth0',
  'fec0::1',
  'ff02::1',
  '100::1',
])('%s is in no public network', (address) => {
  expect(isReserved(address)).toBe(true);
});

test.each([
  '8.8.8.8',
  '172.15.255.255',
  '172.32.0.1',
  '100.63.255.255',
  '::ffff:8.8.8.8',
  '64:ff9b::808:808',
  '2606:4700::1111',
  '2001:4860:4860::8888',
])('%s is public', (address) => {
  expect(isReserved(address)).toBe(false);
});

const nobody = { networks: [], hosts: [] };
const answering =
  (...found: string[]) =>
  async () =>
    found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));

type Found = { error: unknown; addresses: unknown };
const ask = (guard: ReturnType<typeof createAddressGuard>, name: string, all: boolean) =>
  new Promise<Found>((resolve) =>
    guard.lookupFor('me')(name, { all }, (error, found) => resolve({ error, addresses: found })),
  );

test('of a name only the open addresses are given, and none is an error', async () => {
  const mixed = createAddressGuard(nobody, answering('10.0.0.1', '8.8.8.8', '::1'));
  expect(await ask(mixed, 'a.example', true)).toEqual({ error: null, addresses: [{ address: '8.8.8.8', family: 4 }] });
  expect(await ask(mixed, 'a.example', false)).toEqual({ error: null, addresses: '8.8.8.8' });
  const inside = createAddressGuard(nobody, answering('10.0.0.1', '::ffff:7f00:1'));
  for (const all of [true, false])
    expect((await ask(inside, 'a.example', all)).error).toMatchObject({ code: 'blocked_address' });
});

test('the name of the machine itself is open where it or its address is allowed', () => {
  const names = ['localhost', 'LOCALHOST', 'localhost.', 'crm.localhost'];
  const openTo = (allowed: string) => names.map(createAddressGuard(addresses(allowed)).isOpenHost);
  expect(openTo('10.0.0.0/8')).toEqual([false, false, false, false]);
  expect(openTo('127.0.0.0/8')).toEqual([true, true, true, true]);
  expect(openTo('localhost')).toEqual([true, true, false, false]);
  expect(createAddressGuard(nobody).isOpenHost('localhost.example.com')).toBe(true);
  const fault = 'must not lead to the server itself, as localhost does, unless OUTBOUND_ALLOWED_ADDRESSES names it';
  expect(urlFault(createAddressGuard(nobody), 'https://localhost:8443/hook')).toBe(fault);
});

test('what is allowed is open, by network and by name', async () => {
  const guard = createAddressGuard(
    addresses('10.0.0.0/8, ::1, CRM.internal'),
    answering('192.168.0.2'),
    answering('192.168.0.1'),
  );
  expect(['10.9.9.9', '[::1]', '[::ffff:a09:909]', '8.8.8.8', 'any.name'].map(guard.isOpenHost)).toEqual(
    Array(5).fill(true),
  );
  expect(['11.0.0.1', '127.0.0.1', '[::2]'].map(guard.isOpenHost)).toEqual([true, false, false]);
  expect(['10.9.9.9', '[::1]', 'CRM.internal'].map(guard.isAllowedHost)).toEqual([true, true, true]);
  expect(['8.8.8.8', '[::2]', 'any.name'].map(guard.isAllowedHost)).toEqual([false, false, false]);
  expect((await ask(guard, 'crm.internal', false)).addresses).toBe('192.168.0.1');
  expect((await ask(guard, 'other.internal', false)).error).toMatchObject({ code: 'blocked_address' });
});

test.each(['10.0.0.0/33', '10.0.0', '10.0.0.0/8/8', 'a b', '::1/129', ',', 'http://a', '1.2.3.4/x'])(
  '%s is no address, network or name',
  (text) => {
    expect(() => addresses(text)).toThrow('must be addresses');
  },
);

test('the addresses and names of the server itself are closed, unless the settings name them', () => {
  const none = { networks: [], hosts: [] };
  const own = ['8.8.4.4', '2606:4700::1111', 'Trunkline.example.com'];
  const guard = createAddressGuard(none, undefined, undefined, own);
  for (const host of [
    '8.8.4.4',
    '::ffff:8.8.4.4',
    '[2606:4700:0::1111]',
    'trunkline.EXAMPLE.com',
    'trunkline.example.com.',
  ])
    expect(guard.isOpenHost(host), host).toBe(false);
  for (const host of ['8.8.8.8', 'example.com', 'a.trunkline.example.com'])
    expect(guard.isOpenHost(host), host).toBe(true);
  const allowing = createAddressGuard(addresses('8.8.4.4, trunkline.example.com'), undefined, undefined, own);
  for (const host of ['8.8.4.4', 'trunkline.example.com']) expect(allowing.isOpenHost(host), host).toBe(true);
});
