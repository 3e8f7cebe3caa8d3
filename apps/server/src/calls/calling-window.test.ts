import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type CallingHours, closedReason, nextCallingWindow } from './calling-window.ts';

const everyDay = [1, 2, 3, 4, 5, 6, 7];
const window = (hours: CallingHours, zone: string, now: string) => {
  const { opensAt, closesAt } = nextCallingWindow(hours, zone, new Date(now));
  return [opensAt.toISOString(), closesAt.toISOString()];
};

test('a window is in the time zone of the callee', () => {
  const hours = { schedule: { start: 540, end: 1080 }, days: everyDay };
  expect(window(hours, 'America/New_York', '2026-11-20T12:00:00Z')).toEqual([
    '2026-11-20T14:00:00.000Z',
    '2026-11-20T23:00:00.000Z',
  ]);
  expect(window(hours, 'Asia/Kolkata', '2026-11-20T05:00:00Z')).toEqual([
    '2026-11-20T05:00:00.000Z',
    '2026-11-20T12:30:00.000Z',
  ]);
});

test('a weekend is left out', () => {
  const hours = { schedule: { start: 540, end: 1020 }, days: [1, 2, 3, 4, 5] };
  expect(window(hours, 'UTC', '2026-11-20T18:00:00Z')).toEqual([
    '2026-11-23T09:00:00.000Z',
    '2026-11-23T17:00:00.000Z',
  ]);
});

test('an hour that is skipped in spring does not exist: 02:00 to 03:00 opens on the next day', () => {
  const hours = { schedule: { start: 120, end: 180 }, days: everyDay };
  expect(window(hours, 'America/New_York', '2026-03-08T05:00:00Z')).toEqual([
    '2026-03-09T06:00:00.000Z',
    '2026-03-09T07:00:00.000Z',
  ]);
});

test('a window that begins in the skipped hour opens when the clocks have moved', () => {
  const hours = { schedule: { start: 150, end: 240 }, days: everyDay };
  expect(window(hours, 'America/New_York', '2026-03-08T05:00:00Z')).toEqual([
    '2026-03-08T07:00:00.000Z',
    '2026-03-08T08:00:00.000Z',
  ]);
});

test('an hour that is repeated in autumn counts twice', () => {
  const hours = { schedule: { start: 60, end: 120 }, days: everyDay };
  expect(window(hours, 'America/New_York', '2026-11-01T04:00:00Z')).toEqual([
    '2026-11-01T05:00:00.000Z',
    '2026-11-01T07:00:00.000Z',
  ]);
});

test('a window that ends in the repeated hour opens twice', () => {
  const hours = { schedule: { start: 0, end: 90 }, days: everyDay };
  expect(window(hours, 'America/New_York', '2026-11-01T04:30:00Z')).toEqual([
    '2026-11-01T04:30:00.000Z',
    '2026-11-01T05:30:00.000Z',
  ]);
  expect(window(hours, 'America/New_York', '2026-11-01T05:30:00Z')).toEqual([
    '2026-11-01T06:00:00.000Z',
    '2026-11-01T06:30:00.000Z',
  ]);
});

test('quiet hours close a part of the window', () => {
  const hours = { schedule: { start: 540, end: 1080 }, days: everyDay, quiet: { start: 720, end: 780 } };
  expect(window(hours, 'UTC', '2026-11-20T09:30:00Z')).toEqual([
    '2026-11-20T09:30:00.000Z',
    '2026-11-20T12:00:00.000Z',
  ]);
  expect(window(hours, 'UTC', '2026-11-20T12:30:00Z')).toEqual([
    '2026-11-20T13:00:00.000Z',
    '2026-11-20T18:00:00.000Z',
  ]);
  expect(closedReason(hours, 'UTC', new Date('2026-11-20T12:30:00Z'))).toBe('quiet_hours');
});

test('a window agrees with the clock at every instant', () => {
  const span = fc.tuple(fc.integer({ min: 0, max: 1439 }), fc.integer({ min: 1, max: 1440 })).filter(([a, b]) => a < b);
  fc.assert(
    fc.property(
      fc.option(span, { nil: undefined }),
      fc.option(span, { nil: undefined }),
      fc.uniqueArray(fc.integer({ min: 1, max: 7 }), { minLength: 1 }),
      fc.constantFrom('UTC', 'America/New_York', 'Europe/Berlin', 'Australia/Lord_Howe', 'Asia/Kathmandu'),
      fc.date({ min: new Date('2026-01-01'), max: new Date('2027-12-31'), noInvalidDate: true }),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      (schedule, quiet, days, zone, now, share) => {
        const hours: CallingHours = {
          days,
          ...(schedule && { schedule: { start: schedule[0], end: schedule[1] } }),
          ...(quiet && { quiet: { start: quiet[0], end: quiet[1] } }),
        };
        const { opensAt, closesAt } = nextCallingWindow(hours, zone, now);
        const open = (at: number) => closedReason(hours, zone, new Date(at)) === undefined;
        if (opensAt > now) expect(open(now.getTime() + share * (opensAt.getTime() - now.getTime()))).toBe(false);
        if (closesAt > opensAt)
          expect(open(opensAt.getTime() + share * (closesAt.getTime() - opensAt.getTime()))).toBe(true);
      },
    ),
    { numRuns: 300 },
  );
});
