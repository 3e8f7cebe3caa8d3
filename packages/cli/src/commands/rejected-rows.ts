import { Readable } from 'node:stream';
import type { components, TrunklineClient } from '@trunkline/client';
import papaparse from 'papaparse';
import { plain } from '../text.ts';

/** The newest lists, whose files are looked through. */
const LOOKED_AT = 20;
/** Of a shorter text an end says little. */
const FEWEST_DIGITS = 6;
const MOST_FOUND = 20;

/** A row that can't be called, as an error report has it. */
export interface FailedRow {
  row: string;
  column: string;
  value: string;
  code: string;
  reason: string;
}

/** Such a row, and of which list. */
export interface RejectedRow extends FailedRow {
  listId: string;
  list: string;
}

export const digitsOf = (text: string): string => text.replace(/\D/g, '');

/** Whether a cell means the number that is asked for, as far as its digits tell. */
function means(value: string, asked: string): boolean {
  const [cell, digits] = [digitsOf(value).replace(/^0+/, ''), digitsOf(asked).replace(/^0+/, '')];
  if (value.trim() === asked.trim()) return true;
  const [short, long] = cell.length < digits.length ? [cell, digits] : [digits, cell];
  return short.length >= FEWEST_DIGITS && long.endsWith(short);
}

type Upload = Pick<components['schemas']['ContactListUpload'], 'errorReportUrl'>;

/** A row as it stood in the file: values that a spreadsheet could run bear an apostrophe in the report. */
const asItStood = (row: FailedRow) => ({ ...row, value: row.value.replace(/^'(?=[=+\-@\t\r＝＋－＠])/, '') });

/** Reads an error report. */
export const failedRows = (report: string): FailedRow[] =>
  papaparse.parse<FailedRow>(report, { header: true, skipEmptyLines: true }).data.map(asItStood);

async function* rowsOf({ errorReportUrl }: Upload, signal: AbortSignal): AsyncGenerator<FailedRow> {
  const answer = errorReportUrl ? await fetch(errorReportUrl, { signal }) : undefined;
  // One that is no longer kept has nothing to tell.
  if (!answer?.ok || !answer.body) return;
  const rows = papaparse.parse(papaparse.NODE_STREAM_INPUT, { header: true, skipEmptyLines: true });
  for await (const row of Readable.fromWeb(answer.body as never).pipe(rows) as AsyncIterable<FailedRow>)
    yield asItStood(row);
}

/** The rows that the newest lists, or those named, did not take of a number, 20 at most. */
export async function rejectedRows(
  client: TrunklineClient,
  phoneNumber: string,
  signal: AbortSignal,
  only?: readonly string[],
): Promise<RejectedRow[]> {
  const lists = only
    ? await Promise.all(only.map((id) => client.contactLists.get(id)))
    : (await client.contactLists.list({ perPage: LOOKED_AT })).items;
  const found: RejectedRow[] = [];
  for (const { id, name, uploadDetails } of lists)
    for await (const row of rowsOf(uploadDetails ?? {}, signal)) {
      if (means(row.value, phoneNumber)) found.push({ ...row, listId: id, list: name });
      if (found.length === MOST_FOUND) return found;
    }
  return found;
}

/** A sentence each. */
export const sentencesOf = (rows: readonly RejectedRow[]): string[] =>
  rows.map(
    ({ list, listId, row, value, reason }) =>
      `Row ${plain(row)} of ${plain(list)} (${listId}) was not taken: ${plain(value)}. ${plain(reason)}`,
  );
