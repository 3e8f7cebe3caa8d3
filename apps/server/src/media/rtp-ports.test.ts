import { expect, test } from 'vitest';
import { RtpPorts } from './rtp-ports.ts';

test('ports are even, and the one above lies in the range too', () => {
  const ports = new RtpPorts(20_001, 20_006);
  expect([ports.take(), ports.take(), ports.take()]).toEqual([20_002, 20_004, undefined]);
  const odd = new RtpPorts(20_000, 20_001);
  expect([odd.take(), odd.take()]).toEqual([20_000, undefined]);
});

test('a port rests for 5 s after its call, and the longest free is taken first', () => {
  let now = 0;
  const ports = new RtpPorts(20_000, 20_003, () => now);
  expect([ports.take(), ports.take()]).toEqual([20_000, 20_002]);
  ports.giveBack(20_002);
  now = 1000;
  ports.giveBack(20_000);
  now = 4999;
  expect(ports.take()).toBeUndefined();
  now = 5000;
  expect([ports.take(), ports.take()]).toEqual([20_002, undefined]);
  now = 6000;
  expect(ports.take()).toBe(20_000);
});
