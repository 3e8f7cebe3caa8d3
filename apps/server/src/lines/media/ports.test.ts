import { RtpPorts } from '@trunkline/media';
import { expect, test } from 'vitest';
import { allWhileAlone, Shares } from '../../foundation/values/limiter.ts';

test('a workspace that has all ports leaves those that become free to one that found none', () => {
  let now = 0;
  const shares = new Shares(4, allWhileAlone);
  const ports = new RtpPorts(
    20_000,
    20_007,
    () => shares,
    () => now,
  );
  const taken = [1, 2, 3, 4].map(() => ports.take('noisy')!);
  expect(ports.take('quiet')).toBeUndefined();
  ports.giveBack(taken[0]!, 'noisy');
  now = 5000;
  expect([ports.take('noisy'), ports.take('quiet')]).toEqual([undefined, 20_000]);
  expect(shares.underWay()).toBe(4);
});
