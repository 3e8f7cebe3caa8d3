import { buffer } from 'node:stream/consumers';
import * as sheetjs from '@e965/xlsx';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import yazl from 'yazl';
import { readWorkbook } from './read-workbook.ts';

async function* of(bytes: Uint8Array, size = 1000) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function rowsOf(bytes: Uint8Array, options: { sheet?: string; maxRowLength?: number } = {}) {
  const rows = [];
  for await (const some of readWorkbook(of(bytes), { maxRowLength: 65_536, ...options })) rows.push(...some);
  return rows;
}

const written = (sheets: Record<string, sheetjs.WorkSheet>, options: sheetjs.WritingOptions = {}): Buffer => {
  const book = sheetjs.utils.book_new();
  for (const [name, sheet] of Object.entries(sheets)) sheetjs.utils.book_append_sheet(book, sheet, name);
  return sheetjs.write(book, { type: 'buffer', bookType: 'xlsx', compression: true, ...options });
};
const aoa = (rows: unknown[][]) => sheetjs.utils.aoa_to_sheet(rows);

/** A workbook of parts as they are given. */
async function zipped(parts: Record<string, string>): Promise<Buffer> {
  const zip = new yazl.ZipFile();
  for (const [name, text] of Object.entries(parts)) zip.addBuffer(Buffer.from(text), name);
  zip.end();
  return buffer(zip.outputStream);
}
const WORKBOOK = '<workbook><sheets><sheet name="A" r:id="r1"/></sheets></workbook>';
const RELS = '<Relationships><Relationship Id="r1" Type="x/worksheet" Target="worksheets/sheet1.xml"/></Relationships>';
const RELS_OF_TEXTS = RELS.replace('</', '<Relationship Id="r2" Type="x/sharedStrings" Target="sharedStrings.xml"/></');
const small = (sheet: string, more: Record<string, string> = {}) =>
  zipped({
    'xl/workbook.xml': WORKBOOK,
    'xl/_rels/workbook.xml.rels': RELS,
    'xl/worksheets/sheet1.xml': sheet,
    ...more,
  });

/** Cells as one text, without blank ones at the end. */
const joined = (fields: readonly string[]) => fields.join('\t').trimEnd();

const inline = (text: string) => `<c t="inlineStr"><is><t>${text}</t></is></c>`;

describe('readWorkbook', () => {
  it('leaves out what the database takes in no text, and takes no number of a row that no sheet has', async () => {
    const texts = ['a_x0000_b', 'a_xD800_b', 'a\0b', '_xD83D__xDE00_'].map(inline).join('');
    const rows = `<row r="1e300">${texts}</row><row r="7">${inline('c')}</row><row r="99999999999">${inline('d')}</row>`;
    expect(await rowsOf(await small(`<worksheet><sheetData>${rows}</sheetData></worksheet>`))).toEqual([
      { row: 1, fields: ['ab', 'a\uFFFDb', 'ab', '😀'] },
      { row: 7, fields: ['c'] },
      { row: 8, fields: ['d'] },
    ]);
  });

  it('reads texts, numbers, dates and truths as they are shown', async () => {
    const sheet = aoa([
      ['name', 'phone', 'since', 'share', 'ok', 'code', 'when'],
      ['Łódź 日本', 4915112345678, 46_000, 0.5, true, 7, 46_000.75],
    ]);
    sheet['C2'].z = 'dd.mm.yyyy';
    sheet['D2'].z = '0%';
    sheet['F2'].z = '00000';
    sheet['G2'].z = 'yyyy-mm-dd hh:mm';
    const rows = await rowsOf(written({ People: sheet }));
    expect(rows.map(({ fields }) => fields)).toEqual([
      ['name', 'phone', 'since', 'share', 'ok', 'code', 'when'],
      ['Łódź 日本', '4915112345678', '09.12.2025', '50%', 'TRUE', '00007', '2025-12-09 18:00'],
    ]);
  });

  it('reads a number that a column shows as a power of ten with all its digits, and dates of the reader as ISO', async () => {
    const sheet = aoa([
      ['phone', 'day'],
      [4915112345678, 46_000],
    ]);
    sheet['A2'].z = '0.00E+00';
    sheet['B2'].z = 'm/d/yy';
    const rows = await rowsOf(written({ People: sheet }));
    expect(rows[1]!.fields).toEqual(['4915112345678', '2025-12-09']);
  });

  it('reads the first sheet, or the one that is named, and says which there are', async () => {
    const book = written({ Notes: aoa([['x']]), People: aoa([['phone']]) });
    expect((await rowsOf(book))[0]!.fields).toEqual(['x']);
    expect((await rowsOf(book, { sheet: 'people ' }))[0]!.fields).toEqual(['phone']);
    await expect(rowsOf(book, { sheet: 'Else' })).rejects.toMatchObject({
      code: 'no_such_sheet',
      message: 'No sheet is called "Else", as sheet says. Found: "Notes", "People".',
    });
  });

  it('counts rows as the sheet does, and leaves blank ones out', async () => {
    const rows = await rowsOf(written({ A: aoa([['phone'], [], ['  '], ['+1'], [null, 'b']]) }));
    expect(rows).toEqual([
      { row: 1, fields: ['phone'] },
      { row: 4, fields: ['+1'] },
      { row: 5, fields: ['', 'b'] },
    ]);
  });

  it('reads texts in cells, rich texts without their readings, prefixes, and what is escaped', async () => {
    const sheet = `<x:worksheet xmlns:x="m"><x:sheetData><x:row><x:c t="inlineStr"><x:is><x:r><x:t>A</x:t></x:r><x:r><x:t>da &amp; B</x:t></x:r><x:rPh><x:t>no</x:t></x:rPh></x:is></x:c><x:c t="str"><x:v>a_x000A_b</x:v></x:c><x:c t="e"><x:v>#N/A</x:v></x:c></x:row></x:sheetData></x:worksheet>`;
    expect(await rowsOf(await small(sheet))).toEqual([{ row: 1, fields: ['Ada & B', 'a\nb', '#N/A'] }]);
  });

  it('answers a row that is too long with its beginning, and goes on', async () => {
    const rows = await rowsOf(written({ A: aoa([['a', 'x'.repeat(300)], ['b']]) }), { maxRowLength: 100 });
    expect(rows).toMatchObject([
      { row: 1, fault: 'row_too_long' },
      { row: 2, fields: ['b'] },
    ]);
  });

  it.each([
    ['a zip file', { 'people.csv': 'phone' }, 'This is a zip file.'],
    ['a binary workbook', { 'xl/workbook.bin': '' }, '(.xlsb)'],
    ['an OpenDocument file', { mimetype: 'x', 'content.xml': '' }, 'OpenDocument'],
    ['a Numbers document', { 'Index/Document.iwa': '' }, 'Numbers'],
    ['a Word document', { 'word/document.xml': '' }, 'Word'],
    ['a workbook without sheets', { 'xl/workbook.xml': '<workbook/>' }, 'no sheet'],
  ])('refuses %s and says what to do', async (_, parts, message) => {
    await expect(rowsOf(await zipped(parts))).rejects.toMatchObject({ message: expect.stringContaining(message) });
  });

  it('refuses what unpacks to too much before it is unpacked', async () => {
    const book = await small('<worksheet/>', { 'xl/styles.xml': '' });
    const bomb = Buffer.from(book);
    // The size of each part in the directory: four bytes at 24 behind its mark.
    for (let at = bomb.indexOf('PK\u0001\u0002'); at !== -1; at = bomb.indexOf('PK\u0001\u0002', at + 4)) {
      bomb.writeUInt32LE(3_000_000_000, at + 24);
    }
    await expect(rowsOf(bomb)).rejects.toMatchObject({ code: 'file_too_large' });
  });

  it.each([
    ['an attribute', '<worksheet><sheetData><row r="', '"/>'],
    ['a comment', '<worksheet><!--', '-->'],
    ['a name', '<worksheet><a', '/>'],
    ['an instruction', '<worksheet><?', '?>'],
  ])('keeps no %s that has no end', async (_, before, behind) => {
    const sheet = `${before}${'9'.repeat(8_000_000)}${behind}</worksheet>`;
    await expect(rowsOf(await small(sheet))).rejects.toMatchObject({
      message: expect.stringContaining('a tag in it has no end'),
    });
  });

  it('keeps no tags that are nested without end', async () => {
    const sheet = `<worksheet>${'<a>'.repeat(1_000_000)}`;
    await expect(rowsOf(await small(sheet))).rejects.toMatchObject({ message: expect.stringContaining('too deep') });
  });

  it('cuts a text that is far too long, and says so of its row', async () => {
    const text = `<t>${'x'.repeat(8_000_000)}</t>`;
    const cells = `<row><c t="s"><v>0</v></c></row><row><c t="inlineStr"><is>${text}</is></c></row><row><c t="str"><v>b</v></c></row>`;
    const more = { 'xl/sharedStrings.xml': `<sst><si>${text}</si></sst>` };
    const book = await zipped({
      ...{ 'xl/workbook.xml': WORKBOOK, 'xl/_rels/workbook.xml.rels': RELS_OF_TEXTS, ...more },
      'xl/worksheets/sheet1.xml': `<worksheet><sheetData>${cells}</sheetData></worksheet>`,
    });
    expect(await rowsOf(book)).toMatchObject([
      { row: 1, fault: 'row_too_long' },
      { row: 2, fault: 'row_too_long' },
      { row: 3, fields: ['b'] },
    ]);
  });

  it.each(['0.5', '-1', '1', '1e9', 'x', 'NaN'])(
    'shows nothing for the shared text %s, which there is not',
    async (number) => {
      const row = `<row>${inline('a')}<c t="s"><v>${number}</v></c></row>`;
      const book = await zipped({
        ...{ 'xl/workbook.xml': WORKBOOK, 'xl/sharedStrings.xml': '<sst><si><t>b</t></si></sst>' },
        'xl/_rels/workbook.xml.rels': RELS_OF_TEXTS,
        'xl/worksheets/sheet1.xml': `<worksheet><sheetData>${row}</sheetData></worksheet>`,
      });
      expect(await rowsOf(book)).toEqual([{ row: 1, fields: ['a', ''] }]);
    },
  );

  it('says of a workbook that was cut or changed that it is broken, or reads it', async () => {
    const book = written({
      People: aoa([['phone', 'name'], ...Array.from({ length: 50 }, (_, at) => [at, `N${at}`])]),
    });
    await fc.assert(
      fc.asyncProperty(fc.nat(book.length - 1), fc.nat(255), fc.boolean(), async (at, byte, cuts) => {
        const bytes = cuts ? book.subarray(0, at) : Buffer.from(book);
        if (!cuts) bytes[at] = byte;
        await rowsOf(bytes).catch((error) =>
          expect(error).toMatchObject({ code: expect.stringMatching(/^unreadable_file$|^file_too_large$/) }),
        );
      }),
      { numRuns: 100 },
    );
  });

  it('reads whatever rows another library writes', async () => {
    const cell = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 20 }),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(cell, { maxLength: 6 }), { minLength: 1, maxLength: 10 }), async (rows) => {
        const book = written({ A: aoa(rows) });
        const again = sheetjs.read(book, { type: 'buffer' }).Sheets['A']!;
        const shown = sheetjs.utils.sheet_to_json<string[]>(again, {
          header: 1,
          raw: false,
          defval: '',
          blankrows: true,
        });
        const expected = shown.map(joined);
        const found = (await rowsOf(book)).map(({ fields }) => joined(fields));
        for (const fields of found) expect(expected).toContain(fields);
        expect(found.length).toBe(expected.filter((fields) => fields.replaceAll('\t', '').trim() !== '').length);
      }),
      { numRuns: 60 },
    );
  });
});
