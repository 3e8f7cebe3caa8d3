import { expect, test } from 'vitest';
import { ConnectionRoom } from './connection-room.ts';

const room = () => new ConnectionRoom((address) => address.startsWith('203.0.113.'));
const entered = (of: ConnectionRoom, addresses: string[]) =>
  addresses.filter((address) => of.enter(address) !== undefined).length;
const strangers = Array.from({ length: 200 }, (_, at) => Array<string>(20).fill(`198.51.100.${at}`)).flat();

test('strangers leave room to known peers, however many come', () => {
  const its = room();
  expect(entered(its, strangers)).toBe(1500);
  expect(entered(its, Array(499).fill('203.0.113.7'))).toBe(499);
  expect(entered(its, ['192.0.2.1', '203.0.113.8', '203.0.113.9'])).toBe(1);
});

test('an address has so many, a known one more', () => {
  const its = room();
  expect(entered(its, Array(100).fill('198.51.100.1'))).toBe(20);
  expect(entered(its, Array(600).fill('203.0.113.7'))).toBe(500);
});

test.each([
  ['2001:db8:1:2::1', '2001:db8:1:2:ffff::9', true],
  ['2001:db8:1:2::1', '2001:0db8:0001:0002:0:0:0:1', true],
  ['2001:db8:1:2::1', '2001:db8:1:3::1', false],
  ['::1', '0:0:0:0:1::', true],
  ['fe80::1%eth0', 'fe80::2', true],
])('%s and %s count as one: %s', (one, other, isOne) => {
  const its = room();
  entered(its, Array(20).fill(one));
  expect(entered(its, [other])).toBe(isOne ? 0 : 1);
});

test('a place that is given back is free', () => {
  const its = room();
  const leave = Array.from({ length: 20 }, () => its.enter('198.51.100.1')!);
  for (const each of leave) each();
  expect(entered(its, strangers)).toBe(1500);
});
