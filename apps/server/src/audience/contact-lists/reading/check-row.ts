import { type CalleeWord, forbidsCalls, readConsent } from './callee-word.ts';
import { unguardCell } from './cell-guard.ts';
import { DELIMITERS, type Delimiter } from './delimiter.ts';
import type { RowFault } from './error-report.ts';
import type { FileFormat } from './file-format.ts';
import type { Header } from './header.ts';
import type { PhoneNumberFault } from './phone-fault.ts';
import { type PhoneNumber, readPhoneNumber } from './phone-number.ts';
import type { Row } from './rows.ts';
import { readTimeZone, timeZoneFault } from './time-zone.ts';

/** A row that can be imported. */
export interface ReadContact extends CalleeWord {
  row: number;
  /** The position of the column that has the number. */
  phoneColumn: number;
  /** E.164 as a whole number, without `+`. */
  phoneNumber: number;
  country: string | undefined;
  name: string | undefined;
  /** IANA name: the row's own. */
  timezone: string | undefined;
  /** One value for each of the batch's `variables`; blank where the row has none. */
  values: string[];
}

const ROW_FAULTS = {
  row_too_long: 'The row is longer than a row may be.',
  unclosed_quote:
    'A quote opens here that nothing closes in this row. If it is an inch mark, write the inches in words, or put the cell in quotes and double the mark.',
};

const shown = (delimiter: Delimiter): string => (delimiter === '\t' ? 'tabs' : `"${delimiter}"`);

/** A row that has only one field because another delimiter than the header's parts it. */
function otherDelimiter({ row, fields }: Row, header: Header, delimiter: Delimiter): RowFault | undefined {
  if (fields.length > 1 || header.width < 2) return undefined;
  const value = fields[0]!;
  const other = DELIMITERS.find((each) => each !== delimiter && value.includes(each));
  if (!other) return undefined;
  const reason = `The header is parted by ${shown(delimiter)}, this row by ${shown(other)}. Use one of them throughout.`;
  return { row, column: '', value, code: 'wrong_delimiter', reason };
}

/** The first field that stands below no title. */
function fieldBeyond({ row, fields }: Row, { width, blankWidth }: Header): RowFault | undefined {
  for (let at = width; at < fields.length; at += 1) {
    const value = fields[at]!;
    if (value.trim() === '') continue;
    const fault = { row, column: `column_${at + 1}`, value };
    if (at < blankWidth) {
      const reason = `The header has no name for column ${at + 1}, which holds something here. Name it there, or empty it.`;
      return { ...fault, code: 'unnamed_column', reason };
    }
    const reason = `The row has ${fields.length} fields, the header ${width}. Put quotes around a field that holds a delimiter.`;
    return { ...fault, code: 'too_many_fields', reason };
  }
  return undefined;
}

/**
 * Reads a row below the header.
 * @returns the contact, or everything that is wrong with the row
 */
export function checkRow(
  row: Row,
  header: Header,
  format: Pick<FileFormat, 'delimiter'>,
  defaultCountry: string | undefined,
): RowFault[] | ReadContact {
  const { fields } = row;
  if (row.fault) {
    return [{ row: row.row, column: '', value: fields[0]!, code: row.fault, reason: ROW_FAULTS[row.fault] }];
  }
  const other = otherDelimiter(row, header, format.delimiter);
  if (other) return [other];
  const faults: RowFault[] = [];
  const beyond = fieldBeyond(row, header);
  if (beyond) faults.push(beyond);
  const number = firstNumber(fields, header, defaultCountry);
  if ('code' in number) {
    const { column, ...fault } = number;
    faults.push({ row: row.row, column: header.columns[column]!, value: fields[column] ?? '', ...fault });
  }
  const cellAt = (at: number) => unguardCell((fields[at] ?? '').trim());
  const zoneColumn = header.timezones.find((at) => cellAt(at) !== '');
  const zoneText = zoneColumn === undefined ? '' : cellAt(zoneColumn);
  const zone = zoneText === '' ? undefined : readTimeZone(zoneText);
  const word = header.doNotCall.length + header.consent.size > 0 ? wordOf(fields, header) : undefined;
  // Who is not to be called needs no time zone, and a fault of it must not leave the word out.
  if (zoneText !== '' && !zone && !word?.doNotCall) {
    faults.push({
      row: row.row,
      column: header.columns[zoneColumn!]!,
      value: zoneText,
      code: 'invalid_timezone',
      reason: timeZoneFault(zoneText),
    });
  }
  if (faults.length > 0 || 'code' in number) return faults;
  const name = header.names
    .map(cellAt)
    .filter((part) => part !== '')
    .join(' ');
  return {
    row: row.row,
    phoneColumn: number.column,
    phoneNumber: number.digits,
    country: number.country,
    name: name === '' ? undefined : name,
    timezone: zone,
    values: header.variables.map(({ column }) => cellAt(column)),
    ...word,
  };
}

/** The first number of a row that can be called, by the order of its phone columns; else what is wrong with the first that is there. */
function firstNumber(
  fields: readonly string[],
  { phones, phoneSeparator }: Header,
  defaultCountry: string | undefined,
): (PhoneNumber | PhoneNumberFault) & { column: number } {
  let fault: (PhoneNumberFault & { column: number }) | undefined;
  for (const column of phones) {
    const cell = fields[column] ?? '';
    const parts = phoneSeparator !== undefined && cell.includes(phoneSeparator) ? cell.split(phoneSeparator) : [cell];
    for (const part of parts) {
      const read = readPhoneNumber(part, defaultCountry);
      if (!('code' in read)) return { ...read, column };
      if (!fault || fault.code === 'missing_phone') fault = { ...read, column };
    }
  }
  return fault!;
}

/** What a row says of whether its person may be called. */
export function wordOf(fields: readonly string[], header: Header): CalleeWord {
  const cellAt = (at: number) => unguardCell((fields[at] ?? '').trim());
  const doNotCall = header.doNotCall.some((at) => forbidsCalls(cellAt(at)));
  const consent = readConsent([...header.consent].map(([at, part]) => [part, cellAt(at)] as const));
  return { ...(doNotCall && { doNotCall }), ...(consent && { consent }) };
}
