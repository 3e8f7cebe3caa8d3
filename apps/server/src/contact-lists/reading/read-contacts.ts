import { unguardCell } from './cell-guard.ts';
import { decode } from './decode.ts';
import type { RowFault } from './error-report.ts';
import { FileFault } from './file-fault.ts';
import { type Header, readHeader } from './header.ts';
import { readPhoneNumber } from './phone-number.ts';
import { type Row, readRows } from './rows.ts';
import { SeenNumbers } from './seen-numbers.ts';
import { readTimeZone, timeZoneOfCountry } from './time-zone.ts';

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

/** A row that can be imported. */
export interface ReadContact {
  row: number;
  /** E.164 as a whole number, without `+`. */
  phoneNumber: number;
  country: string | undefined;
  name: string | undefined;
  /** IANA name: the row's own, or that of a country with one clock. */
  timezone: string | undefined;
  /** One value for each of the batch's `variables`; blank where the row has none. */
  values: string[];
}

/** Some consecutive rows, read. `rows` = contacts + `invalidRows` + `duplicateRows`. */
export interface ContactBatch {
  variables: readonly string[];
  contacts: ReadContact[];
  /** Everything wrong with invalid rows; a row can have several faults. */
  faults: RowFault[];
  /** The positions of the invalid rows. */
  invalidRows: number[];
  duplicateRows: number;
  rows: number;
  /** Bytes of the file read so far, for progress. */
  bytesRead: number;
}

export interface ReadOptions {
  /** ISO 3166-1 alpha-2, to read national numbers. */
  defaultCountry?: string | undefined;
  limits?: Partial<ReadLimits>;
}

/** So few that they are gone again before the garbage collector has to keep them. */
const BATCH_ROWS = 1000;
const BATCH_CHARACTERS = 4 * 1024 * 1024;

const ROW_FAULTS = {
  row_too_long: 'The row is longer than a row may be.',
  unclosed_quote: 'A quote opens here that nothing closes.',
};

/** Passes a stream on, counts its bytes, and stops it past the cap. */
async function* counted(source: AsyncIterable<Uint8Array>, count: { bytes: number }, maxBytes: number) {
  for await (const chunk of source) {
    count.bytes += chunk.length;
    if (count.bytes > maxBytes) throw new FileFault('file_too_large', `The file is larger than ${maxBytes} bytes.`);
    yield chunk;
  }
}

/** Finds everything wrong with a row; nothing for a contact. */
function check(row: Row, header: Header, options: ReadOptions): RowFault[] | ReadContact {
  const { fields } = row;
  if (row.fault) {
    return [{ row: row.row, column: '', value: fields[0]!, code: row.fault, reason: ROW_FAULTS[row.fault] }];
  }
  const faults: RowFault[] = [];
  for (let column = header.width; column < fields.length; column += 1) {
    if (fields[column]!.trim() === '') continue;
    const reason = `The row has ${fields.length} fields, the header ${header.width}. Put quotes around a field that holds a delimiter.`;
    faults.push({
      row: row.row,
      column: `column_${column + 1}`,
      value: fields[column]!,
      code: 'too_many_fields',
      reason,
    });
    break;
  }
  const cell = fields[header.phone] ?? '';
  const number = readPhoneNumber(cell, options.defaultCountry);
  if ('code' in number) faults.push({ row: row.row, column: header.columns[header.phone]!, value: cell, ...number });
  const zoneText = header.timezone === undefined ? '' : unguardCell((fields[header.timezone] ?? '').trim());
  const zone = zoneText === '' ? undefined : readTimeZone(zoneText);
  if (zoneText !== '' && !zone) {
    const reason = 'This is not an IANA time zone name, such as America/New_York.';
    faults.push({
      row: row.row,
      column: header.columns[header.timezone!]!,
      value: zoneText,
      code: 'invalid_timezone',
      reason,
    });
  }
  if (faults.length > 0 || 'code' in number) return faults;
  const name = header.name === undefined ? '' : unguardCell((fields[header.name] ?? '').trim());
  return {
    row: row.row,
    phoneNumber: number.digits,
    country: number.country,
    name: name === '' ? undefined : name,
    timezone: zone ?? (number.country && timeZoneOfCountry(number.country)),
    values: header.variables.map(({ column }) => unguardCell((fields[column] ?? '').trim())),
  };
}

function emptyBatch(variables: readonly string[]): ContactBatch {
  return { variables, contacts: [], faults: [], invalidRows: [], duplicateRows: 0, rows: 0, bytesRead: 0 };
}

/**
 * Reads the contacts of a CSV file as people have them, in memory that doesn't grow with the file (but for 11 to 22 bytes
 * a number, to find duplicates). After normalising, the first row with a number is kept and the others are counted.
 * @param source the file's bytes
 * @returns batches of at most 1,000 rows or some 4 million characters; at least one
 * @throws FileFault when the file as a whole can't be imported
 */
export async function* readContacts(
  source: AsyncIterable<Uint8Array>,
  options: ReadOptions = {},
): AsyncGenerator<ContactBatch> {
  const limits = { ...DEFAULT_READ_LIMITS, ...options.limits };
  const count = { bytes: 0 };
  const seen = new SeenNumbers();
  let header: Header | undefined;
  let batch = emptyBatch([]);
  let characters = 0;
  let total = 0;
  for await (const rows of readRows(decode(counted(source, count, limits.maxBytes)), limits.maxRowLength)) {
    for (const row of rows) {
      if (!header) {
        header = readHeader(row.fields, limits.maxColumns);
        batch = emptyBatch(header.variables.map((variable) => variable.name));
        continue;
      }
      total += 1;
      if (total > limits.maxRows) {
        throw new FileFault('too_many_rows', `The file has more than ${limits.maxRows} rows. Split it.`);
      }
      batch.rows += 1;
      const read = check(row, header, options);
      if (Array.isArray(read)) {
        batch.faults.push(...read);
        batch.invalidRows.push(row.row);
      } else if (seen.add(read.phoneNumber)) batch.contacts.push(read);
      else batch.duplicateRows += 1;
      for (const field of row.fields) characters += field.length;
      if (batch.rows < BATCH_ROWS && characters < BATCH_CHARACTERS) continue;
      yield { ...batch, bytesRead: count.bytes };
      batch = emptyBatch(batch.variables);
      characters = 0;
    }
  }
  if (!header) throw new FileFault('unreadable_file', 'The file is empty.');
  if (seen.size === 0) {
    yield { ...batch, bytesRead: count.bytes };
    throw new FileFault(
      'no_valid_row',
      total === 0 ? 'The file has a header and no rows.' : 'Not one row of the file is valid.',
    );
  }
  yield { ...batch, bytesRead: count.bytes };
}
