import { parsePhoneNumberFromString } from 'libphonenumber-js/max';

/** The ISO 3166-1 country of an E.164 number given without its plus; undefined where it belongs to none (+883 …). */
export function countryOfNumber(digits: number): string | undefined {
  return parsePhoneNumberFromString(`+${digits}`)?.country;
}
