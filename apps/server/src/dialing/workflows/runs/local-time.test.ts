import fc from 'fast-check';
import { expect, test } from 'vitest';
import { nextLocalTime } from './local-time.ts';

const half = 9 * 60 + 30;

test.each<[string, number, number[] | undefined, string[], string, string]>([
  ['later today', half, undefined, ['Europe/Berlin'], '2026-11-20T06:00:00Z', '2026-11-20T08:30:00.000Z'],
  ['just now', half, undefined, ['Europe/Berlin'], '2026-11-20T08:30:00.000Z', '2026-11-20T08:30:00.000Z'],
  ['just passed', half, undefined, ['Europe/Berlin'], '2026-11-20T08:30:00.001Z', '2026-11-21T08:30:00.000Z'],
  ['midnight', 0, undefined, ['Europe/Berlin'], '2026-11-20T08:30:00Z', '2026-11-20T23:00:00.000Z'],
  ['next Monday', half, [1], ['Europe/Berlin'], '2026-11-20T06:00:00Z', '2026-11-23T08:30:00.000Z'],
  ['this weekday, passed', half, [5], ['Europe/Berlin'], '2026-11-20T09:00:00Z', '2026-11-27T08:30:00.000Z'],
  ['weekdays of that clock', half, [6], ['Pacific/Kiritimati'], '2026-11-20T11:00:00Z', '2026-11-20T19:30:00.000Z'],
  // Forward on 2026-03-29 at 2:00 to 3:00, back on 2026-10-25 at 3:00 to 2:00.
  ['left out', 150, undefined, ['Europe/Berlin'], '2026-03-29T00:00:00Z', '2026-03-29T01:00:00.000Z'],
  ['left out, just now', 150, undefined, ['Europe/Berlin'], '2026-03-29T01:00:00Z', '2026-03-29T01:00:00.000Z'],
  ['left out, passed', 150, undefined, ['Europe/Berlin'], '2026-03-29T01:00:00.001Z', '2026-03-30T00:30:00.000Z'],
  ['twice: the first', 150, undefined, ['Europe/Berlin'], '2026-10-24T23:00:00Z', '2026-10-25T00:30:00.000Z'],
  [
    'twice: the first has passed',
    150,
    undefined,
    ['Europe/Berlin'],
    '2026-10-25T00:30:00.001Z',
    '2026-10-26T01:30:00.000Z',
  ],
  ['forward at midnight', 0, undefined, ['Africa/Cairo'], '2026-04-23T12:00:00Z', '2026-04-23T22:00:00.000Z'],
  [
    'forward by half an hour',
    135,
    undefined,
    ['Australia/Lord_Howe'],
    '2026-10-03T12:00:00Z',
    '2026-10-03T15:30:00.000Z',
  ],
  ['a day that was left out', half, undefined, ['Pacific/Apia'], '2011-12-30T00:00:00Z', '2011-12-30T10:00:00.000Z'],
  // Of several clocks the last: nobody's is earlier.
  [
    'two clocks',
    half,
    undefined,
    ['America/New_York', 'America/Los_Angeles'],
    '2026-11-20T15:00:00Z',
    '2026-11-20T17:30:00.000Z',
  ],
  [
    'two clocks, just now',
    half,
    undefined,
    ['America/New_York', 'America/Los_Angeles'],
    '2026-11-20T17:30:00Z',
    '2026-11-20T17:30:00.000Z',
  ],
  [
    'two clocks on two days',
    1380,
    [5],
    ['Australia/Perth', 'Australia/Sydney'],
    '2026-11-20T13:30:00Z',
    '2026-11-20T15:00:00.000Z',
  ],
])('%s', (_, time, days, timezones, now, at) => {
  expect(nextLocalTime({ time, days }, timezones, new Date(now)).toISOString()).toBe(at);
});

const zones = [
  'Europe/Berlin',
  'America/St_Johns',
  'Australia/Lord_Howe',
  'Pacific/Kiritimati',
  'Pacific/Pago_Pago',
  'Africa/Cairo',
  'Asia/Kathmandu',
];
const wallOf = (at: Date, timeZone: string) => {
  const parts = new Intl.DateTimeFormat('sv', { timeZone, dateStyle: 'short', timeStyle: 'short' })
    .format(at)
    .split(' ');
  const [hour = 0, minute = 0] = parts[1]!.split(':').map(Number);
  return { date: parts[0]!, minute: hour * 60 + minute };
};

test('it is soon, on a day that was asked for, and too early on none of the clocks', () => {
  const now = fc.date({ min: new Date('2020-01-01'), max: new Date('2035-01-01'), noInvalidDate: true });
  const days = fc.option(fc.uniqueArray(fc.integer({ min: 1, max: 7 }), { minLength: 1 }), { nil: undefined });
  const some = fc.uniqueArray(fc.constantFrom(...zones), { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(now, fc.integer({ min: 0, max: 1439 }), days, some, (from, time, on, timezones) => {
      const at = nextLocalTime({ time, days: on }, timezones, from);
      expect(at >= from && at.getTime() - from.getTime() < 9 * 86_400_000).toBe(true);
      const walls = timezones
        .map((zone) => wallOf(at, zone))
        .sort((a, b) => (`${a.date} ${a.minute + 1000}` < `${b.date} ${b.minute + 1000}` ? -1 : 1));
      const [last] = walls;
      // The clocks were put forward by an hour at most.
      expect(last!.minute - time).toBeLessThanOrEqual(60);
      const weekday = new Date(`${last!.date}T00:00:00Z`).getUTCDay() || 7;
      if (on) expect(on).toContain(weekday);
      for (const wall of walls) expect(wall.date > last!.date || wall.minute >= time).toBe(true);
      expect(nextLocalTime({ time, days: on }, timezones, at)).toEqual(at);
    }),
    { numRuns: 1000 },
  );
});
