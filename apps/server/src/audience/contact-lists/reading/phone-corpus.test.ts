import fc from 'fast-check';
import google from 'google-libphonenumber';
import { type CountryCode, getCountries, getCountryCallingCode } from 'libphonenumber-js/max';
import { describe, expect, it } from 'vitest';
import { dialingPlan } from '../../../lines/phone-numbers/dialing-plan.ts';
import { readPhoneNumber } from './phone-number.ts';

/** Google's own library says what a number is; ours may refuse one, and may never read another. */
const library = google.PhoneNumberUtil.getInstance();
const { E164, INTERNATIONAL, NATIONAL, RFC3966 } = google.PhoneNumberFormat;
const { FIXED_LINE, MOBILE, TOLL_FREE, VOIP, UAN } = google.PhoneNumberType;

const countries = getCountries();
const share = ({ right, all }: { right: number; all: number }) => right / all;
/** What people of a country dial before an international number, beside 00. */
const PREFIXES: Partial<Record<CountryCode, string[]>> = {
  AU: ['0011'],
  BR: ['0014', '0015', '0021'],
  BY: ['810'],
  CA: ['011'],
  CL: ['1230'],
  CO: ['005', '007', '009'],
  CU: ['119'],
  GY: ['001'],
  HK: ['001', '006', '0030'],
  ID: ['008', '009'],
  IL: ['012', '014'],
  JM: ['011'],
  JP: ['010'],
  KE: ['000'],
  KH: ['001', '007'],
  KR: ['001', '002', '00700'],
  KZ: ['810'],
  MN: ['001'],
  NG: ['009'],
  RU: ['810'],
  SG: ['001', '008', '019'],
  TH: ['001', '004', '009'],
  TW: ['002', '009'],
  TZ: ['000'],
  US: ['011'],
};

interface Sample {
  country: string;
  digits: number;
  e164: string;
  international: string;
  national: string;
}

/** Numbers of a country, one of each kind, and some that differ from it in their last digits. */
function samplesOf(country: string): Sample[] {
  const samples = new Map<string, Sample>();
  for (const type of [FIXED_LINE, MOBILE, TOLL_FREE, VOIP, UAN]) {
    const example = library.getExampleNumberForType(country, type);
    if (!example) continue;
    const text = library.format(example, E164);
    for (const tail of ['', '7', '42', '808', '1010', '35353']) {
      if (text.length - tail.length < 6) continue;
      const number = library.parse(text.slice(0, text.length - tail.length) + tail);
      if (!library.isValidNumber(number) || library.format(number, E164).length > 16) continue;
      const e164 = library.format(number, E164);
      const digits = Number(e164.slice(1));
      const [international, national] = [library.format(number, INTERNATIONAL), library.format(number, NATIONAL)];
      samples.set(e164, { country, digits, e164, international, national });
    }
  }
  return [...samples.values()];
}

const samples = countries.flatMap(samplesOf);
/** Without the few that only Google's edition of the metadata has. */
const everybody = samples.filter(({ e164 }) => 'digits' in readPhoneNumber(e164));

/** What was read, and how often that was the number meant; fails at the first number that isn't. */
function read(forms: Iterable<[text: string, meant: number]>, defaultCountry?: string): { right: number; all: number } {
  const wrong: string[] = [];
  let right = 0;
  let all = 0;
  for (const [text, meant] of forms) {
    all += 1;
    const number = readPhoneNumber(text, defaultCountry);
    if (!('digits' in number)) continue;
    if (number.digits === meant) right += 1;
    else wrong.push(`${defaultCountry} ${text}: +${number.digits} instead of +${meant}`);
  }
  expect(wrong).toEqual([]);
  return { right, all };
}

describe('a number beside what Google’s library says of it', () => {
  it('is a number to both', () => {
    expect(samples.length).toBeGreaterThan(4000);
    expect(everybody.length).toBeGreaterThan(samples.length * 0.99);
  });

  it('is read in every form that begins with +, whatever the default country', () => {
    for (const defaultCountry of [undefined, 'US', 'DE', 'SG', 'IT', 'BR']) {
      const forms = everybody.flatMap(({ e164, international, digits }) => {
        const spaced = international.replaceAll(' ', '\u00a0');
        const texts = [
          e164,
          international,
          spaced,
          international.replaceAll(' ', '-'),
          `(${e164})`,
          `'${e164}`,
          `="${e164}"`,
        ];
        return texts.map((text): [string, number] => [text, digits]);
      });
      const { right, all } = read(forms, defaultCountry);
      expect(right).toBe(all);
    }
    const links = everybody.map(({ e164, digits }): [string, number] => [
      library.format(library.parse(e164), RFC3966),
      digits,
    ]);
    expect(read(links).right).toBe(links.length);
  });

  it.each(countries)('is never another behind 00 or the prefix of %s', (country) => {
    // A fourth of all for each country, so that each number is read in sixty of them.
    const some = everybody.filter((_, at) => at % 4 === countries.indexOf(country) % 4);
    for (const prefix of ['00', ...(PREFIXES[country] ?? [])]) {
      const forms = some.flatMap(({ e164, international, digits }, at): [string, number][] =>
        at % 2
          ? [[`${prefix}${e164.slice(1)}`, digits]]
          : [[`${prefix} ${international.slice(1).replaceAll('-', '.')}`, digits]],
      );
      // Some read as a number behind either prefix, or as one of the country, and are refused.
      expect(share(read(forms, country))).toBeGreaterThan(0.7);
    }
  });

  it('is never another where it is of the list’s own country, and stands behind a prefix of others such as 001 or 007', () => {
    for (const country of countries) {
      const own = everybody.filter((sample) => sample.country === country);
      for (const prefix of ['001', '002', '005', '006', '007', '008', '009']) {
        read(
          own.map(({ e164, digits }) => [`${prefix}${e164.slice(1)}`, digits]),
          country,
        );
      }
    }
  });

  it('is read behind 00 only where nothing else fits, by Google’s library', () => {
    const [sample, country] = [fc.constantFrom(...everybody), fc.constantFrom(...countries)];
    const prefix = fc.constantFrom('00', '001', '002', '005', '006', '007', '008', '009', '0014', '0030');
    const tail = fc.stringMatching(/^[0-9]{0,4}$/);
    const readings = new Set<number>();
    fc.assert(
      fc.property(sample, country, fc.option(prefix), tail, fc.boolean(), (of, country, prefix, tail, isNational) => {
        const meant = isNational ? of.national.replace(/\D/g, '').replace(/^0/, '') : of.e164.slice(1);
        const digits = (prefix ?? '0') + meant.slice(0, meant.length - tail.length) + tail;
        const text = prefix === null ? `0${digits}` : digits;
        const number = readPhoneNumber(text, country);
        const fitting = readingsBehindZeros(text, country);
        readings.add(fitting.length);
        if (fitting.length > 1)
          expect(number, `${country} ${text}: ${fitting}`).toMatchObject({ code: 'ambiguous_phone' });
        else if ('digits' in number && fitting.length === 1) expect([number.digits]).toEqual(fitting);
      }),
      { numRuns: 20_000 },
    );
    expect([...readings].sort()).toEqual(expect.arrayContaining([0, 1, 2]));
  });

  it('has every prefix of the table in the metadata', () => {
    for (const [country, prefixes] of Object.entries(PREFIXES)) {
      for (const prefix of prefixes) expect(prefix).toMatch(dialingPlan(country)!.internationalPrefix!);
    }
  });

  it.each(countries)('is read in the national form of %s, and with its code without +', (country) => {
    const samples = everybody.filter((sample) => sample.country === country);
    const national = samples.map(({ national, digits }): [string, number] => [national, digits]);
    const ownCode = samples.map(({ e164, digits }): [string, number] => [e164.slice(1), digits]);
    expect([share(read(national, country)), share(read(ownCode, country))]).toEqual([1, 1]);
  });

  it.each(['AT', 'AU', 'DE', 'FR', 'GB', 'ID', 'JP', 'SE'] as const)(
    'of another country without + is never one of %s, which writes 0 before its own',
    (country) => expect(foreignTaken(country)).toEqual([]),
  );

  it.each([
    ['ES', 9],
    ['IT', 10],
    ['PL', 9],
    ['US', 10],
  ] as const)('of another country without + is one of %s only where it has exactly their form', (country, digits) => {
    const taken = foreignTaken(country);
    expect(taken.filter((number) => number.length !== digits && number.length !== digits - 1)).toEqual([]);
    expect(taken.length).toBeLessThan(everybody.length * 0.06);
  });
});

/** The numbers of other countries that are read as one of this country when their plus is missing. */
function foreignTaken(country: CountryCode): string[] {
  const code = `+${getCountryCallingCode(country)}`;
  const foreign = everybody.filter(({ e164 }) => !e164.startsWith(code)).map(({ e164 }) => e164.slice(1));
  return foreign.filter((digits) => 'digits' in readPhoneNumber(digits, country));
}

/** A number that both libraries have, as they read digits with + or as they are dialled in a country. */
function validNumber(text: string, country?: CountryCode): string[] {
  try {
    const number = library.parse(text, country);
    const e164 = library.format(number, E164);
    return library.isValidNumber(number) && 'digits' in readPhoneNumber(e164) ? [e164.slice(1)] : [];
  } catch {
    return [];
  }
}

/** What digits that begin with 00 may be in a list of a country, by Google's library: with all digits of what is no own number. */
function readingsBehindZeros(text: string, country: CountryCode): number[] {
  const code = getCountryCallingCode(country);
  const [behind00, rest] = [text.slice(2), text.slice(3)];
  const dialled = validNumber(text, country).filter((digits) => text.endsWith(digits) || digits.startsWith(code));
  const asAbroad = dialled.filter((digits) => text.endsWith(digits));
  const abroad = [...validNumber(`+${behind00}`).filter((digits) => digits === behind00), ...asAbroad];
  const isTrunkPrefix = library.getNddPrefixForRegion(country, true) === '0';
  const own = [
    ...(rest.startsWith(code) ? validNumber(`+${rest}`) : []).filter((digits) => digits === rest),
    ...(isTrunkPrefix && asAbroad.length === 0 ? validNumber(`+${code}${behind00}`) : []).filter(
      (digits) => digits === code + behind00,
    ),
  ];
  return [...new Set([...abroad, ...dialled, ...(abroad.length > 0 ? own : [])])].map(Number);
}
