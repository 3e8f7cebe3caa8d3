import { posix } from 'node:path';
import { FileFault } from '../file-fault.ts';
import type { Row } from '../rows.ts';
import { type NumberFormat, numberFormat } from './number-formats.ts';
import { type Parts, withParts } from './parts.ts';
import { SharedStrings } from './shared-strings.ts';
import { readWholeXml, readXml } from './xml.ts';

/** Which sheet of a workbook is read, and how long a row of it may be. */
export interface WorkbookOptions {
  /** The first one if none is named. */
  sheet?: string | undefined;
  maxRowLength: number;
}

/** Cells to the right of these are one: they stand below no title. */
const MOST_COLUMNS = 1024;
/** No sheet has more: a row that bears a larger number is the next one. */
const MOST_ROWS = 1_048_576;
const SHOWN_CHARACTERS = 200;
const MOST_SHEETS_SHOWN = 10;
const MOST_SHEETS = 1000;
/** Far more than a row may have: a longer text is cut, and its row is too long. */
const MOST_TEXT = 1024 * 1024;

interface Workbook {
  sheets: { name: string; part: string }[];
  strings: string | undefined;
  styles: string | undefined;
  is1904: boolean;
}

/** What a part of a workbook refers to: by the kind of each, its ID and its part. */
async function relationsOf(parts: Parts, part: string): Promise<{ kind: string; id: string; part: string }[]> {
  const { dir, base } = posix.parse(part);
  const rels = posix.join(dir, '_rels', `${base}.rels`);
  const found: { kind: string; id: string; part: string }[] = [];
  if (!parts.has(rels)) return found;
  await readWholeXml(parts.readSmall(rels), {
    open: (name, { Id: id = '', Target = '', Type = '' }) => {
      if (name !== 'Relationship' || found.length === MOST_SHEETS) return;
      found.push({ kind: posix.basename(Type), id, part: posix.resolve('/', dir, Target).slice(1) });
    },
  });
  return found;
}

async function readWorkbookPart(parts: Parts): Promise<Workbook> {
  const root = (await relationsOf(parts, '')).find(({ kind }) => kind === 'officeDocument')?.part ?? 'xl/workbook.xml';
  const relations = await relationsOf(parts, root);
  const all: { name: string; id: string; isHidden: boolean }[] = [];
  let is1904 = false;
  await readWholeXml(parts.readSmall(root), {
    open: (name, attributes) => {
      if (name === 'workbookPr') is1904 = /^(?:1|true)$/.test(attributes['date1904'] ?? '');
      if (name !== 'sheet' || all.length === MOST_SHEETS) return;
      const [, id = ''] = Object.entries(attributes).find(([key]) => /^(?:\w+:)?id$/.test(key)) ?? [];
      all.push({ name: attributes['name'] ?? '', id, isHidden: /hidden/i.test(attributes['state'] ?? '') });
    },
  });
  const partOf = (wanted: string, id?: string) =>
    relations.find((each) => each.kind === wanted && (id === undefined || each.id === id))?.part;
  const sheets = all.flatMap(({ name, id, isHidden }) => {
    const part = partOf('worksheet', id);
    return part === undefined ? [] : { name, part, isHidden };
  });
  sheets.sort((one, other) => Number(one.isHidden) - Number(other.isHidden));
  return { is1904, sheets, strings: partOf('sharedStrings'), styles: partOf('styles') };
}

function sheetOf({ sheets }: Workbook, wanted: string | undefined): { name: string; part: string } {
  const same = (name: string) => name.trim().toLowerCase() === wanted!.trim().toLowerCase();
  const found = wanted === undefined ? sheets[0] : sheets.find(({ name }) => same(name));
  if (found) return found;
  if (wanted === undefined) throw new FileFault('unreadable_file', 'The workbook has no sheet with cells.');
  const names = sheets.slice(0, MOST_SHEETS_SHOWN).map(({ name }) => `"${name}"`);
  throw new FileFault('no_such_sheet', `No sheet is called "${wanted}", as sheet says. Found: ${names.join(', ')}.`);
}

/** How the numbers of each style are shown, by the style's number. */
async function readFormats(parts: Parts, { styles: part, is1904 }: Workbook): Promise<NumberFormat[]> {
  if (part === undefined || !parts.has(part)) return [];
  const codes = new Map<number, string>();
  const styles: number[] = [];
  let isCells = false;
  await readWholeXml(parts.readSmall(part), {
    open: (name, { numFmtId, formatCode }) => {
      if (name === 'numFmt') codes.set(Number(numFmtId), formatCode ?? '');
      else if (name === 'cellXfs') isCells = true;
      else if (name === 'xf' && isCells) styles.push(Number(numFmtId ?? 0));
    },
    close: (name) => {
      if (name === 'cellXfs') isCells = false;
    },
  });
  const formats = new Map<number, NumberFormat>();
  return styles.map((id) => {
    const format = formats.get(id) ?? numberFormat(id, codes.get(id), is1904);
    formats.set(id, format);
    return format;
  });
}

async function readStrings(parts: Parts, { strings: part }: Workbook): Promise<SharedStrings> {
  const strings = new SharedStrings();
  if (part === undefined || !parts.has(part)) return strings;
  let text = '';
  let isText = false;
  let isPhonetic = false;
  await readWholeXml(parts.read(part), {
    open: (name) => {
      if (name === 'si') text = '';
      else if (name === 'rPh') isPhonetic = true;
      else if (name === 't') isText = !isPhonetic;
    },
    text: (piece) => {
      if (isText && text.length < MOST_TEXT) text += piece;
    },
    close: (name) => {
      if (name === 't') isText = false;
      else if (name === 'rPh') isPhonetic = false;
      else if (name === 'si') strings.add(unescaped(text));
    },
  });
  return strings;
}

/** Control characters stand as `_x000D_` in texts, and so may what no text of ours can hold. */
const unescaped = (text: string): string =>
  text.includes('_x')
    ? text
        .replace(/_x([0-9A-Fa-f]{4})_/g, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
        .replaceAll('\0', '')
        .toWellFormed()
    : text;

/** The column of a cell's reference, such as 1 of `B7`, from 0. */
function columnOf(reference: string): number {
  let column = 0;
  for (let at = 0; at < reference.length; at += 1) {
    const letter = reference.charCodeAt(at) & ~32;
    if (letter < 65 || letter > 90) break;
    column = column * 26 + letter - 64;
    if (column > MOST_COLUMNS) return MOST_COLUMNS;
  }
  return column - 1;
}

/** Reads the rows of a sheet from its XML. */
class SheetReader {
  readonly #strings: SharedStrings;
  readonly #formats: readonly NumberFormat[];
  readonly #maxLength: number;
  #rows: Row[] = [];
  #row = 0;
  #fields: string[] = [];
  #length = 0;
  #column = -1;
  #type = '';
  #style = 0;
  #value = '';
  #takes = false;
  #isPhonetic = false;

  constructor(strings: SharedStrings, formats: readonly NumberFormat[], maxLength: number) {
    this.#strings = strings;
    this.#formats = formats;
    this.#maxLength = maxLength;
  }

  /** The rows that were completed since it was asked last. */
  taken(): Row[] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    if (name === 'v') this.#takes = true;
    else if (name === 't') this.#takes = !this.#isPhonetic;
    else if (name === 'rPh') this.#isPhonetic = true;
    else if (name === 'c') {
      const reference = attributes['r'];
      this.#column = reference === undefined ? Math.min(this.#column + 1, MOST_COLUMNS) : columnOf(reference);
      this.#type = attributes['t'] ?? 'n';
      this.#style = Number(attributes['s'] ?? 0);
      this.#value = '';
    } else if (name === 'row') {
      const number = Number(attributes['r']);
      this.#row = number > this.#row && number <= MOST_ROWS ? number : this.#row + 1;
      this.#fields = [];
      this.#length = 0;
      this.#column = -1;
    }
  }

  text(piece: string): void {
    if (!this.#takes) return;
    this.#length += piece.length;
    if (this.#length <= this.#maxLength) this.#value += piece;
  }

  close(name: string): void {
    if (name === 'v' || name === 't') this.#takes = false;
    else if (name === 'rPh') this.#isPhonetic = false;
    else if (name === 'c') this.#endCell();
    else if (name === 'row') this.#endRow();
  }

  #endCell(): void {
    if (this.#value === '' || this.#column < 0) return;
    const value = this.#shown();
    if (this.#type === 's') this.#length += value.length;
    while (this.#fields.length < this.#column) this.#fields.push('');
    if (this.#length <= this.#maxLength) this.#fields[this.#column] = value;
  }

  #shown(): string {
    const value = this.#value;
    if (this.#type === 's') return this.#strings.at(Number(value));
    if (this.#type === 'b') return value === '1' ? 'TRUE' : 'FALSE';
    if (this.#type !== 'n') return this.#type === 'inlineStr' || this.#type === 'str' ? unescaped(value) : value;
    const number = Number(value);
    return Number.isFinite(number) ? (this.#formats[this.#style] ?? GENERAL)(number) : value;
  }

  #endRow(): void {
    const fields = this.#fields;
    if (this.#length > this.#maxLength) {
      const shown = fields.join(' ').slice(0, SHOWN_CHARACTERS);
      this.#rows.push({ row: this.#row, fields: [shown], fault: 'row_too_long' });
    } else if (fields.some((field) => field.trim() !== '')) this.#rows.push({ row: this.#row, fields });
  }
}

const GENERAL = numberFormat(0, undefined, false);

/**
 * Reads the rows of an Excel workbook (.xlsx) as they are shown, in memory that grows with its shared texts alone.
 * @param tell is called with the name of the sheet that is read
 * @throws FileFault for what is no workbook, is broken, or unpacks to too much; `no_such_sheet`
 */
export const readWorkbook = (
  source: AsyncIterable<Uint8Array>,
  { sheet, maxRowLength }: WorkbookOptions,
  tell: (sheet: string) => void = () => {},
): AsyncGenerator<Row[]> =>
  withParts(source, async function* (parts) {
    const workbook = await readWorkbookPart(parts);
    const { name, part } = sheetOf(workbook, sheet);
    tell(name);
    const formats = await readFormats(parts, workbook);
    const reader = new SheetReader(await readStrings(parts, workbook), formats, maxRowLength);
    for await (const _ of readXml(parts.read(part), {
      open: (name, attributes) => reader.open(name, attributes),
      text: (piece) => reader.text(piece),
      close: (name) => reader.close(name),
    }))
      yield reader.taken();
  });
