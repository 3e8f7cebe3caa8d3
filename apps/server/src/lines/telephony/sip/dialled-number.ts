import { type CountryCode, getCountryCallingCode, parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { isE164 } from '../../../foundation/values/e164.ts';
import type { Trunk } from '../trunk.ts';

type NumberForm = Pick<Trunk, 'numberFormat' | 'country' | 'dialPrefix'>;

/**
 * A number as a trunk wants it dialled.
 * @param number E.164
 */
export function dialledNumber(number: string, { numberFormat, country, dialPrefix = '' }: NumberForm): string {
  return dialPrefix + inForm(number, numberFormat, country as CountryCode | undefined);
}

function inForm(number: string, format: Trunk['numberFormat'], country: CountryCode | undefined): string {
  if (format === 'e164_plus') return number;
  const parsed = parsePhoneNumberFromString(number, { extract: false });
  if (format === 'e164' || !parsed || !country) return number.slice(1);
  const abroad = exitCode(country) + number.slice(1);
  if (format === 'international_prefix') return abroad;
  return parsed.country === country ? digits(parsed.formatNational()) : abroad;
}

/** What is dialled before a foreign country code; 00 where a country has no code of its own (ITU-T E.164). */
function exitCode(country: CountryCode): string {
  const known = exitCodes.get(country) ?? readExitCode(country);
  exitCodes.set(country, known);
  return known;
}

const exitCodes = new Map<CountryCode, string>();

function readExitCode(country: CountryCode): string {
  const foreign = parsePhoneNumberFromString(country === 'DE' ? '+14155550100' : '+4930901820')!;
  const dialled = digits(foreign.format('IDD', { fromCountry: country }));
  return dialled.endsWith(foreign.number.slice(1)) ? dialled.slice(0, -(foreign.number.length - 1)) : '00';
}

/** The user part of a URI without its parameters, and without what makes numbers easier to read. */
export const bareUser = (user: string): string => user.replace(/;.*$/, '').replace(/[\s().-]/g, '');

/** Whether a bare user is a number as people dial them. */
export const isDialled = (bare: string): boolean => /^\+?\d{3,18}$/.test(bare);

/**
 * How a number may be written as a bare user: in E.164 with and without its plus, and as people of the trunk's country dial
 * it. The surest come first.
 * @param number E.164
 */
export function spellingsOf(number: string, country: string | undefined): string[] {
  const bare = number.slice(1);
  if (country === undefined) return [number, bare];
  const parsed = parsePhoneNumberFromString(number, { extract: false });
  const isNational = parsed?.countryCallingCode === getCountryCallingCode(country as CountryCode);
  const national = isNational ? [digits(parsed.formatNational()), `${parsed.nationalNumber}`] : [];
  return [...new Set([number, bare, exitCode(country as CountryCode) + bare, ...national])];
}

const digits = (text: string | undefined) => (text ?? '').replace(/\D/g, '');

/**
 * The numbers in E.164 that the user part of a URI may mean: as it stands, and as people of the trunk's country read it.
 * @returns none where it is no number
 */
export function readNumber(user: string | undefined, country: string | undefined): string[] {
  const bare = bareUser(user ?? '');
  if (isE164(bare)) return [bare];
  if (!/^\d{3,18}$/.test(bare)) return [];
  const national =
    country === undefined
      ? undefined
      : parsePhoneNumberFromString(bare, { defaultCountry: country as CountryCode, extract: false });
  const readings = [national?.isPossible() && national.number, isE164(`+${bare}`) && `+${bare}`];
  return [...new Set(readings.filter((reading) => typeof reading === 'string' && reading !== ''))] as string[];
}

/**
 * Who calls, in E.164, by the user part of a URI. On a trunk with a country a number is read as people there write it, and else
 * as it would be abroad. Without one it may be either: what is no number that there can be is not taken for one, and of
 * whose country it is tells the number that is called.
 * @param called E.164
 */
export function readCaller(user: string | undefined, country: string | undefined, called: string): string | undefined {
  const bare = bareUser(user ?? '');
  if (isE164(bare)) return bare;
  if (!/^\d{3,18}$/.test(bare)) return undefined;
  const home = country ?? parsePhoneNumberFromString(called, { extract: false })?.country;
  const defaultCountry = home as CountryCode | undefined;
  const national = defaultCountry && parsePhoneNumberFromString(bare, { defaultCountry, extract: false });
  const abroad = /^[1-9]/.test(bare) ? parsePhoneNumberFromString(`+${bare}`, { extract: false }) : undefined;
  const readings = country === undefined ? [abroad, national] : [national, abroad];
  const valid = readings.find((reading) => reading?.isValid());
  if (valid) return valid.number;
  return country === undefined ? undefined : readNumber(user, country)[0];
}
