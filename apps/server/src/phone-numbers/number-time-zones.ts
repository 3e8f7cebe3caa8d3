import { getCountry } from 'countries-and-timezones';
import { clocksOf } from './country-time-zone.ts';
import { zonesByPrefix } from './generated/zones-by-prefix.ts';
import { countryOfNumber } from './numbering-plan.ts';

/** As numbers: cutting digits off a text took most of a look-up, and 20,000 contacts are added at a time. */
const byPrefix = new Map(Object.entries(zonesByPrefix).map(([prefix, zones]) => [Number(prefix), zones.split(' ')]));
/** By the country and the prefix that decide. */
const known = new Map<string, readonly string[]>();

/**
 * The IANA time zones in which the holder of a number may be, by its area code or else its country: one where the numbering
 * plan tells, several where it doesn't, none for numbers of no country. Zones whose clocks agree all year count once. Of a
 * number that can't exist only the first digits are looked at.
 * @param digits the E.164 number without its plus
 */
export function timeZonesOfNumber(digits: number): readonly string[] {
  let prefix = digits;
  while (prefix > 0 && !byPrefix.has(prefix)) prefix = Math.floor(prefix / 10);
  const ofPrefix = byPrefix.get(prefix) ?? [];
  // Most prefixes are of one zone, and which country a number is of takes longer.
  if (ofPrefix.length === 1) return ofPrefix;
  const country = countryOfNumber(digits);
  if (country === undefined) return [];
  const key = `${country} ${prefix}`;
  const found = known.get(key) ?? distinctClocks(zonesOf(country, ofPrefix));
  known.set(key, found);
  return found;
}

/** A prefix that several countries share, such as +1 800, is narrowed to the zones of the number's own. */
function zonesOf(country: string, ofPrefix: readonly string[]): readonly string[] {
  const ofCountry: readonly string[] = getCountry(country)?.timezones ?? [];
  const shared = ofPrefix.filter((zone) => ofCountry.includes(zone));
  return [shared, ofPrefix, ofCountry].find((zones) => zones.length > 0) ?? [];
}

function distinctClocks(zones: readonly string[]): string[] {
  const byClocks = new Map(zones.toReversed().map((zone) => [clocksOf(zone), zone]));
  return [...byClocks.values()].sort();
}
