import { expect, test } from 'vitest';
import { afterRound, GIVE_UP_MS, isOnTime, nextTry } from './tries.ts';

const since = new Date('2026-11-20T09:30:00Z');
const after = (ms: number) => new Date(since.getTime() + ms);
const HOUR_MS = 3_600_000;

test('what fails is tried again after pauses that grow to an hour', () => {
  const restAfter = (ms: number) => nextTry(since, after(ms)).getTime() - after(ms).getTime();
  expect([0, 10_000, HOUR_MS, 100 * HOUR_MS].map(restAfter)).toEqual([2000, 5000, HOUR_MS / 2, HOUR_MS]);
});

test('what no server has tried for long is not given up', () => {
  expect([0, HOUR_MS, 24 * HOUR_MS].map((late) => isOnTime(since, after(late)))).toEqual([true, true, false]);
});

test('an erasure is over, waits for keys, tries what is left, or is given up', () => {
  const left = { remaining: { recordings: 0, files: 1 }, files_since: since };
  const now = after(HOUR_MS);
  expect(afterRound({ remaining: null, files_since: since }, undefined, now)).toEqual({ next: 'step' });
  expect(afterRound({ remaining: null, files_since: since }, after(9 * HOUR_MS), now)).toMatchObject({
    ...{ waitsFor: 'keys', until: after(9 * HOUR_MS), due: after(9 * HOUR_MS), goesOn: 'step' },
  });
  expect(afterRound(left, after(9 * HOUR_MS), now)).toMatchObject({
    ...{ waitsFor: 'keys', until: after(9 * HOUR_MS), due: after(1.5 * HOUR_MS), goesOn: 'files' },
  });
  expect(afterRound(left, undefined, now)).toMatchObject({
    ...{ waitsFor: 'file', until: after(GIVE_UP_MS), due: after(1.5 * HOUR_MS), goesOn: 'files' },
  });
  expect(afterRound(left, undefined, after(GIVE_UP_MS))).toEqual({ next: 'fail', failure: 'files_left' });
  expect(afterRound(left, after(2 * GIVE_UP_MS), after(GIVE_UP_MS))).toMatchObject({ waitsFor: 'keys' });
});
