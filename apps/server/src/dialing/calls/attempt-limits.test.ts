import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dayOf } from './attempt-limits.ts';

test.each([
  ['a day', ['America/New_York'], '2026-06-10T16:00:00Z', '2026-06-10T04:00:00Z', '2026-06-11T04:00:00Z'],
  [
    'an evening that is tomorrow in UTC',
    ['America/Los_Angeles'],
    '2026-06-11T00:30:00Z',
    '2026-06-10T07:00:00Z',
    '2026-06-11T07:00:00Z',
  ],
  ['a day of 23 hours', ['Europe/Berlin'], '2026-03-29T12:00:00Z', '2026-03-28T23:00:00Z', '2026-03-29T22:00:00Z'],
  ['a day of 25 hours', ['Europe/Berlin'], '2026-10-25T12:00:00Z', '2026-10-24T22:00:00Z', '2026-10-25T23:00:00Z'],
  [
    'a day without midnight',
    ['America/Santiago'],
    '2026-09-06T12:00:00Z',
    '2026-09-06T04:00:00Z',
    '2026-09-07T03:00:00Z',
  ],
  [
    'the day that began first of several',
    ['Australia/Perth', 'Australia/Sydney'],
    '2026-06-10T15:00:00Z',
    '2026-06-09T16:00:00Z',
    '2026-06-10T16:00:00Z',
  ],
])('%s', (_, timezones, now, from, until) => {
  expect(dayOf(timezones, new Date(now))).toEqual({ from: new Date(from), until: new Date(until) });
});

/** The local date by another implementation. */
const localDate = (timezone: string, at: Date) =>
  new Intl.DateTimeFormat('en-CA', { timeZone: timezone, dateStyle: 'short' }).format(at);

test('an instant is in its day by each of its zones, and the next day begins with another date', () => {
  const zones = [
    'Pacific/Honolulu',
    'America/St_Johns',
    'Europe/Lisbon',
    'Asia/Kathmandu',
    'Pacific/Chatham',
    'Africa/Cairo',
  ];
  fc.assert(
    fc.property(
      fc.subarray(zones, { minLength: 1 }),
      fc.date({ min: new Date('2024-01-01'), max: new Date('2027-12-31'), noInvalidDate: true }),
      (timezones, now) => {
        const { from, until } = dayOf(timezones, now);
        expect(from <= now && now < until).toBe(true);
        // Whatever was called earlier was called on another day, by the clock of each zone.
        for (const zone of timezones)
          expect(localDate(zone, new Date(from.getTime() - 1))).not.toBe(localDate(zone, now));
        expect(timezones.some((zone) => localDate(zone, until) !== localDate(zone, now))).toBe(true);
      },
    ),
  );
});
