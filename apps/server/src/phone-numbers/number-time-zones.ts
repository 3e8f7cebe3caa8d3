import { getCountry } from 'countries-and-timezones';
import { clocksOf } from './country-time-zone.ts';
import { zonesByPrefix } from './generated/zones-by-prefix.ts';
import { countryOfNumber } from './numbering-plan.ts';

/** No prefix is longer. */
const LONGEST_PREFIX = Math.max(...Object.keys(zonesByPrefix).map((prefix) => prefix.length));

const byPrefix = new Map(Object.entries(zonesByPrefix));
/** By the country and the prefix that decide. */
const known = new Map<string, readonly string[]>();

/**
 * The IANA time zones in which the holder of a number may be, by its area code or else its country: one where the numbering
 * plan tells, several where it doesn't, none for numbers of no country. Zones whose clocks agree all year count once.
 * @param digits the E.164 number without its plus
 */
export function timeZonesOfNumber(digits: number): readonly string[] {
  const country = countryOfNumber(digits);
  if (country === undefined) return [];
  const prefix = prefixOf(String(digits));
  const key = `${country} ${prefix ?? ''}`;
  const found = known.get(key) ?? distinctClocks(zonesOf(country, prefix));
  known.set(key, found);
  return found;
}

function prefixOf(digits: string): string | undefined {
  for (let length = LONGEST_PREFIX; length > 0; length -= 1) {
    const prefix = digits.slice(0, length);
    if (byPrefix.has(prefix)) return prefix;
  }
  return undefined;
}

/** A prefix that several countries share, such as +1 800, is narrowed to the zones of the number's own. */
function zonesOf(country: string, prefix: string | undefined): readonly string[] {
  const ofCountry: readonly string[] = getCountry(country)?.timezones ?? [];
  const ofPrefix = prefix === undefined ? [] : byPrefix.get(prefix)!.split(' ');
  const shared = ofPrefix.filter((zone) => ofCountry.includes(zone));
  return [shared, ofPrefix, ofCountry].find((zones) => zones.length > 0) ?? [];
}

function distinctClocks(zones: readonly string[]): string[] {
  const byClocks = new Map(zones.toReversed().map((zone) => [clocksOf(zone), zone]));
  return [...byClocks.values()].sort();
}
