import { expect, test } from 'vitest';
import { createAddressing } from './addressing.ts';
import { isPrivateAddress, parseNetworks } from './networks.ts';

test('networks hold their addresses', () => {
  const networks = parseNetworks(['10.0.0.0/8', '192.0.2.7', '2001:db8::/32']);
  for (const address of ['10.1.2.3', '192.0.2.7', '2001:db8:1::1']) expect(networks.has(address)).toBe(true);
  for (const address of ['11.0.0.1', '192.0.2.8', '2001:db9::1', 'example.com'])
    expect(networks.has(address)).toBe(false);
});

test.each(['10.0.0.0/33', 'example.com', '10.0.0.0/8/8', '', '10.0.0.0/x'])('%s is no network', (entry) => {
  expect(() => parseNetworks([entry])).toThrow(entry);
});

test.each([
  ['127.0.0.1', true],
  ['192.168.1.1', true],
  ['100.64.0.1', true],
  ['::1', true],
  ['::ffff:10.0.0.1', true],
  ['fd00::1', true],
  ['8.8.8.8', false],
  ['2001:4860:4860::8888', false],
])('%s is private: %s', (address, expected) => {
  expect(isPrivateAddress(address)).toBe(expected);
});

test('peers elsewhere get the public address, those in local networks the bound one', async () => {
  const behindNat = await createAddressing('192.168.1.5', '203.0.113.9', ['192.168.0.0/16']);
  expect(behindNat.hostFor('198.51.100.1')).toBe('203.0.113.9');
  expect(behindNat.hostFor('192.168.7.7')).toBe('192.168.1.5');
  expect(behindNat.hostFor('::ffff:192.168.7.7')).toBe('192.168.1.5');
  const anywhere = await createAddressing('0.0.0.0', undefined, []);
  expect(anywhere.hostFor('127.0.0.1')).toBe('127.0.0.1');
  expect(anywhere.hostFor('198.51.100.1')).toMatch(/^\d+\.\d+\.\d+\.\d+$/);
  expect((await createAddressing('::', '2001:db8::9', [])).hostFor('2001:db8::1')).toBe('[2001:db8::9]');
});
