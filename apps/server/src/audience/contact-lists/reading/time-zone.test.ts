import { existsSync, readFileSync } from 'node:fs';
import { getAllCountries, getAllTimezones } from 'countries-and-timezones';
import { Temporal } from 'temporal-polyfill';
import { expect, test } from 'vitest';
import { dayOf } from '../../../dialing/calls/attempt-limits.ts';
import { closedReason, EVERY_DAY, nextCallingWindow } from '../../../dialing/calls/calling-hours.ts';
import { zoneNamesOfCountry, zonesOfCountry } from '../../../lines/phone-numbers/country-time-zone.ts';
import { zonesByPrefix } from '../../../lines/phone-numbers/generated/zones-by-prefix.ts';
import { timeZonesOfNumber } from '../../../lines/phone-numbers/number-time-zones.ts';
import { timeBuckets } from '../../../records/call-statistics/time-buckets.ts';
import { readTimeZone, timeZoneFault } from './time-zone.ts';

/** The tz database of the machine, where it has one: lines of zones and of other names for them. */
const TZ_DATABASE = '/usr/share/zoneinfo/tzdata.zi';
const ofMachine = existsSync(TZ_DATABASE)
  ? Array.from(readFileSync(TZ_DATABASE, 'utf8').matchAll(/^(?:Z|L \S+) (\S+)/gm), ([, name]) => name!)
  : [];
const countries = Object.keys(getAllCountries());
/** Every name that anybody here has heard of. */
const names = [
  ...new Set([
    ...Object.keys(getAllTimezones({ deprecated: true })),
    ...Intl.supportedValuesOf('timeZone'),
    ...Object.values(zonesByPrefix).flatMap((zones) => zones.split(' ')),
    ...countries.flatMap((country) => [...zonesOfCountry(country), ...zoneNamesOfCountry(country)]),
    ...ofMachine,
  ]),
];
const hours = { windows: [{ days: EVERY_DAY, start: 540, end: 1020 }], quiet: [], holidays: new Set<string>() };
const at = new Date('2026-11-20T12:00:00Z');

test('every name that is read is dialed by, and every name with an area is read', () => {
  const read = names.filter((name) => readTimeZone(name) !== undefined);
  for (const name of read) {
    expect(readTimeZone(name.toLowerCase())).toBe(name);
    expect(Temporal.Instant.fromEpochMilliseconds(at.getTime()).toZonedDateTimeISO(name).year).toBe(2026);
    closedReason(hours, [name], at);
    expect(nextCallingWindow(hours, [name], at).closesAt > at, name).toBe(true);
    expect(dayOf([name], at).until > at, name).toBe(true);
    expect(timeBuckets(at, at, 'hour', name).length, name).toBeGreaterThan(0);
  }
  const refused = names.filter((name) => readTimeZone(name) === undefined);
  expect(refused.filter((name) => name.includes('/'))).toEqual([]);
  expect(read.filter((name) => !name.includes('/'))).toEqual(['UTC']);
  expect(read.length).toBeGreaterThan(500);
});

test('whatever a number begins with, the zones in which it may be are read', () => {
  const numbers = Object.keys(zonesByPrefix).flatMap((prefix) => [Number(prefix), Number(prefix.padEnd(11, '2'))]);
  const zones = new Set(numbers.flatMap(timeZonesOfNumber));
  expect([...zones].filter((zone) => readTimeZone(zone) !== zone)).toEqual([]);
  expect(zones.size).toBeGreaterThan(150);
});

/** What Intl takes for a time zone, some without a name of the data at all. */
const words = [
  'PST',
  'BST',
  'IST',
  'CST',
  'JST',
  'EST',
  'MST',
  'HST',
  'AST',
  'PNT',
  'NST',
  'ACT',
  'AET',
  'ART',
  'BET',
  'CAT',
];
const oldNames = [
  'CNT',
  'CTT',
  'EAT',
  'ECT',
  'IET',
  'MIT',
  'NET',
  'PLT',
  'PRT',
  'SST',
  'VST',
  'EST5EDT',
  'CET',
  'GB',
  'Japan',
];

test.each([...words, ...oldNames, 'SystemV/EST5', 'US/Pacific-New', '+02:00', 'Z'])('%s is no time zone', (text) => {
  expect(readTimeZone(text)).toBeUndefined();
  expect(readTimeZone(text.toLowerCase())).toBeUndefined();
});

test('Etc/GMT+5 is five hours behind UTC, as IANA counts', () => {
  const zone = readTimeZone('etc/gmt+5')!;
  expect(Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(zone).offset).toBe('-05:00');
});

test.each([
  ['BST', 'BST has more than one meaning. Write Europe/London or Asia/Dhaka.'],
  ['ist', 'ist has more than one meaning. Write Asia/Kolkata, Europe/Dublin, or Asia/Jerusalem.'],
  ['JST', 'JST is no IANA name with an area. Write Asia/Tokyo.'],
  ['Japan', 'Japan is no IANA name with an area. Write Asia/Tokyo.'],
  ['Zulu', 'Zulu is no IANA name with an area. Write UTC.'],
  ['America/New York', 'America/New York is no IANA name with an area. Write America/New_York.'],
  ['Mars/Olympus', 'There is no such time zone. Give an IANA name such as Europe/Berlin.'],
  ['Europe/Berlin ', 'There is no such time zone. Give an IANA name such as Europe/Berlin.'],
])('%s is refused with what to write', (text, fault) => {
  expect(timeZoneFault(text)).toEqual(typeof fault === 'string' ? fault : expect.stringMatching(fault));
});

test('what a refusal proposes is read', () => {
  for (const word of [...words, ...oldNames, ...names.filter((name) => !name.includes('/'))]) {
    const proposed = /Write (.*)\.$/.exec(timeZoneFault(word))?.[1]?.split(/,? or |, /) ?? [];
    expect(
      proposed.filter((name) => readTimeZone(name) !== name),
      word,
    ).toEqual([]);
  }
});
