import { readFileSync } from 'node:fs';
import { Temporal } from 'temporal-polyfill';
import { expect, test } from 'vitest';
import { overlays, zonesByPrefixSource } from '../../../generate/zones-by-prefix.ts';
import { readTimeZone } from '../../audience/contact-lists/reading/time-zone.ts';
import { closedReason, EVERY_DAY, nextCallingWindow } from '../../dialing/calls/calling-hours.ts';
import { zonesByPrefix } from './generated/zones-by-prefix.ts';
import { timeZonesOfNumber } from './number-time-zones.ts';
import { holdersOf } from './numbering-plan.ts';

test.each([
  ['Honolulu', 18085550123, ['Pacific/Honolulu']],
  ['New York', 12125550123, ['America/New_York']],
  ['an area code on both sides of a zone border', 16055550123, ['America/Denver', 'America/North_Dakota/Center']],
  ['a mobile of the United Kingdom, whose islands keep its clock', 447400123456, ['Europe/London']],
  ['Germany', 4915112345678, ['Europe/Berlin']],
  ['Brisbane', 61731234567, ['Australia/Brisbane']],
  ['Moscow', 74951234567, ['Europe/Moscow']],
  ['the Canaries', 34928123456, ['Atlantic/Canary']],
])('%s', (_place, number, zones) => {
  expect(timeZonesOfNumber(number)).toEqual(zones);
});

test('a toll-free or personal number of North America may be anywhere there, one of Canada in Canada', () => {
  const zones = timeZonesOfNumber(18005550123);
  const all = ['America/New_York', 'Pacific/Honolulu', 'America/Halifax', 'America/St_Johns', 'Pacific/Guam'];
  expect(zones).toEqual(expect.arrayContaining(all));
  expect(timeZonesOfNumber(16222345678)).toContain('America/Halifax');
  expect(timeZonesOfNumber(16222345678)).not.toContain('Pacific/Honolulu');
});

test('a number of a country with one clock has the clock of that country, and its name', () => {
  const zones = [218912345678, 37060112345, 213551234567, 50581234567, 212612345678].map(timeZonesOfNumber);
  expect(zones.flat()).toEqual([
    'Africa/Tripoli',
    'Europe/Vilnius',
    'Africa/Algiers',
    'America/Managua',
    'Africa/Casablanca',
  ]);
});

/** Mobiles, and others that are of no place, and places of the country in which they may be. */
const anywhere: [kind: string, number: number, places: string[]][] = [
  [
    'a mobile of Australia',
    61412345678,
    ['Australia/Sydney', 'Australia/Perth', 'Australia/Darwin', 'Indian/Christmas'],
  ],
  ['a 1300 number of Australia', 611300975707, ['Australia/Hobart', 'Australia/Perth']],
  ['a mobile of Russia', 79161234567, ['Europe/Kaliningrad', 'Europe/Moscow', 'Asia/Novosibirsk', 'Asia/Kamchatka']],
  ['a mobile of Spain', 34612345678, ['Europe/Madrid', 'Atlantic/Canary']],
  ['a mobile of Portugal', 351912345678, ['Europe/Lisbon', 'Atlantic/Azores']],
  [
    'a mobile of Brazil',
    5511961234567,
    ['America/Sao_Paulo', 'America/Manaus', 'America/Rio_Branco', 'America/Noronha'],
  ],
  [
    'a number of Mexico, where mobiles look like others',
    525512345678,
    ['America/Mexico_City', 'America/Tijuana', 'America/Cancun'],
  ],
  ['a mobile of Indonesia', 62811234567, ['Asia/Jakarta', 'Asia/Makassar', 'Asia/Jayapura']],
  ['a mobile of Kazakhstan', 77011234567, ['Asia/Almaty', 'Asia/Aqtobe']],
  ['a mobile of Chile', 56912345678, ['America/Santiago', 'America/Punta_Arenas', 'Pacific/Easter']],
  ['a mobile of the Congo', 243812345678, ['Africa/Kinshasa', 'Africa/Lubumbashi']],
  ['a mobile of New Zealand', 64211234567, ['Pacific/Auckland', 'Pacific/Chatham']],
  ['a toll-free number of the United States', 18885550123, ['America/New_York', 'Pacific/Honolulu']],
  ['a personal number of Canada', 16222345678, ['America/Toronto', 'America/Vancouver', 'America/St_Johns']],
];

/** Area codes with exchanges in several time zones, and what was laid over them. */
const split: [areaCode: number, places: string[]][] = [
  [208, ['America/Boise', 'America/Los_Angeles']],
  [986, ['America/Boise', 'America/Los_Angeles']],
  [219, ['America/Chicago', 'America/New_York']],
  [574, ['America/Chicago', 'America/New_York']],
  [812, ['America/Chicago', 'America/New_York']],
  [930, ['America/Chicago', 'America/New_York']],
  [250, ['America/Vancouver', 'America/Edmonton']],
  [778, ['America/Vancouver', 'America/Edmonton']],
  [270, ['America/Chicago', 'America/New_York']],
  [364, ['America/Chicago', 'America/New_York']],
  [308, ['America/Chicago', 'America/Denver']],
  [418, ['America/Toronto', 'America/Halifax']],
  [581, ['America/Toronto', 'America/Halifax']],
  [423, ['America/Chicago', 'America/New_York']],
  [541, ['America/Los_Angeles', 'America/Boise']],
  [458, ['America/Los_Angeles', 'America/Boise']],
  [605, ['America/Chicago', 'America/Denver']],
  [701, ['America/Chicago', 'America/Denver']],
  [850, ['America/Chicago', 'America/New_York']],
  [448, ['America/Chicago', 'America/New_York']],
  [867, ['America/Whitehorse', 'America/Toronto']],
  [906, ['America/Chicago', 'America/Detroit']],
  [928, ['America/Phoenix', 'America/Denver']],
  [273, ['America/Toronto', 'America/Halifax']],
  [306, ['America/Regina', 'America/Winnipeg', 'America/Edmonton']],
  [474, ['America/Regina', 'America/Winnipeg', 'America/Edmonton']],
  [606, ['America/New_York', 'America/Chicago']],
  [620, ['America/Chicago', 'America/Denver']],
  [689, ['America/New_York']],
  [729, ['America/Chicago', 'America/New_York']],
  [775, ['America/Los_Angeles', 'America/Denver']],
  [785, ['America/Chicago', 'America/Denver']],
  [807, ['America/Toronto', 'America/Winnipeg', 'America/Atikokan']],
  [879, ['America/St_Johns', 'America/Goose_Bay']],
  [907, ['America/Anchorage', 'America/Adak']],
  [915, ['America/Denver', 'America/Chicago']],
  [931, ['America/Chicago', 'America/New_York']],
];

const nine = { windows: [{ days: EVERY_DAY, start: 480, end: 1260 }], quiet: [], holidays: new Set<string>() };

/** All of them, by a number that doesn't tell in which of its places its holder is. */
const hidden = [
  ...anywhere,
  ...split.map(([code, places]): [string, number, string[]] => [
    `area code ${code}`,
    1e10 + code * 1e7 + 2345678,
    places,
  ]),
];

test.each(hidden)('%s is rung within hours wherever it may be, at any time of a year', (_kind, number, places) => {
  const zones = timeZonesOfNumber(number);
  const from = Date.UTC(2026, 10, 1);
  // Every 125 minutes: over the days that goes through each time of day.
  const wrong = Array.from({ length: 4200 }, (_, at) => new Date(from + at * 7_500_000)).filter(
    (at) => closedReason(nine, zones, at) === undefined && closedReason(nine, places, at) !== undefined,
  );
  expect(wrong).toEqual([]);
});

const [QUARTER_MS, WEEK_MS] = [900_000, 7 * 24 * 3_600_000];

/** The weeks of the next twelve months in whose middle a clock changes at one of some places, by their beginnings. */
function weeksOfChanges(places: readonly string[]): number[] {
  const from = Temporal.Instant.from('2026-11-01T00:00:00Z');
  const changes = places.flatMap((place) => {
    const first = from.toZonedDateTimeISO(place).getTimeZoneTransition('next');
    return [first, first?.getTimeZoneTransition('next')].flatMap((change) => change?.epochMilliseconds ?? []);
  });
  return [...new Set(changes)].map((change) => Math.floor((change - WEEK_MS / 2) / QUARTER_MS) * QUARTER_MS);
}

test.each(hidden)('%s is rung within hours in the weeks in which clocks change', (_kind, number, places) => {
  const zones = timeZonesOfNumber(number);
  const clocks = places.map(
    (timeZone) => new Intl.DateTimeFormat('en', { timeZone, hour: 'numeric', hourCycle: 'h23' }),
  );
  const wrong = weeksOfChanges(places).flatMap((from) => {
    let window = nextCallingWindow(nine, zones, new Date(from));
    return Array.from({ length: WEEK_MS / QUARTER_MS }, (_, quarter) => new Date(from + quarter * QUARTER_MS)).filter(
      (at) => {
        if (window.closesAt <= at) window = nextCallingWindow(nine, zones, at);
        const isRung = window.opensAt <= at && at < window.closesAt;
        return isRung && clocks.some((clock) => Number(clock.format(at)) < 8 || Number(clock.format(at)) >= 21);
      },
    );
  });
  expect(wrong).toEqual([]);
});

test('a landline outside North America stays with its prefix', () => {
  const zones = [61255501234, 74012345678, 34911234567, 351213123456, 551131234567].map(timeZonesOfNumber);
  expect(zones).toEqual([
    ['Australia/Sydney'],
    ['Europe/Kaliningrad'],
    ['Europe/Madrid'],
    ['Europe/Lisbon'],
    ['America/Sao_Paulo'],
  ]);
});

test('each name of the generated zones is a time zone that is dialed by', () => {
  const names = Object.values(zonesByPrefix).flatMap((zones) => zones.split(' '));
  expect(names.filter((name) => readTimeZone(name) !== name)).toEqual([]);
});

test('an area code laid over another one is known with it', () => {
  for (const [code, of] of Object.entries(overlays)) {
    expect(timeZonesOfNumber(Number(`${code}5550123`)), code).toEqual(timeZonesOfNumber(Number(`${of}5550123`)));
  }
});

test('each area code that the numbering plan has is known to the zones', () => {
  const codes = Array.from({ length: 800 }, (_, at) => String(1200 + at));
  const unknown = codes.filter((code) => holdersOf(`${code}2345678`).isLandline && !(code in zonesByPrefix));
  expect(unknown).toEqual([]);
});

test('a number of no country has none', () => {
  expect(timeZonesOfNumber(88312345678)).toEqual([]);
});

test('the generated zones are those of the library; `npm run generate` writes them', () => {
  const file = new URL('./generated/zones-by-prefix.ts', import.meta.url);
  expect(readFileSync(file, 'utf8')).toBe(zonesByPrefixSource());
});
