import { expect, test } from 'vitest';
import { createPace } from './pace.ts';

test('a key waits once it has had what it may have at once, no longer than is said, and no other key with it', () => {
  let at = 1000;
  const pace = createPace(100, 50, () => at);
  expect([pace('a', 60), pace('a', 60), pace('a', 20), pace('b', 100)]).toEqual([0, 20, 40, 0]);
  expect([pace('a', 500), pace('a', 1)]).toEqual([50, 50]);
  at += 60;
  expect(pace('a', 10)).toBe(0);
  at += 1000;
  expect(pace('a', 130)).toBe(30);
});
