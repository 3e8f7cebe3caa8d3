import { type Delimiter, detectDelimiter } from './delimiter.ts';
import { refuseMarkup } from './markup.ts';
import { splitQuoted } from './split-fields.ts';

/**
 * One record of the file. `row` counts records and empty lines from 1, as a spreadsheet shows them: a line break inside
 * quotes begins no new row. A record that can't be read has a fault, and `fields[0]` holds its beginning.
 */
export interface Row {
  row: number;
  fields: string[];
  fault?: 'row_too_long' | 'unclosed_quote';
}

const SAMPLE_CHARACTERS = 64 * 1024;
const SHOWN_CHARACTERS = 200;
/** A field with so many may be a phone number. */
const NUMBER_DIGITS = 7;

const digitsIn = (field: string): number => field.replace(/\D/g, '').length;

/** Reads records from text that arrives in pieces, holding no more than one piece and one record. */
class RowReader {
  readonly #delimiter: Delimiter;
  readonly #newline: '\n' | '\r';
  readonly #maxLength: number;
  #text = '';
  #row = 0;
  /** How many fields the header has. */
  #width = 0;
  /** Inside a line that is over the limit, and already reported. */
  #skipping = false;

  constructor(delimiter: Delimiter, newline: '\n' | '\r', maxLength: number) {
    this.#delimiter = delimiter;
    this.#newline = newline;
    this.#maxLength = maxLength;
  }

  /** The records that `piece` completes, one after another. Empty lines are counted and left out. */
  *read(piece: string, atEnd: boolean): Generator<Row> {
    const text = this.#text.length === 0 ? piece : this.#text + piece;
    const rows: Row[] = [];
    let at = 0;
    while (at < text.length) {
      const end = this.#next(text, at, atEnd, rows);
      if (end === undefined) break;
      at = end;
      const row = rows.pop();
      if (row) yield row;
    }
    this.#text = at >= text.length ? '' : text.slice(at);
  }

  /** Reads one record at `at` into `rows`. Returns where the next begins, or nothing when more text is needed. */
  #next(text: string, at: number, atEnd: boolean, rows: Row[]): number | undefined {
    let line = text.indexOf(this.#newline, at);
    if (this.#skipping) {
      this.#skipping = line === -1;
      return line === -1 ? text.length : line + 1;
    }
    const tooLong = (line === -1 ? text.length : line) - at > this.#maxLength;
    if (tooLong) {
      this.#skipping = line === -1;
      this.#push(rows, [text.slice(at, at + Math.min(SHOWN_CHARACTERS, this.#maxLength))], 'row_too_long');
      return line === -1 ? text.length : line + 1;
    }
    if (line === -1) {
      if (!atEnd) return undefined;
      line = text.length;
    }
    const bare = text[line - 1] === '\r' && line > at ? line - 1 : line;
    const record = text.slice(at, bare);
    if (!record.includes('"')) {
      this.#push(rows, record.split(this.#delimiter));
      return line + 1;
    }
    const split = splitQuoted(text, at, this.#delimiter, this.#newline, atEnd);
    const length = split.kind === 'record' ? split.end - at : text.length - at;
    if (split.kind === 'record' && length <= this.#maxLength + 1 && !this.#swallows(text, line + 1, split.end)) {
      this.#push(rows, split.fields);
      return split.end;
    }
    if (split.kind === 'open' && length <= this.#maxLength) return undefined;
    this.#push(rows, [record.slice(0, SHOWN_CHARACTERS)], 'unclosed_quote');
    return line + 1;
  }

  /**
   * Whether one of the lines of a record behind its first is a row of its own: an inch mark has opened a quote then. A line of
   * a note, in which a space stands behind a comma, is none.
   */
  #swallows(text: string, from: number, end: number): boolean {
    if (from >= end || this.#width < 2) return false;
    const lines = text.slice(from, end).split(this.#newline);
    return lines.some((line) => {
      const fields = line.split(this.#delimiter);
      if (fields.length !== this.#width || fields.some((field, at) => at > 0 && field.startsWith(' '))) return false;
      return fields.some((field) => digitsIn(field) >= NUMBER_DIGITS);
    });
  }

  #push(rows: Row[], fields: string[], fault?: 'row_too_long' | 'unclosed_quote'): void {
    this.#row += 1;
    if (this.#width === 0 && fields.some((field) => field.trim() !== '')) this.#width = fields.length;
    if (fault) rows.push({ row: this.#row, fields, fault });
    else if (fields.some((field) => field.trim() !== '')) rows.push({ row: this.#row, fields });
  }
}

/** Takes Excel's `sep=;` line off the beginning, which names the delimiter and isn't shown as a row. */
function takeSeparatorLine(text: string): { delimiter: Delimiter | undefined; text: string } {
  const match = /^"?sep=([,;\t|])"?(\r\n|\n|\r)/i.exec(text);
  if (!match) return { delimiter: undefined, text };
  return { delimiter: match[1] as Delimiter, text: text.slice(match[0].length) };
}

/**
 * Reads the records of a CSV text: delimiter found from the first rows; CRLF, LF, a mixture of both, or CR alone.
 * A quote that nothing closes, or that would swallow another row, costs its own line only. Rows of blank cells are counted
 * in the numbering, and not returned.
 * @param pieces the text
 * @param maxRowLength the longest record, in characters; longer ones come back as faults, never into memory
 * @param tell is called with the delimiter before the first records
 * @returns the records in groups, one for each piece; a record is read when it is asked for, and none outlives its turn
 */
export async function* readRows(
  pieces: AsyncIterable<string>,
  maxRowLength: number,
  tell: (delimiter: Delimiter) => void = () => {},
): AsyncGenerator<Iterable<Row>> {
  let reader: RowReader | undefined;
  let sample = '';
  for await (const piece of pieces) {
    if (reader) {
      yield reader.read(piece, false);
      continue;
    }
    sample += piece;
    if (sample.length < SAMPLE_CHARACTERS) continue;
    const begun = begin(sample, maxRowLength, tell);
    reader = begun.reader;
    yield reader.read(begun.text, false);
  }
  if (!reader) {
    const begun = begin(sample, maxRowLength, tell);
    reader = begun.reader;
    yield reader.read(begun.text, true);
  } else {
    yield reader.read('', true);
  }
}

function begin(sample: string, maxRowLength: number, tell: (delimiter: Delimiter) => void) {
  const { delimiter: named, text } = takeSeparatorLine(sample);
  const beginning = text.slice(0, SAMPLE_CHARACTERS);
  refuseMarkup(beginning);
  const newline = !beginning.includes('\n') && beginning.includes('\r') ? '\r' : '\n';
  const delimiter = named ?? detectDelimiter(beginning);
  tell(delimiter);
  return { reader: new RowReader(delimiter, newline, maxRowLength), text };
}
