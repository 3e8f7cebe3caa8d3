import { type Consent, consentPart, isDoNotCallName } from './callee-word.ts';
import { unguardCell } from './cell-guard.ts';
import { FileFault } from './file-fault.ts';
import { findPhoneColumn, plainTitle } from './phone-names.ts';
import { isPhoneNumberLike } from './phone-number.ts';

/** Where the recognised columns stand, and what the others are called. Positions count from 0. */
export interface Header {
  /** Fields that a row may have. */
  width: number;
  /** The same with the blank ones at the header's end, which may stand there and hold nothing. */
  blankWidth: number;
  phone: number;
  name: number | undefined;
  timezone: number | undefined;
  /** Those that say who is not to be called. */
  doNotCall: number[];
  /** Those that say who has agreed, if one says yes or no. */
  consent: ReadonlyMap<number, keyof Consent>;
  /** The name of each variable, and the column that it comes from, in the file's order. */
  variables: { name: string; column: number }[];
  /** The name of every column, for the error report. */
  columns: string[];
}

const FORBIDDEN_NAMES = new Set(['__proto__', 'constructor', 'prototype']);
const MAX_NAME_LENGTH = 64;
const MAX_SHOWN_COLUMNS = 10;

/** Gives every column a name of its own: what can't be a name becomes `column_N`, the second `city` is `city_2`. */
export function uniqueNames(titles: string[]): string[] {
  const taken = new Set(titles);
  const used = new Set<string>();
  return titles.map((title, index) => {
    const wanted = title === '' || FORBIDDEN_NAMES.has(title) ? `column_${index + 1}` : title;
    let name = wanted;
    for (let n = 2; used.has(name) || (name !== title && taken.has(name)); n += 1) name = `${wanted}_${n}`;
    used.add(name);
    return name;
  });
}

/**
 * Reads the header row. Case, spaces and punctuation of recognised names don't matter; where several columns could hold
 * the phone number, `phone_number` goes before `phone`, `mobile`, `telephone`, then what people call it elsewhere, and
 * `number` comes last; the others are variables.
 * @param fields the cells of the first row that isn't empty
 * @param maxColumns most columns that a file may have
 * @param named the column that holds the numbers, and those that say who is not to be called, where somebody has named them
 * @throws FileFault `no_phone_column` and `no_do_not_call_column`, which list what was found, and `too_many_columns`
 */
export function readHeader(
  fields: string[],
  maxColumns: number,
  { phoneColumn, doNotCallColumns }: { phoneColumn?: string | undefined; doNotCallColumns?: string[] | undefined } = {},
): Header {
  let width = fields.length;
  while (width > 0 && fields[width - 1]!.trim() === '') width -= 1;
  if (width > maxColumns) {
    throw new FileFault('too_many_columns', `The file has ${width} columns; at most ${maxColumns} are read.`);
  }
  const titles = fields.slice(0, width).map((field) => unguardCell(field.trim()).trim().slice(0, MAX_NAME_LENGTH));
  const names = uniqueNames(titles);
  const phone = phoneColumn === undefined ? findPhoneColumn(titles, isDoNotCallName) : namedColumn(names, phoneColumn);
  if (phone === undefined) throw noPhoneColumn(titles, phoneColumn);
  const doNotCall = doNotCallColumns
    ? doNotCallColumns.map((wanted) => namedColumn(names, wanted) ?? noDoNotCallColumn(titles, wanted))
    : positionsOf(titles, (title, at) => at !== phone && isDoNotCallName(title));
  const keys = titles.map(plainTitle);
  const column = (key: string) => {
    const found = keys.findIndex((each, index) => each === key && index !== phone);
    return found === -1 ? undefined : found;
  };
  const name = column('name');
  const timezone = column('timezone');
  const consent = consentColumns(titles);
  const used = new Set([phone, name, timezone, ...doNotCall, ...consent.keys()]);
  const variables = names
    .map((variable, index) => ({ name: variable, column: index }))
    .filter((variable) => !used.has(variable.column));
  const found = { phone, name, timezone, doNotCall, consent, variables };
  return { width, blankWidth: fields.length, ...found, columns: names };
}

const positionsOf = (titles: string[], is: (title: string, at: number) => boolean): number[] =>
  titles.flatMap((title, at) => (is(title, at) ? at : []));

/** The columns of consent; none where no column says yes or no. */
function consentColumns(titles: string[]): Map<number, keyof Consent> {
  const parts = new Map(titles.map((title, at) => [at, consentPart(title)] as const).filter(isPart));
  return [...parts.values()].includes('given') ? parts : new Map();
}

const isPart = (each: readonly [number, keyof Consent | undefined]): each is [number, keyof Consent] =>
  each[1] !== undefined;

function namedColumn(names: string[], wanted: string): number | undefined {
  const exact = names.indexOf(wanted.trim());
  const found = exact === -1 ? names.map(plainTitle).indexOf(plainTitle(wanted)) : exact;
  return found === -1 ? undefined : found;
}

function noPhoneColumn(titles: string[], phoneColumn: string | undefined): FileFault {
  const data = titles.find(isPhoneNumberLike);
  if (data !== undefined) {
    return new FileFault(
      'no_phone_column',
      `The first row has to name the columns, but holds ${data}. Put a row before it with phone_number above the numbers.`,
    );
  }
  const found = foundColumns(titles);
  if (phoneColumn !== undefined) {
    return new FileFault('no_phone_column', `No column is called "${phoneColumn}", as phoneColumn says. ${found}`);
  }
  const advice = 'Name one of them phone_number, or create the upload with phoneColumn, the name of the right one.';
  return new FileFault('no_phone_column', `No column holds phone numbers by its name. ${found} ${advice}`);
}

function noDoNotCallColumn(titles: string[], wanted: string): never {
  const message = `No column is called "${wanted}", as doNotCallColumns says. ${foundColumns(titles)}`;
  throw new FileFault('no_do_not_call_column', message);
}

function foundColumns(titles: string[]): string {
  const shown = titles.slice(0, MAX_SHOWN_COLUMNS).map((title) => `"${title}"`);
  if (titles.length > shown.length) shown.push(`${titles.length - shown.length} more`);
  return `Found: ${shown.join(', ')}.`;
}
