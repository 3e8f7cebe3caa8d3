import type { ReadContact } from './reading/check-row.ts';

const SPECIAL = /[\\\t\n\r]/;
const ARRAY_SPECIAL = /["\\\t\n\r]/;

const escaped = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('\t', '\\t').replaceAll('\n', '\\n').replaceAll('\r', '\\r');

/** A cell of COPY's text format. */
const cell = (text: string | undefined): string =>
  text === undefined ? '\\N' : SPECIAL.test(text) ? escaped(text) : text;

/** An element of an array literal inside such a cell: quoted for the array, then escaped for COPY. */
const element = (text: string): string =>
  ARRAY_SPECIAL.test(text) ? `"${escaped(text.replaceAll('\\', '\\\\').replaceAll('"', '\\"'))}"` : `"${text}"`;

/** Lines for `copy contact_list_entries_all (…) from stdin`, one a contact. */
export type CopyLines = (contacts: readonly ReadContact[]) => string;

/**
 * Makes the writer of a file's lines: workspace, upload, number, row, name, time zone, values.
 * @param positions where in the list's columns each variable of the file stands
 */
export function copyLines(workspaceId: string, uploadId: string, positions: readonly number[]): CopyLines {
  const prefix = `${workspaceId}\t${uploadId}\t`;
  const width = Math.max(-1, ...positions) + 1;
  const sources: (number | undefined)[] = new Array(width).fill(undefined);
  for (const [source, position] of positions.entries()) sources[position] = source;
  return (contacts) => {
    let lines = '';
    for (const { phoneNumber, row, name, timezone, values } of contacts) {
      lines += `${prefix}${phoneNumber}\t${row}\t${cell(name)}\t${cell(timezone)}\t{`;
      for (let position = 0; position < width; position += 1) {
        const source = sources[position];
        if (position > 0) lines += ',';
        lines += source === undefined ? 'NULL' : element(values[source]!);
      }
      lines += '}\n';
    }
    return lines;
  };
}
