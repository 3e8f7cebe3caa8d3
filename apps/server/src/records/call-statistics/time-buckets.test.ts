import { expect, test } from 'vitest';
import { timeBuckets } from './time-buckets.ts';

const at = (...times: string[]) => times.map((time) => new Date(time));
const buckets = (from: string, to: string, unit: 'day' | 'hour', zone: string) =>
  timeBuckets(new Date(from), new Date(to), unit, zone);

test('days are those of the zone, and hold the whole time', () => {
  expect(buckets('2026-11-20T10:00:00Z', '2026-11-21T23:30:00Z', 'day', 'UTC')).toEqual(
    at('2026-11-20T00:00:00Z', '2026-11-21T00:00:00Z', '2026-11-22T00:00:00Z'),
  );
  expect(buckets('2026-11-20T04:00:00Z', '2026-11-20T06:00:00Z', 'day', 'America/New_York')).toEqual(
    at('2026-11-19T05:00:00Z', '2026-11-20T05:00:00Z', '2026-11-21T05:00:00Z'),
  );
});

test('a time that ends where a day begins has nothing of that day', () => {
  expect(buckets('2026-11-20T00:00:00Z', '2026-11-21T00:00:00Z', 'day', 'UTC')).toEqual(
    at('2026-11-20T00:00:00Z', '2026-11-21T00:00:00Z'),
  );
});

test('days of a clock change have 23 and 25 hours', () => {
  const hours = (day: string) => {
    const [from, to] = buckets(`${day}T12:00:00Z`, `${day}T13:00:00Z`, 'day', 'Europe/Berlin');
    return (to!.getTime() - from!.getTime()) / 3_600_000;
  };
  expect([hours('2026-03-29'), hours('2026-10-25'), hours('2026-11-20')]).toEqual([23, 25, 24]);
  // Where a day begins at 01:00, since midnight was skipped.
  expect(buckets('2026-09-06T12:00:00Z', '2026-09-06T13:00:00Z', 'day', 'America/Santiago')).toEqual(
    at('2026-09-06T04:00:00Z', '2026-09-07T03:00:00Z'),
  );
});

test('hours begin where the local clock shows a full one, twice where it is repeated', () => {
  expect(buckets('2026-11-20T10:45:00Z', '2026-11-20T11:15:00Z', 'hour', 'Asia/Kolkata')).toEqual(
    at('2026-11-20T10:30:00Z', '2026-11-20T11:30:00Z'),
  );
  expect(buckets('2026-10-25T00:00:00Z', '2026-10-25T02:00:00Z', 'hour', 'Europe/Berlin')).toEqual(
    at('2026-10-25T00:00:00Z', '2026-10-25T01:00:00Z', '2026-10-25T02:00:00Z'),
  );
});

test('hours go on where clocks change by half an hour', () => {
  for (const [from, to] of [
    ['2026-04-04T12:00:00Z', '2026-04-05T00:00:00Z'],
    ['2026-10-03T12:00:00Z', '2026-10-04T00:00:00Z'],
  ] as const) {
    const found = buckets(from, to, 'hour', 'Australia/Lord_Howe');
    const lengths = found.slice(1).map((time, index) => (time.getTime() - found[index]!.getTime()) / 60_000);
    expect(Math.min(...lengths)).toBeGreaterThanOrEqual(30);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(90);
    expect(found.at(-1)!.getTime()).toBeGreaterThanOrEqual(Date.parse(to));
  }
});
