import { expect, test } from 'vitest';
import { spread } from './spread.ts';

test('a key has one share, and keys that differ in one character fill the range evenly', () => {
  expect(spread('run', 1)).toBe(spread('run', 1));
  const tenths = new Array<number>(10).fill(0);
  for (let key = 0; key < 10_000; key += 1) tenths[Math.floor(spread('run', key) * 10)]! += 1;
  for (const count of tenths) expect(Math.abs(count - 1000)).toBeLessThan(150);
});

test('its two halves are as frequent from one millisecond to the next', () => {
  let changes = 0;
  for (let at = 1_700_000_000_000; at < 1_700_000_001_000; at += 1)
    changes += Number(spread('w', at) < 0.5 !== spread('w', at + 1) < 0.5);
  expect(changes).toBeGreaterThan(400);
  expect(changes).toBeLessThan(600);
});
