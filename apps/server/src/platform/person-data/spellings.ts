import { type CountryCode, parsePhoneNumberFromString } from 'libphonenumber-js/max';

/** A person, and how their number may be written. */
export interface Person {
  /** E.164 without the plus. */
  number: number;
  /** A regular expression for the number in text, for JavaScript and for PostgreSQL. */
  pattern: string;
}

/** What people put between digits. */
const BETWEEN = '[ ().\\-/\\u00a0\\u2010-\\u2015]{0,3}';
/** Fewer digits are as well a date, or something that is counted. */
const FEWEST_DIGITS = 9;

const spelled = (digits: string) => [...digits].join(BETWEEN);
const digitsOf = (text: string) => text.replaceAll(/\D/g, '');

/**
 * Every spelling of a number that is surely that of its person, with blanks, brackets, points, hyphens and slashes between
 * its digits. In international form: with or without a plus, 00 or 011, also with the trunk prefix behind the country code.
 * In national form where it has nine digits or more, a country with whose numbers the workspace deals reads this number, and
 * none of them another. Not where it is a part of a longer number or of an ID, or stands behind other digits.
 * @param number E.164 without the plus
 * @param countries ISO 3166-1 alpha-2: in the national form of which the workspace's numbers are written
 */
export function personOf(number: number, countries: readonly string[]): Person {
  const international = spelled(String(number));
  const { withTrunk, national } = nationalForms(number);
  const certain = national.filter((form) => form.length >= FEWEST_DIGITS && isOnlyReading(form, number, countries));
  const alternatives = [
    `\\+${international}(?![0-9])`,
    `(?<![0-9a-f])(?<!\\+[0-9]{1,3}${BETWEEN})(?:00|011)?${international}(?![0-9a-f])`,
    ...withTrunk.map((form) => `(?:\\+|(?<![0-9a-f])00)${spelled(form)}(?![0-9])`),
    ...certain.map((form) => `${NOT_BEHIND}\\(?${spelled(form)}(?![0-9a-f])(?!-[0-9])`),
  ];
  return { number, pattern: alternatives.join('|') };
}

/** A national number doesn't stand behind another country's code, nor within a number of several groups. */
const NOT_BEHIND = `(?<![0-9a-f+])(?<![0-9]${BETWEEN})`;

/** The digits of a number as they are written within its country, with and without its trunk prefix, and abroad with it. */
function nationalForms(number: number): { withTrunk: string[]; national: string[] } {
  const parsed = parsePhoneNumberFromString(`+${number}`, { extract: false });
  if (!parsed) return { withTrunk: [], national: [] };
  const form = digitsOf(parsed.formatNational());
  const bare = digitsOf(parsed.format('NATIONAL', { nationalPrefix: false }));
  const withoutTrunk = String(parsed.nationalNumber);
  const withTrunk = form.startsWith('0') && form !== withoutTrunk ? [`${parsed.countryCallingCode}${form}`] : [];
  const national = new Set([form, bare, withoutTrunk]);
  return { withTrunk, national: [...national].filter((each) => each !== String(number)) };
}

/** Whether the countries that read a form at all, one of them at least, read this number. */
function isOnlyReading(form: string, number: number, countries: readonly string[]): boolean {
  const read = countries.flatMap((country) => {
    const parsed = parsePhoneNumberFromString(form, { defaultCountry: country as CountryCode, extract: false });
    return parsed?.isValid() ? [parsed.number] : [];
  });
  return read.length > 0 && read.every((each) => each === `+${number}`);
}
