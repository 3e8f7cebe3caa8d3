import { expect, test } from 'vitest';
import { RtpPorts } from './rtp-ports.ts';

const anyone = () => ({ take: () => true, giveBack: () => {} });

test('ports are even, and the one above lies in the range too', () => {
  const ports = new RtpPorts(20_001, 20_006, anyone);
  expect([ports.take('ours'), ports.take('ours'), ports.take('ours')]).toEqual([20_002, 20_004, undefined]);
  const odd = new RtpPorts(20_000, 20_001, anyone);
  expect([odd.take('ours'), odd.take('ours')]).toEqual([20_000, undefined]);
});

test('a port rests for 5 s after its call, and the longest free is taken first', () => {
  let now = 0;
  const ports = new RtpPorts(20_000, 20_003, anyone, () => now);
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

test('an owner that has its share gets no port, and what rests counts for it', () => {
  let now = 0;
  const taken: string[] = [];
  const shares = {
    take: (owner: string) => taken.filter((each) => each === owner).length < 2 && taken.push(owner) > 0,
    giveBack: (owner: string) => void taken.splice(taken.indexOf(owner), 1),
  };
  const ports = new RtpPorts(
    20_000,
    20_007,
    () => shares,
    () => now,
  );
  expect([ports.take('noisy'), ports.take('noisy'), ports.take('noisy')]).toEqual([20_000, 20_002, undefined]);
  ports.giveBack(20_000, 'noisy');
  expect(ports.take('noisy')).toBeUndefined();
  now = 5000;
  expect([ports.take('noisy'), ports.take('quiet')]).toEqual([20_004, 20_006]);
});
