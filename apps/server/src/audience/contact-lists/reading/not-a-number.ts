import { type PhoneNumberFault, phoneFault } from './phone-fault.ts';

const LONGEST = 64;

const FORMULA_ERROR = /^#(n\/a|ref!|value!|name\?|num!|null!|div\/0!|spill!|calc!|getting_data|error!)$/i;
const NOTHING = /^(null|n\/?a|nan|nil|none|undefined|unknown|\(?blank\)?|-+|\?+)$/i;
const YEAR = '(?:19|20)\\d\\d';
const DATES = [
  new RegExp(`^${YEAR}([-./])(?:0?[1-9]|1[0-2])\\1(?:0?[1-9]|[12]\\d|3[01])(?:[t ].*)?$`, 'i'),
  new RegExp(`^(?:0?[1-9]|[12]\\d|3[01])([-./])(?:0?[1-9]|[12]\\d|3[01])\\1${YEAR}(?: .*)?$`),
];
/** With a year of two digits. New Caledonia writes its numbers so. */
const SHORT_DATE = /^(?:0?[1-9]|[12]\d|3[01])([-./])(?:0?[1-9]|[12]\d|3[01])\1\d\d$/;
/** Signs and words that part two numbers and stand in none. A slash may set off an area code, so it is not among them. */
const SEPARATOR = /[,;|&\n\r]|\s(?:or|and|oder|und|ou|et|o|y|e|of|en)\s/i;

const digitsIn = (text: string): number => text.replace(/\D/g, '').length;

/**
 * What a cell holds instead of one phone number, with what to do about it; nothing where it may be one.
 * @param text unwrapped
 * @param isNationalForm whether the default country writes a number exactly so
 */
export function notANumber(text: string, isNationalForm: () => boolean): PhoneNumberFault | undefined {
  if (text === '') return phoneFault('missing_phone', 'The row has no phone number.');
  if (text.length > LONGEST) return phoneFault('invalid_phone', 'This is too long for a phone number.');
  if (/^##+$/.test(text)) {
    const reason =
      'The spreadsheet has saved # signs because the column was too narrow. Widen it, and export it again.';
    return phoneFault('invalid_phone', reason);
  }
  if (FORMULA_ERROR.test(text)) {
    const reason = `${text} is what a spreadsheet shows where a formula has failed. Mend the formula, or paste the number itself.`;
    return phoneFault('invalid_phone', reason);
  }
  if (NOTHING.test(text)) {
    return phoneFault(
      'invalid_phone',
      `${text} stands where an export found no number. Fill it in, or leave the row out.`,
    );
  }
  if (/^\d([.,]\d+)?e\+?\d+$/i.test(text)) {
    const reason = 'A spreadsheet has shortened this number. Format the column as text, and export it again.';
    return phoneFault('invalid_phone', reason);
  }
  if (DATES.some((date) => date.test(text)) || (SHORT_DATE.test(text) && !isNationalForm())) {
    return phoneFault('invalid_phone', 'This is a date. Is it the right column?');
  }
  if (text.split(SEPARATOR).filter((part) => digitsIn(part) >= 5).length > 1) {
    return phoneFault('several_phones', 'The cell holds more than one number. Keep one.');
  }
  return undefined;
}
