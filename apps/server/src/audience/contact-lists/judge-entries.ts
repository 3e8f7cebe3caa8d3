import type { components } from '../../foundation/values/generated/contract.ts';
import { isObject, itemFault, shown, shownNumber } from '../../foundation/values/judged-items.ts';
import { type CalleeWord, type Consent, takeWord } from './reading/callee-word.ts';
import { readPhoneNumber } from './reading/phone-number.ts';
import type { ReadLimits } from './reading/read-contacts.ts';
import { readTimeZone, timeZoneFault } from './reading/time-zone.ts';

type Rejected = components['schemas']['RejectedContactListEntry'];
type Fault = Pick<Rejected, 'code' | 'error'>;

/** A person to add to a list. */
export interface NewEntry extends CalleeWord {
  /** E.164 without the plus. */
  phoneNumber: number;
  name: string | null;
  /** IANA name. */
  timezone: string | null;
  variables: Record<string, string>;
}

export interface EntryTerms {
  /** Of the list. */
  defaultCountry: string | undefined;
  limits: Pick<ReadLimits, 'maxColumns' | 'maxRowLength'>;
}

const FIELDS = ['phoneNumber', 'name', 'timezone', 'doNotCall', 'consent', 'variables'];
const CONSENT_TEXTS = ['source', 'time', 'purpose'] as const;
const LONGEST_NAME = 64;

/**
 * Judges entries as rows of a contact file: each for itself, and of those with one number the first counts; what another says
 * against a call holds too.
 */
export function judgeEntries(
  sent: readonly unknown[],
  terms: EntryTerms,
): { entries: NewEntry[]; rejected: Rejected[] } {
  const entries = new Map<number, { entry: NewEntry; index: number }>();
  const rejected: Rejected[] = [];
  for (const [index, item] of sent.entries()) {
    const read = readEntry(item, terms);
    const first = 'code' in read ? undefined : entries.get(read.phoneNumber);
    if ('code' in read) rejected.push({ index, phoneNumber: shownNumber(item), ...read });
    else if (first) {
      if (read.doNotCall) first.entry.doNotCall = true;
      if (read.consent?.given === false) first.entry.consent = read.consent;
      const error = `Entry ${first.index} has this number already, and is kept.`;
      rejected.push({ index, phoneNumber: shownNumber(item), code: 'duplicate', error });
    } else entries.set(read.phoneNumber, { entry: read, index });
  }
  return { entries: [...entries.values()].map(({ entry }) => entry), rejected };
}

const invalid = (error: string): Fault => ({ code: 'invalid_entry', error });

function readEntry(item: unknown, { defaultCountry, limits }: EntryTerms): NewEntry | Fault {
  const fault = itemFault(item, FIELDS);
  if (fault) return invalid(fault);
  const {
    phoneNumber,
    name,
    timezone,
    doNotCall,
    consent,
    variables = {},
  } = item as Record<string, unknown> & {
    phoneNumber: string;
  };
  if (!isTextOrNull(name)) return invalid('name is not text.');
  if (!isTextOrNull(timezone)) return invalid('timezone is not text.');
  if (doNotCall !== undefined && typeof doNotCall !== 'boolean') return invalid('doNotCall is true or false.');
  const unclear = consentFault(consent);
  if (unclear) return invalid(unclear);
  if (!isObject(variables)) return invalid('variables are an object of texts by their names.');
  const wrong = variablesFault(variables, limits);
  if (wrong) return wrong;
  const length = phoneNumber.length + textLength(variables) + (name?.length ?? 0) + consentLength(consent);
  if (length > limits.maxRowLength) {
    return { code: 'row_too_long', error: 'The entry is longer than a row may be.' };
  }
  const number = readPhoneNumber(phoneNumber, defaultCountry);
  if ('code' in number) return { code: number.code, error: number.reason };
  const { rest, ...word } = wordOf({ doNotCall, consent: consent as Consent | null | undefined }, variables);
  const zone = timezone?.trim() ? readTimeZone(timezone.trim()) : null;
  // Who is not to be called needs no time zone, and a fault of it must not leave the word out.
  if (zone === undefined && !word.doNotCall) return { code: 'invalid_timezone', error: timeZoneFault(timezone!) };
  const person = { phoneNumber: number.digits, name: name?.trim() || null, timezone: zone ?? null };
  return { ...person, ...word, variables: valuesOf(rest) };
}

/** What an entry says by its own fields and by its variables: a no of either holds. */
export function wordOf(
  { doNotCall, consent }: { doNotCall?: boolean | undefined; consent?: Consent | null | undefined },
  variables: Record<string, unknown>,
): CalleeWord & { rest: Record<string, unknown> } {
  const { rest, ...said } = takeWord(variables);
  const agreed = said.consent?.given === false ? said.consent : (consent ?? said.consent);
  return { ...((doNotCall || said.doNotCall) && { doNotCall: true }), ...(agreed && { consent: agreed }), rest };
}

/** What is wrong with what an entry says of a consent. */
function consentFault(consent: unknown): string | undefined {
  if (consent === undefined || consent === null) return undefined;
  if (!isObject(consent) || typeof consent['given'] !== 'boolean')
    return 'consent is an object such as {"given": true, "source": "Web form"}.';
  const unknown = Object.keys(consent).find((name) => name !== 'given' && !isConsentText(name));
  if (unknown !== undefined)
    return `There is no field ${shown(unknown)} in consent. There are given, ${CONSENT_TEXTS.join(', ')}.`;
  const other = CONSENT_TEXTS.find((name) => consent[name] !== undefined && typeof consent[name] !== 'string');
  return other && `${other} in consent is not text.`;
}

const isConsentText = (name: string): boolean => (CONSENT_TEXTS as readonly string[]).includes(name);
const consentLength = (consent: unknown): number => (isObject(consent) ? textLength(consent) : 0);

const isTextOrNull = (value: unknown): value is string | null | undefined =>
  value === undefined || value === null || typeof value === 'string';

/** What is wrong with an entry's variables. */
function variablesFault(variables: Record<string, unknown>, { maxColumns }: EntryTerms['limits']): Fault | undefined {
  const names = Object.keys(variables);
  if (names.length > maxColumns) {
    return { code: 'too_many_fields', error: `There are ${names.length} variables; ${maxColumns} can be.` };
  }
  const long = names.find((name) => name.trim() === '' || name.length > LONGEST_NAME);
  if (long !== undefined) return invalid(`A name in variables has 1 to ${LONGEST_NAME} characters: ${shown(long)}.`);
  const other = names.find((name) => !isTextOrNull(variables[name]));
  return other === undefined ? undefined : invalid(`The value of ${other} in variables is not text.`);
}

const textLength = (variables: Record<string, unknown>): number =>
  Object.values(variables).reduce((sum: number, value) => sum + (typeof value === 'string' ? value.length : 0), 0);

/** The variables that have a value, without the space around it. */
export const valuesOf = (variables: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(variables).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value.trim()]] : [])),
  );
