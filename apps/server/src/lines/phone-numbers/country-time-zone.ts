import { getCountry } from 'countries-and-timezones';
import { Temporal } from 'temporal-polyfill';

const YEARS = { years: 2 };
const clocks = new Map<string, string>();

/** What the clock of a zone shows in the next two years: zones with the same clocks are one to a caller. */
export function clocksOf(timeZone: string): string {
  const known = clocks.get(timeZone);
  if (known !== undefined) return known;
  let at = Temporal.Now.zonedDateTimeISO(timeZone);
  const end = at.add(YEARS);
  const offsets = [at.offset];
  for (;;) {
    const change = at.getTimeZoneTransition('next');
    if (!change || Temporal.ZonedDateTime.compare(change, end) > 0) break;
    offsets.push(`${change.epochMilliseconds} ${change.offset}`);
    at = change;
  }
  clocks.set(timeZone, offsets.join());
  return clocks.get(timeZone)!;
}

/** Some zones, of those with the same clocks the first. */
export function distinctClocks(zones: readonly string[]): string[] {
  const byClocks = new Map(zones.toReversed().map((zone) => [clocksOf(zone), zone]));
  return [...byClocks.values()].sort();
}

/**
 * The IANA time zones of a country.
 * @param country ISO 3166-1 alpha-2
 */
export const zonesOfCountry = (country: string): readonly string[] => getCountry(country)?.timezones ?? [];

/** The same, with the names that they had before. */
export const zoneNamesOfCountry = (country: string): readonly string[] =>
  getCountry(country, { deprecated: true })?.timezones ?? [];

const zonesByCountry = new Map<string, string | undefined>();

/**
 * The time zone of a country whose clocks all agree, the whole year round (Germany, but not Spain, for the Canaries).
 * @param country ISO 3166-1 alpha-2
 */
export function timeZoneOfCountry(country: string): string | undefined {
  if (zonesByCountry.has(country)) return zonesByCountry.get(country);
  const zones = zonesOfCountry(country);
  const zone = zones.length > 0 && distinctClocks(zones).length === 1 ? zones[0] : undefined;
  zonesByCountry.set(country, zone);
  return zone;
}
