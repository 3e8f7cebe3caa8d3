import type { Person } from './spellings.ts';

/** Stands where a number was that is erased: no numbering plan has it, so nobody can be called by it. E.164 without the plus. */
export const ERASED_NUMBER = 9990000000;

const replaced = (match: string) => (match.startsWith('+') ? `+${ERASED_NUMBER}` : String(ERASED_NUMBER));

/** A text without the number. */
export const scrubText = (text: string, { pattern }: Person): string =>
  text.replaceAll(new RegExp(pattern, 'g'), replaced);

/** What names the person whom an object is about. */
const NAMING = ['toNumber', 'fromNumber', 'phoneNumber'];
/** What such an object says of them. */
const PERSONAL = ['variables', 'metadata', 'externalId', 'name', 'sipReason'];
const PERSONAL_IN_RESULT = ['summary', 'data', 'disposition', 'transcript'];

type Fields = Record<string, unknown>;

/**
 * A JSON value without the number: where it stood there is one that nobody has. An object that is about its owner, such as
 * a call, loses what it says of them, and a run whose context holds the number its context.
 */
export function scrub(value: unknown, person: Person): unknown {
  if (typeof value === 'string') return scrubText(value, person);
  if (typeof value === 'number') return isNumber(value, person) ? ERASED_NUMBER : value;
  if (Array.isArray(value)) return value.map((item) => scrub(item, person));
  if (typeof value !== 'object' || value === null || isRejectionOfOther(value, person)) return value;
  const fields = withoutPerson(value as Fields, person);
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [scrubText(name, person), scrub(field, person)]),
  );
}

/** A recipient that was rejected whose number was read as another, however the two are written. */
const isRejectionOfOther = (value: { number?: unknown; phoneNumber?: unknown }, { number }: Person) =>
  typeof value.number === 'number' && value.phoneNumber !== undefined && value.number !== number;

function withoutPerson(object: Fields, person: Person): Fields {
  const { context, result, number } = object;
  const isRun = typeof context === 'object' && context !== null && holds(context, person);
  if (isRun) return withoutContext(object);
  // A recipient that was rejected: the number that was read, and what was sent.
  if (number === person.number && 'phoneNumber' in object)
    return { ...without(object, ['number', ...PERSONAL]), phoneNumber: `+${ERASED_NUMBER}` };
  if (!NAMING.some((name) => isNumber(object[name], person))) return object;
  const rest = without(object, PERSONAL);
  const isResult = typeof result === 'object' && result !== null;
  return isResult ? { ...rest, result: without(result as Fields, PERSONAL_IN_RESULT) } : rest;
}

/** A run without what it holds. */
export const withoutContext = (run: Fields): Fields => ({
  ...without(run, ['output', 'concurrencyKey']),
  context: {},
});

const without = (object: Fields, names: readonly string[]) =>
  Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));

/** Whether a value is the number, in any of its spellings, and nothing else. */
const isNumber = (value: unknown, { pattern }: Person): boolean =>
  (typeof value === 'string' || typeof value === 'number') &&
  new RegExp(`^(?:${pattern})\\)?$`).test(String(value).trim());

/** Whether the number stands anywhere in a JSON value. */
export const holds = (value: unknown, { pattern }: Person): boolean => new RegExp(pattern).test(JSON.stringify(value));
