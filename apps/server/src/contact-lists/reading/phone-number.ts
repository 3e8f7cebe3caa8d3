import { type CountryCode, isSupportedCountry, parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { findPlan } from '../../phone-numbers/numbering-plan.ts';
import { unguardCell } from './cell-guard.ts';

/** A number in E.164 as a whole number (15 digits fit a double), and its country where it has one. */
export interface PhoneNumber {
  digits: number;
  country: string | undefined;
}

/** Why a cell holds no number that can be called. */
export interface PhoneNumberFault {
  code: 'missing_phone' | 'invalid_phone';
  reason: string;
}

const E164 = /^\+[1-9][0-9]{6,14}$/;
/** What copying from chats, web pages and spreadsheets leaves around a number: direction marks and odd spaces. */
const INVISIBLE = /[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;
const PUNCTUATION = /[\s().\-/\u00ad\u2010-\u2015\u2212]/g;

const invalid = (reason: string): PhoneNumberFault => ({ code: 'invalid_phone', reason });

/** Whether a header cell is really a phone number, so that the file has no header. */
export const isPhoneNumberLike = (cell: string): boolean => /^\+?[\d\s().\-/]{7,20}$/.test(cell);

function international(digits: string): PhoneNumber | undefined {
  const plan = findPlan(digits);
  return plan && { digits: Number(digits), country: plan.country };
}

/** Undoes what spreadsheets and address books wrap around a number. */
function unwrap(cell: string): string {
  let text = unguardCell(cell.replace(INVISIBLE, '').trim());
  const formula = /^="?([^"]+)"?$/.exec(text);
  if (formula) text = formula[1]!;
  return text
    .replace(/^tel:/i, '')
    .replace(/^(\d{7,15})\.0$/, '$1')
    .replace('\uff0b', '+')
    .trim();
}

function reasonOf(text: string, defaultCountry: string | undefined): string {
  if (/^\d([.,]\d+)?e\+?\d+$/i.test(text)) {
    return 'A spreadsheet has shortened this number. Format the column as text, and export it again.';
  }
  if (!text.startsWith('+') && !defaultCountry) {
    return 'A number without + and country code can be read only if the list has a defaultCountry.';
  }
  return 'This is not a phone number that can be called.';
}

/** Reads a number that is not plain E.164. `text` is unwrapped. */
function readNational(text: string, defaultCountry: string | undefined): PhoneNumber | PhoneNumberFault {
  const bare = text.replace(PUNCTUATION, '');
  const prefixed = /^00[1-9]/.test(bare) ? `+${bare.slice(2)}` : bare;
  if (E164.test(prefixed)) {
    const found = international(prefixed.slice(1));
    if (found) return found;
  }
  if (defaultCountry === 'US' || defaultCountry === 'CA') {
    const found = /^1?[2-9]\d{9}$/.test(bare) && international(bare.length === 10 ? `1${bare}` : bare);
    if (found) return found;
  }
  const options = { extract: false, ...(defaultCountry && { defaultCountry: defaultCountry as CountryCode }) };
  const parsed = parsePhoneNumberFromString(prefixed.startsWith('+') ? prefixed : text, options);
  if (parsed?.ext) return invalid('A number with an extension cannot be dialled. Give the direct number.');
  if (parsed?.isValid()) return { digits: Number(parsed.number.slice(1)), country: parsed.country };
  return invalid(reasonOf(text, defaultCountry));
}

/**
 * Reads a phone number as people write it: E.164, with spaces and brackets, `00` or `tel:` before it, in the national
 * form of the default country, or as a spreadsheet leaves it (`'+1…`, `="+1…"`, `14155550100.0`). Short and emergency
 * numbers are invalid.
 * @param defaultCountry ISO 3166-1 alpha-2, for national numbers
 */
export function readPhoneNumber(cell: string, defaultCountry?: string): PhoneNumber | PhoneNumberFault {
  if (E164.test(cell)) {
    const found = international(cell.slice(1));
    if (found) return found;
  }
  const text = unwrap(cell);
  if (text === '') return { code: 'missing_phone', reason: 'The row has no phone number.' };
  if (text.length > 64) return invalid('This is not a phone number that can be called.');
  return readNational(text, defaultCountry && isSupportedCountry(defaultCountry) ? defaultCountry : undefined);
}
