import { expect, test } from 'vitest';
import type { CallOutcome } from '../../lines/telephony/call-outcome.ts';
import { countable, failTooOften, type RecentEnds, withEnds } from './recent-ends.ts';

const noon = new Date('2026-11-20T12:00:00Z');
const after = (minutes: number) => new Date(noon.getTime() + minutes * 60_000);
const many = (count: number, outcome: CallOutcome) => Array<CallOutcome>(count).fill(outcome);
/** What is known after ends at some minutes. */
const ends = (...told: [minutes: number, CallOutcome[]][]) =>
  told.reduce<RecentEnds>((recent, [minutes, outcomes]) => withEnds(recent, outcomes, after(minutes)), []);

test.each<[string, RecentEnds, boolean]>([
  ['no ends', [], false],
  ['19 failures', ends([0, many(19, 'trunk_error')]), false],
  ['20 failures', ends([0, many(20, 'trunk_error')]), true],
  ['16 failures of 20', ends([0, [...many(16, 'agent_error'), ...many(4, 'answered')]]), true],
  ['15 failures of 20', ends([0, [...many(15, 'agent_error'), ...many(5, 'no_answer')]]), false],
  [
    'one failure in each half of a minute',
    ends(...Array.from({ length: 20 }, (_, at) => [at / 2, many(1, 'invalid_number')] as [number, CallOutcome[]])),
    true,
  ],
  [
    'one failure a minute',
    ends(...Array.from({ length: 60 }, (_, at) => [at, many(1, 'invalid_number')] as [number, CallOutcome[]])),
    false,
  ],
  [
    '19 failures, and more when these are long over',
    ends([0, many(19, 'trunk_error')], [11, many(19, 'trunk_error')]),
    false,
  ],
  [
    'failures of every kind',
    ends([0, many(7, 'trunk_error')], [1, many(7, 'agent_error')], [2, many(6, 'invalid_number')]),
    true,
  ],
  [
    'people who do not answer',
    ends([0, many(100, 'no_answer')], [1, many(100, 'busy')], [2, many(100, 'declined')]),
    false,
  ],
  ['a clock that went back', ends([5, many(10, 'trunk_error')], [4, many(10, 'trunk_error')]), true],
])('%s', (_, recent, expected) => expect(failTooOften(recent)).toBe(expected));

test('only the minutes that count are kept', () => {
  const hour = ends(...Array.from({ length: 60 }, (_, at) => [at, many(3, 'busy')] as [number, CallOutcome[]]));
  expect(hour).toHaveLength(10 * 3);
});

test('what was taken back or set aside counts for nothing', () => {
  const calls = [
    { outcome: 'cancelled' as const },
    { outcome: 'trunk_error' as const, setAside: 'trunk_busy' },
    { outcome: 'trunk_error' as const },
  ];
  expect(countable(calls)).toEqual([{ outcome: 'trunk_error' }]);
});
