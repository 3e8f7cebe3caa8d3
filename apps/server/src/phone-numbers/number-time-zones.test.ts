import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { zonesByPrefixSource } from '../../generate/zones-by-prefix.ts';
import { timeZonesOfNumber } from './number-time-zones.ts';

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

test('a toll-free number may be anywhere in its country, and nowhere else', () => {
  const zones = timeZonesOfNumber(18005550123);
  expect(zones).toEqual(expect.arrayContaining(['America/New_York', 'Pacific/Honolulu']));
  expect(zones).not.toContain('Pacific/Guam');
  expect(zones).not.toContain('America/Halifax');
});

test('a number of no country has none', () => {
  expect(timeZonesOfNumber(88312345678)).toEqual([]);
});

test('the generated zones are those of the library; `npm run generate` writes them', () => {
  const file = new URL('./generated/zones-by-prefix.ts', import.meta.url);
  expect(readFileSync(file, 'utf8')).toBe(zonesByPrefixSource());
});
