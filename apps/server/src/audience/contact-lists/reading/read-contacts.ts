import { checkRow, type ReadContact } from './check-row.ts';
import { type ColumnUse, columnUses } from './column-uses.ts';
import type { RowFault } from './error-report.ts';
import { FileFault } from './file-fault.ts';
import type { FileFormat, ReadAs } from './file-format.ts';
import { readFileRows } from './file-rows.ts';
import { type Header, type NamedColumns, readHeader } from './header.ts';
import type { Row } from './rows.ts';
import { SeenNumbers } from './seen-numbers.ts';

/** Caps of one file. */
export interface ReadLimits {
  maxRows: number;
  maxBytes: number;
  maxColumns: number;
  /** In characters. */
  maxRowLength: number;
}

export const DEFAULT_READ_LIMITS: ReadLimits = {
  maxRows: 1_000_000,
  maxBytes: 200_000_000,
  maxColumns: 64,
  maxRowLength: 64 * 1024,
};

/** Some consecutive rows, read. `rows` = contacts + `rejected` + `duplicateRows`. */
export interface ContactBatch {
  /** The cells of the file's header. */
  titles: readonly string[];
  variables: readonly string[];
  contacts: ReadContact[];
  /** Everything wrong with invalid rows, of which one can have several faults, and which row a duplicate repeats. */
  faults: RowFault[];
  /** The invalid rows, with what is wrong with each. */
  rejected: { row: Row; faults: RowFault[] }[];
  duplicateRows: number;
  /** Rows that say that their person is not to be called, and how many say that theirs has agreed. */
  words: RowWords;
  rows: number;
  /** Bytes of the file read so far, for progress. */
  bytesRead: number;
  /** How the file is read, as far as is known by now. */
  format: FileFormat;
  columns: readonly ColumnUse[];
}

/** What rows say of people's own words. */
export interface RowWords {
  /** The positions of the rows that say that nobody is to call, duplicates among them. */
  doNotCall: number[];
  consents: number;
  /** Numbers of which a duplicate says what the row that is kept may not say: nobody is to call, or no consent. */
  alsoForbidden: number[];
  alsoRefused: number[];
}

export interface ReadOptions extends ReadAs, NamedColumns {
  /** ISO 3166-1 alpha-2, to read national numbers. */
  defaultCountry?: string | undefined;
  limits?: Partial<ReadLimits>;
}

/** So few that they are gone again before the garbage collector has to keep them: 1,000 cost it half as much again. */
const BATCH_ROWS = 250;
const BATCH_CHARACTERS = 4 * 1024 * 1024;

/** Passes a stream on, counts its bytes, and stops it past the cap. */
async function* counted(source: AsyncIterable<Uint8Array>, count: { bytes: number }, maxBytes: number) {
  for await (const chunk of source) {
    count.bytes += chunk.length;
    if (count.bytes > maxBytes) throw new FileFault('file_too_large', `The file is larger than ${maxBytes} bytes.`);
    yield chunk;
  }
}

function emptyBatch(
  { titles, variables, columns }: Pick<ContactBatch, 'titles' | 'variables' | 'columns'>,
  format: FileFormat,
): ContactBatch {
  const words = { doNotCall: [], consents: 0, alsoForbidden: [], alsoRefused: [] };
  return {
    titles,
    variables,
    contacts: [],
    faults: [],
    rejected: [],
    duplicateRows: 0,
    words,
    rows: 0,
    bytesRead: 0,
    format,
    columns,
  };
}

/**
 * Reads the contacts of a CSV file as people have them, in memory that doesn't grow with the file (but for 16 to 32 bytes
 * a number, to find duplicates). After normalising, the first row with a number is kept; the others are counted and told.
 * @param source the file's bytes
 * @returns batches of at most 250 rows or some 4 million characters; at least one
 * @throws FileFault when the file as a whole can't be imported
 */
export async function* readContacts(
  source: AsyncIterable<Uint8Array>,
  options: ReadOptions = {},
): AsyncGenerator<ContactBatch> {
  const limits = { ...DEFAULT_READ_LIMITS, ...options.limits };
  const count = { bytes: 0 };
  const seen = new SeenNumbers();
  const format: FileFormat = { encoding: 'utf-8', encodingGuessed: false, delimiter: ',' };
  const rowOptions = { ...options, country: options.defaultCountry, maxRowLength: limits.maxRowLength };
  let header: Header | undefined;
  let batch = emptyBatch({ titles: [], variables: [], columns: [] }, format);
  let characters = 0;
  let total = 0;
  let firstFault: RowFault | undefined;
  for await (const rows of readFileRows(counted(source, count, limits.maxBytes), rowOptions, format)) {
    for (const row of rows) {
      if (!header) {
        header = readHeader(row.fields, limits.maxColumns, options);
        format.phoneColumn = header.columns[header.phones[0]!]!;
        const variables = header.variables.map((variable) => variable.name);
        batch = emptyBatch({ titles: row.fields, variables, columns: columnUses(header) }, format);
        continue;
      }
      total += 1;
      if (total > limits.maxRows) {
        throw new FileFault('too_many_rows', `The file has more than ${limits.maxRows} rows. Split it.`);
      }
      batch.rows += 1;
      const read = checkRow(row, header, format, options.defaultCountry);
      if (Array.isArray(read)) {
        firstFault ??= read[0];
        batch.faults.push(...read);
        batch.rejected.push({ row, faults: read });
      } else {
        const first = seen.add(read.phoneNumber, row.row);
        noteWord(batch.words, read, first !== undefined);
        if (first === undefined) batch.contacts.push(read);
        else {
          batch.duplicateRows += 1;
          batch.faults.push(duplicate(row, read, header, first));
        }
      }
      for (const field of row.fields) characters += field.length;
      if (batch.rows < BATCH_ROWS && characters < BATCH_CHARACTERS) continue;
      yield { ...batch, bytesRead: count.bytes };
      batch = emptyBatch(batch, format);
      characters = 0;
    }
  }
  if (!header) throw emptyFile();
  yield { ...batch, bytesRead: count.bytes };
  if (seen.size === 0) throw noValidRow(firstFault);
}

/** One of two rows of a person is kept; the other's no holds too. */
function noteWord(words: RowWords, { row, phoneNumber, doNotCall, consent }: ReadContact, isDuplicate: boolean): void {
  if (doNotCall) words.doNotCall.push(row);
  if (consent?.given) words.consents += 1;
  if (!isDuplicate) return;
  if (doNotCall) words.alsoForbidden.push(phoneNumber);
  if (consent && !consent.given) words.alsoRefused.push(phoneNumber);
}

/** The fault of a row whose number stands in an earlier one. */
export const duplicate = (
  { row, fields }: Row,
  { phoneColumn }: ReadContact,
  { columns }: Header,
  first: number,
): RowFault => ({
  row,
  column: columns[phoneColumn]!,
  value: fields[phoneColumn]!,
  code: 'duplicate',
  reason: `Row ${first} has this number already, and is kept.`,
});

export const emptyFile = (): FileFault => new FileFault('unreadable_file', 'The file is empty.');

/** The fault of a file of whose rows none can be imported. @param first what is wrong with the first of them */
export function noValidRow(first: RowFault | undefined): FileFault {
  if (!first) return new FileFault('no_valid_row', 'The file has a header and no rows.');
  return new FileFault('no_valid_row', `Not one row of the file is valid. Row ${first.row}: ${first.reason}`);
}
