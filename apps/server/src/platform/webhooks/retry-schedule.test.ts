import { expect, test } from 'vitest';
import { nextAttemptAt, retryAfterMs } from './retry-schedule.ts';

const now = new Date('2026-11-20T09:30:00.000Z');
const secondsTo = (at: Date | undefined) => at && (at.getTime() - now.getTime()) / 1000;

test('ten tries, ever further apart, over some three days', () => {
  const delays = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((attempts) => secondsTo(nextAttemptAt(attempts, 0, now, 0.5)));
  expect(delays).toEqual([5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400]);
  expect(nextAttemptAt(10, 0, now, 0.5)).toBeUndefined();
});

test('a tenth earlier or later, by chance', () => {
  expect(secondsTo(nextAttemptAt(2, 0, now, 0))).toBe(270);
  expect(secondsTo(nextAttemptAt(2, 0, now, 1))).toBe(330);
});

test('not before the endpoint wants it', () => {
  expect(secondsTo(nextAttemptAt(1, 60_000, now, 0.5))).toBe(60);
  expect(secondsTo(nextAttemptAt(2, 60_000, now, 0.5))).toBe(300);
});

test.each([
  [undefined, 0],
  ['30', 30_000],
  ['Fri, 20 Nov 2026 09:31:00 GMT', 60_000],
  ['Fri, 20 Nov 2026 09:00:00 GMT', 0],
  ['99999999999', 86_400_000],
  ['soon', 0],
])('Retry-After %s', (header, ms) => {
  expect(retryAfterMs(header, now)).toBe(ms);
});
