import { type CountryCode, parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { isE164 } from '../../../foundation/values/e164.ts';
import { type DialingPlan, dialingPlan, withoutTrunkPrefix } from '../../../lines/phone-numbers/dialing-plan.ts';
import { findPlan, type PlannedNumber } from '../../../lines/phone-numbers/numbering-plan.ts';
import { notANumber } from './not-a-number.ts';
import { type PhoneNumberFault, phoneFault } from './phone-fault.ts';
import { unwrapCell } from './unwrap-cell.ts';

/** A number in E.164 as a whole number (15 digits fit a double), and its country where it has one. */
export interface PhoneNumber {
  digits: number;
  country: string | undefined;
}

const PUNCTUATION = /[\s().\-/[\]~\u00ad\u00b7\u2010-\u2015\u2212\u30fb]/g;
/** Where national numbers have no prefix, a foreign one without its plus is hardly shorter. */
const SHORTEST_FOREIGN = 9;
const SHORTEST_NATIONAL = 5;
/** Its numbers have one length, and the 1 before them is seldom written. */
const NORTH_AMERICA = '1';

/** Whether a header cell is really a phone number, so that the file has no header. */
export const isPhoneNumberLike = (cell: string): boolean => /^\+?[\d\s().\-/]{7,20}$/.test(cell);

/** A number that a plan has, without its plus. */
type Reading = PhoneNumber & PlannedNumber;

function planned(digits: string): Reading | undefined {
  const plan = findPlan(digits);
  return plan && { digits: Number(digits), ...plan };
}

/** The same, though a trunk prefix stands behind the country code: +49 (0)30 … */
function lenient(digits: string): Reading | undefined {
  const parsed = parsePhoneNumberFromString(`+${digits}`, { extract: false });
  return parsed?.isValid() ? planned(parsed.number.slice(1)) : undefined;
}

const found = ({ digits, country }: Reading): PhoneNumber => ({ digits, country });

function ambiguous(readings: Reading[]): PhoneNumberFault {
  const shown = readings.map(({ digits }) => `+${digits}`).join(' or ');
  return phoneFault('ambiguous_phone', `This may be ${shown}. Write it with + and its country code.`);
}

const distinct = (readings: (Reading | undefined)[]): Reading[] => [
  ...new Map(readings.flatMap((each) => (each ? [[each.digits, each] as const] : []))).values(),
];

/** How long prefixes before international numbers are: 0 in Samoa, 14110011 in Australia. */
const PREFIX_LENGTHS = [8, 7, 6, 5, 4, 3, 2, 1];

/** What stands behind each of the country's own international prefixes that fits, and behind `00`. */
function behindPrefix(bare: string, { internationalPrefix: own }: DialingPlan): string[] {
  const lengths = own?.test(bare)
    ? PREFIX_LENGTHS.filter((length) => own.exec(bare.slice(0, length))?.[0].length === length)
    : [];
  if (bare.startsWith('00')) lengths.push(2);
  return lengths.flatMap((length) => (bare[length] === '0' ? [] : [bare.slice(length)]));
}

/**
 * The country's own numbers that may be meant too by what begins with `00` and is read as numbers abroad: behind a prefix of
 * other countries such as 001 or 007, and with the trunk prefix twice if the country has another prefix than 00.
 */
function ownBehindZeros(bare: string, abroad: readonly Reading[], plan: DialingPlan): (Reading | undefined)[] {
  if (!bare.startsWith('00')) return [];
  const [rest, behind00] = [bare.slice(3), bare.slice(2)];
  const isBehindOwn =
    plan.internationalPrefix?.exec('00')?.[0] === '00' || abroad.some(({ digits }) => digits !== Number(behind00));
  return [
    rest.startsWith(plan.callingCode) ? planned(rest) : undefined,
    plan.trunkPrefix?.test('0') && !isBehindOwn ? planned(plan.callingCode + behind00) : undefined,
  ];
}

/** Whether people of the country write the number so: with its trunk prefix, or where that isn't written, without. */
function isUsualForm(bare: string, national: string, reading: Reading, { callingCode }: DialingPlan): boolean {
  if (national !== bare || callingCode === NORTH_AMERICA) return true;
  if (!reading.isOfFixedLength) return false;
  const parsed = parsePhoneNumberFromString(`+${reading.digits}`, { extract: false });
  const forms = [parsed?.formatNational(), parsed?.format('NATIONAL', { nationalPrefix: false })];
  return forms.some((form) => form?.replace(/\D/g, '') === bare);
}

/**
 * Reads digits without a plus as somebody in the country writes them: behind its international prefix or `00`, with its own
 * country code, or national. What can be read in two ways is refused, but that the own country code goes first.
 */
function readDialled(bare: string, plan: DialingPlan): PhoneNumber | PhoneNumberFault {
  const national = withoutTrunkPrefix(plan, bare);
  const home = planned(plan.callingCode + national);
  const rests = behindPrefix(bare, plan);
  const exact = distinct(rests.map(planned));
  const abroad = exact.length > 0 ? exact : distinct(rests.map(lenient));
  if (abroad.length > 0) {
    const readings = distinct([...abroad, home, ...ownBehindZeros(bare, abroad, plan)]);
    return readings.length === 1 ? found(readings[0]!) : ambiguous(readings);
  }
  if (bare.startsWith(plan.callingCode)) {
    const own = planned(bare) ?? (home ? undefined : lenient(bare));
    if (own) return found(own);
  }
  const foreign = plan.hasTrunkPrefix || bare.length >= SHORTEST_FOREIGN ? planned(bare) : undefined;
  if (home) {
    const isCertain = !foreign || foreign.digits === home.digits || isUsualForm(bare, national, home, plan);
    return isCertain ? found(home) : ambiguous([home, foreign]);
  }
  if (!foreign) return phoneFault('invalid_phone', 'No numbering plan has this number.');
  return phoneFault('invalid_phone', `Should this be +${bare}? Write a number of another country with its +.`);
}

function readBare(bare: string, plan: DialingPlan | undefined): PhoneNumber | PhoneNumberFault {
  const international = bare.startsWith('+')
    ? bare.slice(1)
    : !plan && bare.startsWith('00')
      ? bare.slice(2)
      : undefined;
  if (international !== undefined) {
    const reading = planned(international) ?? lenient(international);
    return reading ? found(reading) : phoneFault('invalid_phone', 'No numbering plan has this number.');
  }
  if (plan) return readDialled(bare, plan);
  if (bare.length < SHORTEST_NATIONAL) return phoneFault('invalid_phone', 'This is too short for a phone number.');
  const reason =
    'A number without + and country code can be read only if the list has a defaultCountry, such as US. Make a list with one, or write the number with + and its country code.';
  return phoneFault('default_country_needed', reason);
}

/** A number among signs that people put between digits, or nothing where other signs stand there. */
function bareOf(text: string): string | undefined {
  const bare = text.replace(PUNCTUATION, '');
  return /^\+?\d+$/.test(bare) ? bare : undefined;
}

/** Whether a slash parts two numbers; where it only sets off an area code, no number stands before it. */
function isSeveral(text: string, plan: DialingPlan | undefined): boolean {
  const slash = text.indexOf('/');
  const first = slash === -1 ? undefined : bareOf(text.slice(0, slash));
  return first !== undefined && 'digits' in readBare(first, plan);
}

/**
 * Reads a phone number as people write it: E.164, with spaces and brackets, behind `00`, the international prefix of the
 * default country or `tel:`, in that country's national form, or as a spreadsheet leaves it (`'+1…`, `="+1…"`,
 * `14155550100.0`). Short and emergency numbers are invalid.
 * @param defaultCountry ISO 3166-1 alpha-2, for numbers without `+`
 */
export function readPhoneNumber(cell: string, defaultCountry?: string): PhoneNumber | PhoneNumberFault {
  if (isE164(cell)) {
    const digits = cell.slice(1);
    const plan = findPlan(digits);
    if (plan) return { digits: Number(digits), country: plan.country };
  }
  const text = unwrapCell(cell);
  const country = defaultCountry as CountryCode | undefined;
  const fault = notANumber(text, () => parsePhoneNumberFromString(text, country)?.formatNational() === text);
  if (fault) return fault;
  const plan = defaultCountry === undefined ? undefined : dialingPlan(defaultCountry);
  if (isSeveral(text, plan)) return phoneFault('several_phones', 'The cell holds more than one number. Keep one.');
  const bare = bareOf(text);
  if (bare !== undefined) return readBare(bare, plan);
  return parsePhoneNumberFromString(text, { extract: false, ...(country && { defaultCountry: country }) })?.ext
    ? phoneFault('invalid_phone', 'A number with an extension cannot be dialled. Give the direct number.')
    : phoneFault('invalid_phone', 'This is not a phone number.');
}
