import { expect, test } from 'vitest';
import { challengeLimit } from './challenge-limit.ts';

function stand() {
  const clock = { now: 0 };
  const limit = challengeLimit(() => clock.now);
  const times = (count: number, address: string, { trunk = 'one', isTry = false } = {}) =>
    Array.from({ length: count }, () => limit.allows(trunk, address, isTry)).filter(Boolean).length;
  return { clock, limit, times };
}

test('a network is challenged ten times a second for a trunk, and all of them fifty times', () => {
  const { clock, times } = stand();
  expect(times(20, '198.51.100.1')).toBe(10);
  expect(times(20, '2001:db8::1') + times(20, '2001:db8:0:0:5::2')).toBe(10);
  expect(times(20, '2001:db8:0:1::1')).toBe(10);
  for (const host of [2, 3]) expect(times(20, `198.51.100.${host}`)).toBe(10);
  expect(times(20, '198.51.100.4')).toBe(0);
  expect([times(20, '198.51.100.4', { trunk: 'two' }), times(20, '198.51.100.1', { trunk: 'two' })]).toEqual([10, 10]);
  clock.now += 1000;
  expect([times(20, '198.51.100.1'), times(20, '198.51.100.4')]).toEqual([10, 10]);
});

test('a network that is refused for itself uses up nothing of its trunk, and the other way round', () => {
  const { clock, times } = stand();
  expect(times(1000, '198.51.100.1')).toBe(10);
  expect(times(20, '198.51.100.2')).toBe(10);
  for (let host = 10; host < 15; host += 1) times(10, `198.51.100.${host}`, { isTry: true });
  expect(times(20, '198.51.100.1', { isTry: true })).toBe(0);
  clock.now += 1000;
  expect(times(20, '198.51.100.1', { isTry: true })).toBe(10);
});

test('a password is tried ten times a minute from a network, whatever others send in its name', () => {
  const { clock, times } = stand();
  const isTry = true;
  times(1000, '198.51.100.1');
  expect(times(20, '198.51.100.1', { isTry })).toBe(10);
  expect(times(20, '198.51.100.1', { isTry, trunk: 'two' })).toBe(10);
  clock.now += 59_000;
  expect(times(20, '198.51.100.1', { isTry })).toBe(0);
  clock.now += 1000;
  expect(times(20, '198.51.100.1', { isTry })).toBe(10);
});

test('who has proven himself to a trunk may call it a hundred times a second for an hour', () => {
  const { clock, limit, times } = stand();
  times(20, '198.51.100.1', { isTry: true });
  limit.prove('one', '198.51.100.1');
  expect([times(200, '198.51.100.1'), times(200, '198.51.100.1', { isTry: true })]).toEqual([100, 100]);
  expect([times(200, '198.51.100.1', { trunk: 'two' }), times(200, '198.51.100.2')]).toEqual([10, 10]);
  clock.now += 60 * 60_000;
  expect(times(200, '198.51.100.1')).toBe(10);
});
