import { createReadStream } from 'node:fs';
import { decode } from '../../audience/contact-lists/reading/decode.ts';
import { uniqueNames } from '../../audience/contact-lists/reading/header.ts';
import { findPhoneColumns, plainTitle } from '../../audience/contact-lists/reading/phone-names.ts';
import { isPhoneNumberLike, readPhoneNumber } from '../../audience/contact-lists/reading/phone-number.ts';
import { readRows } from '../../audience/contact-lists/reading/rows.ts';
import { isE164 } from '../../foundation/values/e164.ts';

/** A call as a carrier's list has it. */
export interface CalledRow {
  /** E.164 without the plus. */
  number: number;
  /** When it was, where the list says so. */
  at: Date | undefined;
}

/** What a carrier's list of calls says. */
export interface CalledFile {
  rows: CalledRow[];
  /** The columns that it was read by. */
  numberColumn: string;
  timeColumn: string | undefined;
  /** A line for each of the first rows that could not be read, or not whole. */
  faults: string[];
  /** How many these were. */
  faulty: number;
}

/** Why a file can't be read, for the operator. */
export class CalledFileFault extends Error {}

const MAX_ROW_LENGTH = 64 * 1024;
const MOST_FAULTS = 20;

/** How carriers and exchanges head the column of numbers called; the best first. */
const CALLED = [
  ...[
    'callednumber',
    'called',
    'calledparty',
    'calledpartynumber',
    'callednum',
    'callee',
    'calleenumber',
    'cld',
    'cldnum',
  ],
  ...[
    'destination',
    'destinationnumber',
    'destnumber',
    'dest',
    'dst',
    'dialednumber',
    'dialled',
    'dialednum',
    'dialed',
  ],
  ...['diallednumber', 'tonumber', 'to', 'bnumber', 'bparty', 'terminatingnumber', 'receiver', 'recipient'],
];
/** And that of when a call began. */
const TIMES = [
  ...[
    'starttime',
    'start',
    'startedat',
    'startdate',
    'calldate',
    'callstart',
    'calltime',
    'setuptime',
    'begin',
    'begintime',
  ],
  ...[
    'datetime',
    'timestamp',
    'date',
    'time',
    'createdat',
    'initiated',
    'answertime',
    'answer',
    'connecttime',
    'endtime',
  ],
];
/** Columns of who called. */
const CALLING = /^(from|caller|calling|source|src|cli|ani|origin|anumber|aparty)/;

/**
 * Reads a carrier's list of calls, a CSV file as contact files are: its encoding, delimiter and quotes are found out. A row
 * that can't be read is told, and stops nothing.
 * @param column what the column of numbers called is named, where its name isn't known
 * @throws CalledFileFault, or FileFault, where the file as a whole can't be read
 */
export async function readCalledFile(path: string, column: string | undefined): Promise<CalledFile> {
  const found: CalledFile = { rows: [], numberColumn: '', timeColumn: undefined, faults: [], faulty: 0 };
  let places: Places | undefined;
  for await (const rows of readRows(decode(createReadStream(path)), MAX_ROW_LENGTH)) {
    for (const { row, fields, fault } of rows) {
      if (!places) {
        places = placesOf(fields, column);
        Object.assign(found, { numberColumn: places.numberColumn, timeColumn: places.timeColumn });
        continue;
      }
      const faults = fault ? [fault.replaceAll('_', ' ')] : readRow(fields, places, found.rows);
      if (faults.length > 0) found.faulty += 1;
      if (found.faults.length < MOST_FAULTS) found.faults.push(...faults.map((each) => `row ${row}: ${each}`));
    }
  }
  return found;
}

/** Where a list's columns are, and what they are called. */
interface Places {
  number: number;
  time: number | undefined;
  numberColumn: string;
  timeColumn: string | undefined;
}

function placesOf(fields: string[], wanted: string | undefined): Places {
  const names = uniqueNames(fields.map((field) => field.trim()));
  const keys = names.map(plainTitle);
  const first = (known: string[]) => known.map((key) => keys.indexOf(key)).find((at) => at !== -1);
  const isOther = (title: string) => CALLING.test(plainTitle(title));
  const number =
    wanted === undefined ? (first(CALLED) ?? findPhoneColumns(names, isOther)[0]) : first([plainTitle(wanted)]);
  if (number === undefined) throw noColumn(names, wanted);
  const time = first(TIMES);
  return { number, time, numberColumn: names[number]!, timeColumn: time === undefined ? undefined : names[time] };
}

function noColumn(names: string[], wanted: string | undefined): CalledFileFault {
  const found = `Found: ${names.map((name) => `"${name}"`).join(', ')}.`;
  if (wanted !== undefined) return new CalledFileFault(`No column is called "${wanted}", as --column says. ${found}`);
  if (names.some(isPhoneNumberLike))
    return new CalledFileFault(
      'The first row has to name the columns. Put a row before it, with called_number above the numbers.',
    );
  return new CalledFileFault(`No column holds the numbers called by its name: give it with --column NAME. ${found}`);
}

/** Adds what a row says to `rows`. Answers what is wrong with it. */
function readRow(fields: string[], { number, time }: Places, rows: CalledRow[]): string[] {
  const cell = (fields[number] ?? '').trim();
  const read = readCalled(cell);
  if (read === undefined) return [`"${cell.slice(0, 64)}" is no number with its country code.`];
  const text = time === undefined ? '' : (fields[time] ?? '').trim();
  const at = text === '' ? undefined : readTime(text);
  rows.push({ number: read, at });
  const isUnknown = text !== '' && at === undefined;
  return isUnknown
    ? [`"${text.slice(0, 64)}" is no time, such as 2026-11-20T09:30:00Z: the row counts without it.`]
    : [];
}

/** Carriers write E.164 with and without its plus, and SIP addresses. */
function readCalled(cell: string): number | undefined {
  const bare = /^(?:sips?:|tel:)?(\+?[0-9]+)(?:[@;].*)?$/i.exec(cell)?.[1] ?? cell;
  const read = readPhoneNumber(bare);
  if ('digits' in read) return read.digits;
  const international = isE164(`+${bare}`) ? readPhoneNumber(`+${bare}`) : read;
  return 'digits' in international ? international.digits : undefined;
}

/** A time in ISO 8601, with a space for its T too, in UTC where it names no zone; or seconds since the epoch. */
function readTime(text: string): Date | undefined {
  if (/^[0-9]{10}(\.[0-9]+)?$/.test(text)) return new Date(Number(text) * 1000);
  const match =
    /^([0-9]{4}-[0-9]{2}-[0-9]{2})[ T]([0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?)\s*(Z|UTC|[+-][0-9]{2}:?[0-9]{2})?$/i.exec(
      text,
    );
  if (!match) return undefined;
  const [, day, time, zone = 'Z'] = match;
  const offset = /^utc$/i.test(zone) ? 'Z' : zone.replace(/^([+-]..)(..)$/, '$1:$2');
  const at = new Date(`${day}T${time}${offset}`);
  return Number.isNaN(at.getTime()) ? undefined : at;
}
