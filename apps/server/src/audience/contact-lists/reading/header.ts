import { type Consent, consentPart, isDoNotCallName } from './callee-word.ts';
import { unguardCell } from './cell-guard.ts';
import { findNameColumns, findTimeZoneColumns } from './column-names.ts';
import { FileFault } from './file-fault.ts';
import { findPhoneColumns, plainTitle } from './phone-names.ts';
import { isPhoneNumberLike } from './phone-number.ts';
import { findPreset } from './presets.ts';

/** Where the recognised columns stand, and what the others are called. Positions count from 0. */
export interface Header {
  /** Fields that a row may have. */
  width: number;
  /** The same with the blank ones at the header's end, which may stand there and hold nothing. */
  blankWidth: number;
  /** In the order of preference; one at least. */
  phones: readonly number[];
  /** What parts several numbers of one cell, in files of a program that writes them so. */
  phoneSeparator: string | undefined;
  /** The parts of a person's name. */
  names: readonly number[];
  /** In the order of preference. */
  timezones: readonly number[];
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

/** The columns that somebody has named; what is absent is found. */
export interface NamedColumns {
  /** The same as `phoneColumns` of one. */
  phoneColumn?: string | undefined;
  phoneColumns?: readonly string[] | undefined;
  nameColumns?: readonly string[] | undefined;
  timezoneColumns?: readonly string[] | undefined;
  doNotCallColumns?: readonly string[] | undefined;
}

/**
 * Reads the header row. Case, spaces and punctuation of recognised names don't matter. Columns of phone numbers are those that
 * are named; those of the program that wrote the file; else `phone_number` goes before `phone`, `mobile`, `telephone`, then
 * what people call it elsewhere, and `number` comes last. What isn't `name`, `timezone` or the first phone is a variable too.
 * @param fields the cells of the first row that isn't empty
 * @param maxColumns most columns that a file may have
 * @throws FileFault `no_phone_column`, `no_do_not_call_column` and `no_such_column`, which list what was found, and
 * `too_many_columns`
 */
export function readHeader(fields: string[], maxColumns: number, named: NamedColumns = {}): Header {
  let width = fields.length;
  while (width > 0 && fields[width - 1]!.trim() === '') width -= 1;
  if (width > maxColumns) {
    throw new FileFault('too_many_columns', `The file has ${width} columns; at most ${maxColumns} are read.`);
  }
  const titles = fields.slice(0, width).map((field) => unguardCell(field.trim()).trim().slice(0, MAX_NAME_LENGTH));
  const columns = uniqueNames(titles);
  const preset = findPreset(titles);
  const wanted = named.phoneColumns ?? (named.phoneColumn === undefined ? undefined : [named.phoneColumn]);
  const positions = (asked: readonly string[] | undefined, fault: (titles: string[], wanted: string) => never) =>
    asked?.map((title) => namedColumn(columns, title) ?? fault(titles, title));
  const phones = positions(wanted, noPhoneColumn) ?? preset?.phones ?? findPhoneColumns(titles, isDoNotCallName);
  if (phones.length === 0) noPhoneColumn(titles);
  const doNotCall =
    positions(named.doNotCallColumns, noDoNotCallColumn) ??
    positionsOf(titles, (title, at) => !phones.includes(at) && isDoNotCallName(title));
  const consent = consentColumns(titles);
  const isFree = (at: number) => !phones.includes(at) && !doNotCall.includes(at) && !consent.has(at);
  const fromPreset = preset?.names.length ? preset.names : undefined;
  const names =
    positions(named.nameColumns, noSuchColumn('nameColumns')) ?? fromPreset ?? findNameColumns(titles, isFree);
  const timezones =
    positions(named.timezoneColumns, noSuchColumn('timezoneColumns')) ?? findTimeZoneColumns(titles, isFree);
  // The others were variables before they were more, and agents may speak of them.
  const isOnly = (at: number) => ['name', 'timezone'].includes(plainTitle(titles[at]!));
  const used = new Set([phones[0], ...[...names, ...timezones].filter(isOnly), ...doNotCall, ...consent.keys()]);
  const variables = columns
    .map((variable, index) => ({ name: variable, column: index }))
    .filter((variable) => !used.has(variable.column));
  const found = { phones, phoneSeparator: preset?.separator, names, timezones, doNotCall, consent, variables };
  return { width, blankWidth: fields.length, ...found, columns };
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

function noPhoneColumn(titles: string[], wanted?: string): never {
  const data = titles.find(isPhoneNumberLike);
  if (data !== undefined) {
    throw new FileFault(
      'no_phone_column',
      `The first row has to name the columns, but holds ${data}. Put a row before it with phone_number above the numbers.`,
    );
  }
  const found = foundColumns(titles);
  if (wanted !== undefined) {
    throw new FileFault('no_phone_column', `No column is called "${wanted}", as phoneColumns says. ${found}`);
  }
  const advice = 'Say by phoneColumns which one does: change the upload, or create one with it.';
  throw new FileFault('no_phone_column', `No column holds phone numbers by its name. ${found} ${advice}`);
}

function noDoNotCallColumn(titles: string[], wanted: string): never {
  const message = `No column is called "${wanted}", as doNotCallColumns says. ${foundColumns(titles)}`;
  throw new FileFault('no_do_not_call_column', message);
}

const noSuchColumn = (field: string) => (titles: string[], wanted: string) => {
  throw new FileFault('no_such_column', `No column is called "${wanted}", as ${field} says. ${foundColumns(titles)}`);
};

function foundColumns(titles: string[]): string {
  const shown = titles.slice(0, MAX_SHOWN_COLUMNS).map((title) => `"${title}"`);
  if (titles.length > shown.length) shown.push(`${titles.length - shown.length} more`);
  return `Found: ${shown.join(', ')}.`;
}
