import { expect, test } from 'vitest';
import { RtpPorts } from './rtp-ports.ts';

test('ports are even, and the one above lies in the range too', () => {
  const ports = new RtpPorts(20_001, 20_006);
  expect([ports.take('ours'), ports.take('ours'), ports.take('ours')]).toEqual([20_002, 20_004, undefined]);
  const odd = new RtpPorts(20_000, 20_001);
  expect([odd.take('ours'), odd.take('ours')]).toEqual([20_000, undefined]);
});

test('a port rests for 5 s after its call, and the longest free is taken first', () => {
  let now = 0;
  const ports = new RtpPorts(20_000, 20_003, () => now);
  expect([ports.take('ours'), ports.take('ours')]).toEqual([20_000, 20_002]);
  ports.giveBack(20_002, 'ours');
  now = 1000;
  ports.giveBack(20_000, 'ours');
  now = 4999;
  expect(ports.take('ours')).toBeUndefined();
  now = 5000;
  expect([ports.take('ours'), ports.take('ours')]).toEqual([20_002, undefined]);
  now = 6000;
  expect(ports.take('ours')).toBe(20_000);
});

test('a workspace that has all ports leaves those that become free to one that found none', () => {
  let now = 0;
  const ports = new RtpPorts(20_000, 20_007, () => now);
  const taken = [1, 2, 3, 4].map(() => ports.take('noisy')!);
  expect(ports.take('quiet')).toBeUndefined();
  ports.giveBack(taken[0]!, 'noisy');
  now = 5000;
  expect([ports.take('noisy'), ports.take('quiet')]).toEqual([undefined, 20_000]);
  expect(ports.shares.underWay()).toBe(4);
});
