import fc from 'fast-check';
import { DateTime } from 'luxon';
import { expect, test } from 'vitest';
import {
  ALWAYS,
  type CallingHours,
  closedReason,
  EVERY_DAY,
  haveCommonHour,
  nextCallingWindow,
  type WeeklyWindow,
} from './calling-hours.ts';

const hoursOf = (windows: readonly WeeklyWindow[], rest: Partial<CallingHours> = {}): CallingHours => ({
  windows,
  quiet: [],
  holidays: new Set(),
  ...rest,
});
const daily = (start: number, end: number, days = EVERY_DAY) => [{ days, start, end }];
const window = (hours: CallingHours, zones: string | string[], now: string) => {
  const { opensAt, closesAt } = nextCallingWindow(hours, [zones].flat(), new Date(now));
  return [opensAt.toISOString(), closesAt.toISOString()];
};

test('a window is in the time zone of the callee', () => {
  const hours = hoursOf(daily(540, 1080));
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
  const hours = hoursOf(daily(540, 1020, [1, 2, 3, 4, 5]));
  expect(window(hours, 'UTC', '2026-11-20T18:00:00Z')).toEqual([
    '2026-11-23T09:00:00.000Z',
    '2026-11-23T17:00:00.000Z',
  ]);
});

test('an hour that is skipped in spring does not exist: 02:00 to 03:00 opens on the next day', () => {
  const hours = hoursOf(daily(120, 180));
  expect(window(hours, 'America/New_York', '2026-03-08T05:00:00Z')).toEqual([
    '2026-03-09T06:00:00.000Z',
    '2026-03-09T07:00:00.000Z',
  ]);
});

test('a window that begins in the skipped hour opens when the clocks have moved', () => {
  const hours = hoursOf(daily(150, 240));
  expect(window(hours, 'America/New_York', '2026-03-08T05:00:00Z')).toEqual([
    '2026-03-08T07:00:00.000Z',
    '2026-03-08T08:00:00.000Z',
  ]);
});

test('an hour that is repeated in autumn counts twice', () => {
  const hours = hoursOf(daily(60, 120));
  expect(window(hours, 'America/New_York', '2026-11-01T04:00:00Z')).toEqual([
    '2026-11-01T05:00:00.000Z',
    '2026-11-01T07:00:00.000Z',
  ]);
});

test('a window that ends in the repeated hour opens twice', () => {
  const hours = hoursOf(daily(0, 90));
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
  const hours = hoursOf(daily(540, 1080), { quiet: daily(720, 780) });
  expect(window(hours, 'UTC', '2026-11-20T09:30:00Z')).toEqual([
    '2026-11-20T09:30:00.000Z',
    '2026-11-20T12:00:00.000Z',
  ]);
  expect(window(hours, 'UTC', '2026-11-20T12:30:00Z')).toEqual([
    '2026-11-20T13:00:00.000Z',
    '2026-11-20T18:00:00.000Z',
  ]);
  expect(closedReason(hours, ['UTC'], new Date('2026-11-20T12:30:00Z'))).toBe('quiet_hours');
});

test('a window over midnight belongs to the day on which it opens', () => {
  const hours = hoursOf(daily(1320, 120, [5]));
  expect(window(hours, 'UTC', '2026-11-20T12:00:00Z')).toEqual([
    '2026-11-20T22:00:00.000Z',
    '2026-11-21T02:00:00.000Z',
  ]);
  expect(window(hours, 'UTC', '2026-11-21T02:00:00Z')[0]).toBe('2026-11-27T22:00:00.000Z');
});

test('quiet hours over midnight close both ends of the day', () => {
  const hours = hoursOf(ALWAYS, { quiet: daily(1260, 480) });
  expect(window(hours, 'UTC', '2026-11-20T23:00:00Z')).toEqual([
    '2026-11-21T08:00:00.000Z',
    '2026-11-21T21:00:00.000Z',
  ]);
  expect(closedReason(hours, ['UTC'], new Date('2026-11-21T07:59:00Z'))).toBe('quiet_hours');
});

test('a holiday closes from midnight to midnight of the callee, the tail of the night before included', () => {
  const hours = hoursOf(daily(1200, 120), { holidays: new Set(['2026-12-25']) });
  expect(window(hours, 'Europe/Berlin', '2026-12-24T18:00:00Z')).toEqual([
    '2026-12-24T19:00:00.000Z',
    '2026-12-24T23:00:00.000Z',
  ]);
  expect(window(hours, 'Europe/Berlin', '2026-12-24T23:30:00Z')[0]).toBe('2026-12-25T23:00:00.000Z');
  expect(closedReason(hours, ['Europe/Berlin'], new Date('2026-12-25T20:00:00Z'))).toBe('holiday');
});

test('a set of zones is open while each of them is', () => {
  const hours = hoursOf(daily(540, 1080));
  expect(window(hours, ['America/New_York', 'America/Los_Angeles'], '2026-11-20T12:00:00Z')).toEqual([
    '2026-11-20T17:00:00.000Z',
    '2026-11-20T23:00:00.000Z',
  ]);
});

test('zones whose hours never meet have none in common, and a clock change may bring one', () => {
  const from = new Date('2026-11-20T00:00:00Z');
  const zones = ['America/New_York', 'Pacific/Auckland'];
  expect(haveCommonHour(hoursOf(daily(540, 600)), zones, from)).toBe(false);
  expect(haveCommonHour(hoursOf(daily(540, 1080)), zones, from)).toBe(true);
  // 18:00 in Auckland is 01:00 in New York, but 02:00 when it is summer there and winter here.
  const nightOwls = hoursOf([...daily(1080, 1081), ...daily(120, 121)]);
  expect(haveCommonHour(nightOwls, zones, from)).toBe(true);
  expect(haveCommonHour(nightOwls, ['America/New_York', 'Pacific/Honolulu'], from)).toBe(false);
});

const zones = fc.uniqueArray(
  fc.constantFrom(
    'UTC',
    'America/New_York',
    'Pacific/Honolulu',
    'Europe/Berlin',
    'Australia/Lord_Howe',
    'Asia/Kathmandu',
    'Africa/Casablanca',
    'America/Santiago',
  ),
  { minLength: 1, maxLength: 3 },
);
const weekly = fc.record({
  days: fc.uniqueArray(fc.integer({ min: 1, max: 7 }), { minLength: 1 }),
  start: fc.integer({ min: 0, max: 1439 }),
  end: fc.integer({ min: 1, max: 1440 }),
});
const instants = fc.date({ min: new Date('2026-01-01'), max: new Date('2027-12-31'), noInvalidDate: true });
const randomHours = fc.record({
  windows: fc.array(weekly, { minLength: 1, maxLength: 4 }),
  quiet: fc.array(weekly, { maxLength: 2 }),
  holidays: fc
    .array(instants, { maxLength: 4 })
    .map((days): ReadonlySet<string> => new Set(days.map((day) => day.toISOString().slice(0, 10)))),
});

/** What luxon says of a local time: window by window, by the day on which it opened. */
function isOpenByLuxon({ windows, quiet, holidays }: CallingHours, zone: string, at: Date): boolean {
  const local = DateTime.fromJSDate(at, { zone });
  const minute = local.hour * 60 + local.minute;
  const yesterday = local.weekday === 1 ? 7 : local.weekday - 1;
  const isIn = ({ days, start, end }: WeeklyWindow) =>
    end > start
      ? days.includes(local.weekday) && minute >= start && minute < end
      : (days.includes(local.weekday) && minute >= start) || (days.includes(yesterday) && minute < end);
  return !holidays.has(local.toISODate()!) && windows.some(isIn) && !quiet.some(isIn);
}

test('whether calls are open agrees with another library at every instant', () => {
  fc.assert(
    fc.property(randomHours, zones, instants, (hours, timezones, at) => {
      const expected = timezones.every((zone) => isOpenByLuxon(hours, zone, at));
      expect(closedReason(hours, timezones, at) === undefined).toBe(expected);
    }),
    { numRuns: 2000 },
  );
});

test('a window agrees with the clock at every instant, and hours in common are found', () => {
  fc.assert(
    fc.property(
      randomHours,
      zones,
      instants,
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      (hours, timezones, now, share) => {
        const { opensAt, closesAt } = nextCallingWindow(hours, timezones, now);
        const open = (at: number) => timezones.every((zone) => isOpenByLuxon(hours, zone, new Date(at)));
        if (opensAt > now) expect(open(now.getTime() + share * (opensAt.getTime() - now.getTime()))).toBe(false);
        if (closesAt > opensAt) {
          expect(open(opensAt.getTime() + share * (closesAt.getTime() - opensAt.getTime()))).toBe(true);
          expect(haveCommonHour(hours, timezones, now)).toBe(true);
        }
      },
    ),
    { numRuns: 300 },
  );
});

test('two clocks that agree for an hour of a night in autumn have that hour in common and no other', () => {
  const apart = ['America/Denver', 'America/North_Dakota/Center'];
  const from = new Date('2026-03-10T12:00:00Z');
  const everyDay = [1, 2, 3, 4, 5, 6, 7];
  expect(haveCommonHour(hoursOf([{ days: everyDay, start: 540, end: 600 }]), apart, from)).toBe(false);
  expect(haveCommonHour(hoursOf([{ days: everyDay, start: 60, end: 120 }]), apart, from)).toBe(true);
});
