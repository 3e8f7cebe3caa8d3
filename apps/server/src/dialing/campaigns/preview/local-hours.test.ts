import { expect, test } from 'vitest';
import { type CallingHours, closedReason, EVERY_DAY } from '../../calls/calling-hours.ts';
import { zonesOfContact } from '../../calls/zones-of-contact.ts';
import { localHours } from './local-hours.ts';
import type { NumberGroup, PreviewScope } from './preview-scope.ts';

const nineToEight: CallingHours = {
  windows: [{ days: EVERY_DAY, start: 540, end: 1200 }],
  quiet: [],
  holidays: new Set(),
};
const always: CallingHours = { windows: [{ days: EVERY_DAY, start: 0, end: 1440 }], quiet: [], holidays: new Set() };
const quiet = [{ days: EVERY_DAY, start: 1260, end: 480 }];

interface Given {
  at: string;
  hours: CallingHours;
  freeHours?: CallingHours;
  trusted?: number[];
  rule?: 'strictest' | 'campaign';
  timezone?: string;
  endDate?: Date;
}
const scopeOf = ({
  at,
  hours,
  freeHours = hours,
  trusted = [],
  rule = 'strictest',
  timezone = 'UTC',
  endDate,
}: Given) =>
  ({
    campaign: { callee_time_zone: rule, timezone, end_date: endDate ?? null },
    situation: { hours, freeHours, trusted },
    at: new Date(at),
  }) as unknown as PreviewScope;

const newYork = { example: 12_125_550_100, count: 7, timezone: null };
const honolulu = { example: 18_085_550_100, count: 5, timezone: null };
const alaska = { example: 19_075_550_100, count: 3, timezone: null };
const australianMobile = { example: 61_412_345_678, count: 11, timezone: null };
const lordHowe = { example: 12_125_550_101, count: 13, timezone: 'Australia/Lord_Howe' };
const kathmandu = { example: 12_125_550_102, count: 17, timezone: 'Asia/Kathmandu' };
const groups = [newYork, honolulu, alaska, australianMobile, lordHowe, kathmandu];

/** The minute of the day that a clock shows, by Node's own formats. */
const minuteBy = (timeZone: string) => {
  const format = new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit' });
  return (at: Date): number => {
    const [hour, minute] = format.format(at).split(':').map(Number);
    return hour! * 60 + minute!;
  };
};

/** The same, minute by minute, as a person would look it up. */
function lookedUp(given: Given, all: readonly NumberGroup[]) {
  const contacts = Array.from({ length: 24 }, () => 0);
  let [earliest, latest, earlyOrLate] = [1440, 0, 0];
  for (const { example, count, timezone } of all) {
    const called = zonesOfContact(given.rule ?? 'strictest', timezone, example).timezones;
    const clocks = zonesOfContact('strictest', timezone, example).timezones.map(minuteBy);
    const minutes = Array.from({ length: 1440 }, (_, at) => new Date(Date.parse(given.at) + at * 60_000))
      .filter((at) => closedReason(given.hours, called, at) === undefined)
      .flatMap((at) => clocks.map((clock) => clock(at)));
    for (const hour of new Set(minutes.map((minute) => Math.floor(minute / 60)))) contacts[hour]! += count;
    earliest = Math.min(earliest, ...minutes);
    latest = Math.max(latest, ...minutes.map((minute) => minute + 1));
    if (minutes.some((minute) => minute < 480 || minute >= 1260)) earlyOrLate += count;
  }
  return { contacts, ...(latest > 0 && { earliest, latest }), earlyOrLate };
}

test.each([
  ['a day like others', '2026-11-20T17:12:00Z'],
  ['the night in which New York goes an hour forward', '2026-03-08T04:30:00Z'],
  ['the night in which New York goes an hour back', '2026-11-01T03:45:00Z'],
  ['the night in which Lord Howe goes half an hour back', '2026-04-04T10:15:00Z'],
  ['the night in which Lord Howe goes half an hour forward', '2026-10-03T10:00:00Z'],
])('hours are told as the clocks of callees show them: %s', (_, at) => {
  const past = [{ days: [5, 6, 7], start: 1320, end: 150 }];
  for (const hours of [
    nineToEight,
    always,
    { ...always, quiet },
    { ...nineToEight, windows: past },
    { ...always, holidays: new Set([at.slice(0, 10)]) },
  ]) {
    const given = { at, hours };
    expect(localHours(groups, scopeOf(given))).toEqual(lookedUp(given, groups));
  }
});

test('whoever is called by the campaign’s clock is told by the clock of the number', () => {
  const given: Given = {
    at: '2026-11-20T00:00:00Z',
    hours: nineToEight,
    rule: 'campaign',
    timezone: 'America/New_York',
  };
  const told = localHours([newYork, honolulu], scopeOf(given));
  // From 9:00 in New York it is 4:00 in Honolulu.
  expect(told).toMatchObject({ earliest: 240, latest: 1200, earlyOrLate: 5 });
  expect(told.contacts[4]).toBe(5);
  expect(told.contacts[9]).toBe(12);
});

test('a number that is trusted has the hours of those; without a zone a number has the campaign’s', () => {
  const hours = { ...always, quiet };
  const given = { at: '2026-11-20T00:00:00Z', hours, freeHours: always, trusted: [newYork.example] };
  expect(localHours([newYork, honolulu], scopeOf(given))).toMatchObject({ earliest: 0, latest: 1440, earlyOrLate: 7 });
  const nowhere = { example: 883_510_000_000_001, count: 2, timezone: null };
  const tokyo = { at: '2026-11-20T00:00:00Z', hours, timezone: 'Asia/Tokyo' };
  expect(localHours([nowhere], scopeOf(tokyo))).toMatchObject({ earliest: 480, latest: 1260, earlyOrLate: 0 });
});

test('nothing is told of hours in which nobody can ring, nor after the end of the campaign', () => {
  const never = { ...always, windows: [{ days: EVERY_DAY, start: 1320, end: 1380 }], quiet };
  expect(localHours(groups, scopeOf({ at: '2026-11-20T00:00:00Z', hours: never }))).toEqual({
    contacts: Array.from({ length: 24 }, () => 0),
    earlyOrLate: 0,
  });
  const endDate = new Date('2026-11-20T16:00:00Z');
  const given = { at: '2026-11-20T12:00:00Z', hours: nineToEight, endDate };
  expect(localHours([newYork], scopeOf(given))).toMatchObject({ earliest: 540, latest: 660 });
});
