import { decode, type TextEncoding } from './decode.ts';
import type { FileFormat, ReadAs } from './file-format.ts';
import { type Row, readRows } from './rows.ts';
import { readWorkbook } from './workbook/read-workbook.ts';

const ZIP = [0x50, 0x4b, 0x03, 0x04];

/** How a file's rows are read. */
export interface RowOptions extends Pick<ReadAs, 'encoding' | 'sheet'> {
  /** ISO 3166-1 alpha-2: where its people are. */
  country?: string | undefined;
  /** In characters. */
  maxRowLength: number;
}

/** Whether a file that begins so is a workbook, or another zip file. */
const isZip = (beginning: Uint8Array): boolean => ZIP.every((byte, at) => beginning[at] === byte);

/**
 * Reads the rows of a contact file: of an Excel workbook, or of CSV text.
 * @param format takes up how it is read, before the first rows
 * @returns the rows in groups; a row is read when it is asked for, and none outlives its turn
 */
export async function* readFileRows(
  source: AsyncIterable<Uint8Array>,
  { encoding, sheet, country, maxRowLength }: RowOptions,
  format: FileFormat,
): AsyncGenerator<Iterable<Row>> {
  const { beginning, whole } = await begin(source);
  if (isZip(beginning)) {
    yield* readWorkbook(whole, { sheet, maxRowLength }, (name) => void Object.assign(format, { sheet: name }));
    return;
  }
  const told = (found: TextEncoding) => void Object.assign(format, found);
  const text = decode(whole, told, { encoding, country });
  yield* readRows(text, maxRowLength, (delimiter) => void Object.assign(format, { delimiter }));
}

/** The first bytes of a source, and the source with them. */
async function begin(
  source: AsyncIterable<Uint8Array>,
): Promise<{ beginning: Buffer; whole: AsyncIterable<Uint8Array> }> {
  const iterator = source[Symbol.asyncIterator]();
  let beginning = Buffer.alloc(0);
  while (beginning.length < ZIP.length) {
    const { value, done } = await iterator.next();
    if (done) break;
    beginning = Buffer.concat([beginning, value]);
  }
  async function* whole() {
    try {
      yield beginning as Uint8Array;
      for (;;) {
        const { value, done } = await iterator.next();
        if (done) return;
        yield value;
      }
    } finally {
      await iterator.return?.();
    }
  }
  return { beginning, whole: whole() };
}
