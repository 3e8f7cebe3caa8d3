import { expect, test } from 'vitest';
import { Reception } from './reception.ts';

function noted(sequences: number[], ssrc = 7, reception = new Reception()) {
  for (const [at, sequence] of sequences.entries())
    reception.note({ ssrc, sequence: sequence & 0xffff, timestamp: at * 160 }, at * 20);
  return reception;
}

test('what is missing between the first and the last is lost, across the wrap', () => {
  const reception = noted([65_533, 65_534, 1, 3]);
  expect([reception.received, reception.lost]).toEqual([4, 3]);
  expect(reception.report()).toMatchObject({ ssrc: 7, lost: 3, highestSequence: 65_539, fractionLost: 109 });
});

test('swapped packets are not lost', () => {
  expect(noted([5, 4, 6, 8, 7]).lost).toBe(0);
});

test('a report tells what was lost since the one before', () => {
  const reception = noted([1, 2, 4]);
  expect(reception.report()?.fractionLost).toBe(64);
  noted([5, 6, 7], 7, reception);
  expect(reception.report()).toMatchObject({ fractionLost: 0, lost: 1 });
});

test('a new stream loses nothing of what the old one had, and adds to its count', () => {
  const reception = noted([1, 3]);
  noted([40_000, 40_002], 8, reception);
  noted([20_000, 20_001], 8, reception);
  expect([reception.received, reception.lost]).toEqual([6, 2]);
});

test('jitter is 0 for an even stream, and grows with unevenness', () => {
  const even = noted(Array.from({ length: 100 }, (_, at) => at));
  expect(even.report()?.jitter).toBe(0);
  const uneven = new Reception();
  for (let at = 0; at < 100; at += 1)
    uneven.note({ ssrc: 1, sequence: at, timestamp: at * 160 }, at * 20 + (at % 2) * 10);
  expect(uneven.report()?.jitter).toBeGreaterThan(60);
});

test('nothing heard, nothing to report', () => {
  expect(new Reception().report()).toBeUndefined();
});
