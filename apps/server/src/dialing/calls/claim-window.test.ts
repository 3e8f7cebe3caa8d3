import { expect, test } from 'vitest';
import { createClaimWindow, windowAfter } from './claim-window.ts';

const none = Number.POSITIVE_INFINITY;

test('a window halves what was on its way where some came too late, down to one', () => {
  expect(windowAfter(none, 50, false)).toBe(25);
  expect(windowAfter(20, 50, false)).toBe(10);
  expect(windowAfter(20, 4, false)).toBe(2);
  expect(windowAfter(1, 1, false)).toBe(1);
});

test('it widens by one with each set that was in time, until it bounds nothing', () => {
  expect(windowAfter(1, 1, true)).toBe(2);
  expect(windowAfter(98, 50, true)).toBe(99);
  expect(windowAfter(99, 50, true)).toBe(none);
  expect(windowAfter(none, 50, true)).toBe(none);
});

test('what is on its way takes room', () => {
  const window = createClaimWindow();
  window.claimed(50);
  expect(window.room()).toBe(none);
  window.settled(50, false);
  expect(window.room()).toBe(25);
  window.claimed(25);
  expect(window.room()).toBe(0);
  window.settled(5, true);
  expect(window.room()).toBe(6);
  window.settled(20, false);
  // Ten of the twenty that were on their way.
  expect(window.room()).toBe(10);
});
