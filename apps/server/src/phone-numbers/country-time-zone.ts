import { getCountry } from 'countries-and-timezones';

const DAY_MS = 86_400_000;

/** The wall clock of a zone on one day in each month of two years: zones with the same clocks are one to a caller. */
export function clocksOf(timeZone: string): string {
  const format = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' });
  const from = Date.now();
  return Array.from({ length: 24 }, (_, month) => {
    const parts = format.formatToParts(from + month * 30.5 * DAY_MS);
    return parts.find((part) => part.type === 'timeZoneName')?.value;
  }).join();
}

const zonesByCountry = new Map<string, string | undefined>();

/**
 * The time zone of a country whose clocks all agree, the whole year round (Germany, but not Spain, for the Canaries).
 * @param country ISO 3166-1 alpha-2
 */
export function timeZoneOfCountry(country: string): string | undefined {
  if (zonesByCountry.has(country)) return zonesByCountry.get(country);
  const zones = getCountry(country)?.timezones ?? [];
  const zone = zones.length > 0 && new Set(zones.map(clocksOf)).size === 1 ? zones[0] : undefined;
  zonesByCountry.set(country, zone);
  return zone;
}
