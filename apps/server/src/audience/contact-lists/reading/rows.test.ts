import fc from 'fast-check';
import iconv from 'iconv-lite';
import Papa from 'papaparse';
import { describe, expect, it } from 'vitest';
import { decode } from './decode.ts';
import { DELIMITERS } from './delimiter.ts';
import { type Row, readRows } from './rows.ts';

async function* inPieces(bytes: Uint8Array, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function read(bytes: Uint8Array, size = 65536, maxRowLength = 65536): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const group of readRows(decode(inPieces(bytes, size)), maxRowLength)) rows.push(...group);
  return rows;
}

const readText = (text: string, maxRowLength?: number) => read(Buffer.from(text), 65536, maxRowLength);

const ENCODINGS = ['utf-8', 'utf-8 with BOM', 'utf-16le', 'utf-16be'] as const;

function encode(text: string, encoding: (typeof ENCODINGS)[number]): Buffer {
  if (encoding === 'utf-8') return Buffer.from(text);
  if (encoding === 'utf-8 with BOM') return Buffer.from(`\ufeff${text}`);
  return iconv.encode(text, encoding, { addBOM: true });
}

const cell = fc.string({
  unit: fc.constantFrom('a', 'B', '7', ' ', '"', ',', ';', '\t', '|', '\n', '\r\n', 'é', '漢', '😀', "'"),
  maxLength: 12,
});
const table = fc
  .integer({ min: 2, max: 5 })
  .chain((width) => fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 8 }))
  .map((rows) => [rows[0]!.map((_, index) => `column${index}`), ...rows]);

const write = (rows: string[][], delimiter: string, newline: string, quoteAll: boolean) =>
  rows
    .map((row) =>
      row
        .map((value) => (quoteAll || /[",;\t|\r\n]|^ | $/.test(value) ? `"${value.replaceAll('"', '""')}"` : value))
        .join(delimiter),
    )
    .join(newline);

describe('readRows', () => {
  it('reads back any table, whatever its delimiter, quoting, encoding, line ending and cut', async () => {
    await fc.assert(
      fc.asyncProperty(
        table,
        fc.constantFrom(...DELIMITERS),
        fc.constantFrom('\n', '\r\n'),
        fc.boolean(),
        fc.constantFrom(...ENCODINGS),
        fc.integer({ min: 1, max: 40 }),
        fc.boolean(),
        async (rows, delimiter, newline, quoteAll, encoding, size, newlineAtEnd) => {
          const text = write(rows, delimiter, newline, quoteAll) + (newlineAtEnd ? newline : '');
          const expected = rows
            .map((fields, index) => ({ row: index + 1, fields }))
            .filter(({ fields }) => fields.some((field) => field.trim() !== ''));
          expect(await read(encode(text, encoding), size)).toEqual(expected);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('gives the same rows for any bytes, however they are cut', async () => {
    const noise = fc.string({ unit: fc.constantFrom('a', ' ', '"', ',', '\n', '\r', 'é'), maxLength: 200 });
    await fc.assert(
      fc.asyncProperty(
        noise,
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 5, max: 60 }),
        async (text, size, cap) => {
          const bytes = Buffer.from(`${'x'.repeat(70_000).replace(/x{50}/g, '$&\n')}\n${text}`);
          expect(await piecewise(bytes, size, cap)).toEqual(await piecewise(bytes, 65536, cap));
        },
      ),
      { numRuns: 200 },
    );
  });

  it('agrees with PapaParse on well-formed files', async () => {
    await fc.assert(
      fc.asyncProperty(table, async (rows) => {
        const text = write(rows, ',', '\n', false);
        const papa = Papa.parse<string[]>(text, { delimiter: ',', newline: '\n' }).data;
        const kept = papa.filter((fields) => fields.some((field) => field.trim() !== ''));
        expect((await readText(text)).map((row) => row.fields)).toEqual(kept);
      }),
    );
  });

  it('counts empty lines and rows of blank cells, and leaves them out', async () => {
    expect(await readText('\nphone,name\n\n+1,Ann\n,\n+2,Bob\n\n')).toEqual([
      { row: 2, fields: ['phone', 'name'] },
      { row: 4, fields: ['+1', 'Ann'] },
      { row: 6, fields: ['+2', 'Bob'] },
    ]);
  });

  it('counts a quoted line break as no new row', async () => {
    const rows = await readText('a,b\r\n"x\r\ny",1\r\nz,2\r\n');
    expect(rows).toEqual([
      { row: 1, fields: ['a', 'b'] },
      { row: 2, fields: ['x\r\ny', '1'] },
      { row: 3, fields: ['z', '2'] },
    ]);
  });

  it('reads mixed line endings and CR alone', async () => {
    const fields = [
      ['a', 'b'],
      ['1', '2'],
      ['3', '4'],
    ];
    expect((await readText('a,b\r\n1,2\n3,4')).map((row) => row.fields)).toEqual(fields);
    expect((await readText('a,b\r1,"2"\r3,4\r')).map((row) => row.fields)).toEqual(fields);
  });

  it("obeys Excel's sep= line and counts it as no row", async () => {
    expect(await readText('sep=;\r\na,b;c\r\n1;2')).toEqual([
      { row: 1, fields: ['a,b', 'c'] },
      { row: 2, fields: ['1', '2'] },
    ]);
  });

  it('keeps a stray quote inside a field', async () => {
    const rows = await readText('a,b\n5" pipe,"the "big" one"\n"x" ,y\n');
    expect(rows.map((row) => row.fields)).toEqual([
      ['a', 'b'],
      ['5" pipe', 'the "big" one'],
      ['x', 'y'],
    ]);
  });

  it('loses only the line of an unclosed quote', async () => {
    const rows = await readText('a,b\n1,"open\n2,x\n3,"ok"\n4,"open\n5,"open\n6,y\n');
    expect(rows.map((row) => row.fault ?? row.fields[0])).toEqual([
      'a',
      'unclosed_quote',
      '2',
      '3',
      'unclosed_quote',
      'unclosed_quote',
      '6',
    ]);
    expect(rows[1]).toEqual({ row: 2, fields: ['1,"open'], fault: 'unclosed_quote' });
  });

  it('holds a record to its cap, in one line and over several', async () => {
    const rows = await readText(`a,b\n${'x'.repeat(100)}\n1,"${'y\n'.repeat(80)}"\n2,z`, 100);
    expect(rows[1]).toEqual({ row: 2, fields: ['x'.repeat(100)] });
    expect(rows[2]?.fault).toBe('unclosed_quote');
    expect(rows.at(-1)?.fields).toEqual(['2', 'z']);
    expect((await readText(`a\n${'x'.repeat(101)}\nb`, 100)).map((row) => row.fault)).toEqual([
      undefined,
      'row_too_long',
      undefined,
    ]);
  });

  it('reads a field of 64 KiB, and drops a line of 50 MB without holding it', async () => {
    const long = 'x'.repeat(65536 - 2);
    expect((await readText(`a,b\n1,${long}\n`))[1]?.fields[1]).toBe(long);
    async function* endless() {
      yield Buffer.from('a,b\n');
      for (let n = 0; n < 50; n += 1) yield Buffer.alloc(1_000_000, 'z');
      yield Buffer.from('\n1,2\n');
    }
    const rows: Row[] = [];
    for await (const group of readRows(decode(endless()), 65536)) rows.push(...group);
    expect(rows.map((row) => [row.row, row.fault])).toEqual([
      [1, undefined],
      [2, 'row_too_long'],
      [3, undefined],
    ]);
  });
});

/** Reads text in pieces of a size of their own, past the blocks of `decode`. */
async function piecewise(bytes: Buffer, size: number, maxRowLength: number): Promise<Row[]> {
  async function* pieces() {
    const text = bytes.toString();
    yield text.slice(0, 66_000);
    for (let at = 66_000; at < text.length; at += size) yield text.slice(at, at + size);
  }
  const rows: Row[] = [];
  for await (const group of readRows(pieces(), maxRowLength)) rows.push(...group);
  return rows;
}
