import { clocksOf, distinctClocks, zoneNamesOfCountry, zonesOfCountry } from './country-time-zone.ts';
import { zonesByPrefix } from './generated/zones-by-prefix.ts';
import { countriesOfCode, holdersOf } from './numbering-plan.ts';

/** As numbers: cutting digits off a text took most of a look-up, and 20,000 contacts are added at a time. */
const byPrefix = new Map(Object.entries(zonesByPrefix).map(([prefix, zones]) => [Number(prefix), zones.split(' ')]));

/** The most digits that tell a calling code, or an area code of North America with it: what is known of a number at once. */
const START = 10_000;
const byStart = new Map<number, readonly string[] | undefined>();
const bySet = new Map<string, readonly string[]>();

/**
 * The IANA time zones in which the holder of a number may be: one where that is known, several where it isn't, none for
 * numbers of no country. Zones whose clocks agree count once. In North America, where numbers move, it is the area code
 * that tells; elsewhere a landline's prefix. All other numbers (mobile, toll-free, shared, VoIP, personal, or of a kind that
 * nobody knows) may be anywhere in their country. Of a number that can't exist only the first digits are looked at.
 * @param digits the E.164 number without its plus
 */
export function timeZonesOfNumber(digits: number): readonly string[] {
  let start = digits;
  while (start >= START) start = Math.floor(start / 10);
  if (!byStart.has(start)) byStart.set(start, zonesOfStart(start));
  return byStart.get(start) ?? zonesInside(digits);
}

/** What numbers that begin alike are asked by: digits to end on. */
const ENDS = [
  '0000000',
  '1111111',
  '2345678',
  '3333333',
  '4444444',
  '5678901',
  '6666666',
  '7777777',
  '8888888',
  '9999999',
];

/** The zones of all numbers that begin so; nothing where they differ. */
function zonesOfStart(start: number): readonly string[] | undefined {
  const isNorthAmerican = start > 1000 && start < 2000;
  const ofAreaCode = isNorthAmerican && byPrefix.get(start);
  if (ofAreaCode) return distinctClocks(ofAreaCode);
  const countries = isNorthAmerican ? ENDS.flatMap((end) => holdersOf(`${start}${end}`).countries) : [];
  const zones = zonesOfCountries(
    countries.length > 0 ? [...new Set(countries)] : countriesOfCode(String(start)),
    start,
  );
  return zones.length > 1 && !isNorthAmerican ? undefined : zones;
}

/** How many digits tell the kind of most numbers, with their length. */
const KIND = 1_000_000;
type ZonesOf = (digits: number) => readonly string[];
const byKind = new Map<number, ZonesOf | undefined>();

/** The same where the country has several. What is found is remembered for those that begin alike, if ten of them agree. */
function zonesInside(digits: number): readonly string[] {
  let [start, left] = [digits, 0];
  while (start >= KIND) {
    start = Math.floor(start / 10);
    left += 1;
  }
  const key = start * 16 + left;
  if (!byKind.has(key)) {
    const each = ENDS.map((end) => holdersOf(`${start}${end.padEnd(left, '5').slice(0, left)}`));
    const areAlike = new Set(each.map((one) => JSON.stringify(one))).size === 1;
    byKind.set(key, areAlike ? zonesOfHolders(each[0]!, digits) : undefined);
  }
  return (byKind.get(key) ?? zonesOfHolders(holdersOf(String(digits)), digits))(digits);
}

/** The zones of numbers with the same holders: of a landline by its prefix, of others all. */
function zonesOfHolders({ countries, isLandline }: ReturnType<typeof holdersOf>, digits: number): ZonesOf {
  const all = zonesOfCountries(countries.length > 0 ? countries : countriesOfCode(String(digits)), digits);
  if (!isLandline) return () => all;
  const known = new Map<number, readonly string[]>();
  return (number) => {
    let prefix = number;
    while (prefix > 0 && !byPrefix.has(prefix)) prefix = Math.floor(prefix / 10);
    const found = known.get(prefix) ?? zonesOfPrefix(prefix, all);
    known.set(prefix, found);
    return found;
  };
}

/** The zones of a prefix that are of its country's; all where the data know none. */
function zonesOfPrefix(prefix: number, ofCountry: readonly string[]): readonly string[] {
  const clocks = new Set(ofCountry.map(clocksOf));
  const zones = (byPrefix.get(prefix) ?? []).filter((zone) => clocks.has(clocksOf(zone)));
  return zones.length > 0 ? distinctClocks(zones) : ofCountry;
}

/**
 * All zones of some countries. Of those with the same clocks one that the main country has, rather the one that numbers of
 * its calling code are known by.
 */
const zonesOfCountries = (countries: readonly string[], digits: number): readonly string[] =>
  once(`${countries}`, () => {
    const all = countries.flatMap(zonesOfCountry);
    const [main = ''] = countries;
    const clocks = new Set(all.map(clocksOf));
    const named = [3, 2, 1]
      .flatMap((length) => byPrefix.get(Number(String(digits).slice(0, length))) ?? [])
      .filter((zone) => clocks.has(clocksOf(zone)));
    const ofMain = named.filter((zone) => zoneNamesOfCountry(main).includes(zone));
    return distinctClocks([...ofMain, ...zonesOfCountry(main), ...named, ...all]);
  });

function once(key: string, work: () => readonly string[]): readonly string[] {
  const found = bySet.get(key) ?? work();
  bySet.set(key, found);
  return found;
}
