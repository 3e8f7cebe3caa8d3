import { checkRow, type ReadContact } from './check-row.ts';
import type { RowFault } from './error-report.ts';
import { FileFault } from './file-fault.ts';
import type { FileFormat } from './file-format.ts';
import { readFileRows } from './file-rows.ts';
import { type Header, readHeader } from './header.ts';
import { DEFAULT_READ_LIMITS, duplicate, emptyFile, noValidRow, type ReadOptions } from './read-contacts.ts';
import type { Row } from './rows.ts';
import { SeenNumbers } from './seen-numbers.ts';

const MOST_ROWS = 10;

/** The beginning of a file, as it stands there and as it is read. */
export interface FilePreview {
  /** Absent where the bytes are no text. */
  format: FileFormat | undefined;
  /** The first row, where it could not be taken for a header. */
  titles: string[];
  header: Header | undefined;
  rows: { row: Row; read: RowFault[] | ReadContact }[];
  fault: FileFault | undefined;
}

/** Reads the header and the first ten rows of a file, and no more of it than that takes. */
export async function previewContacts(
  source: AsyncIterable<Uint8Array>,
  { defaultCountry, encoding, sheet, limits, ...named }: ReadOptions = {},
): Promise<FilePreview> {
  const { maxRowLength, maxColumns } = { ...DEFAULT_READ_LIMITS, ...limits };
  const format: FileFormat = { encoding: 'utf-8', encodingGuessed: false, delimiter: ',' };
  const preview: FilePreview = { format: undefined, titles: [], header: undefined, rows: [], fault: undefined };
  const seen = new SeenNumbers();
  const rowOptions = { encoding, sheet, country: defaultCountry, maxRowLength };
  try {
    for await (const rows of readFileRows(source, rowOptions, format)) {
      preview.format = format;
      for (const row of rows) {
        if (!preview.header) {
          preview.titles = row.fields;
          preview.header = readHeader(row.fields, maxColumns, named);
          format.phoneColumn = preview.header.columns[preview.header.phones[0]!]!;
          continue;
        }
        const read = checkRow(row, preview.header, format, defaultCountry);
        const first = Array.isArray(read) ? undefined : seen.add(read.phoneNumber, row.row);
        preview.rows.push({
          row,
          read: first === undefined ? read : [duplicate(row, read as ReadContact, preview.header, first)],
        });
        if (preview.rows.length === MOST_ROWS) return preview;
      }
    }
    if (!preview.header) throw emptyFile();
    if (seen.size === 0) throw noValidRow(preview.rows.flatMap(({ read }) => (Array.isArray(read) ? read : []))[0]);
  } catch (error) {
    if (!(error instanceof FileFault)) throw error;
    preview.fault = error;
  }
  return preview;
}
