import * as sheetjs from '@e965/xlsx';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../../server.ts';
import { confirm, createWithFile, entriesOf, type Ids, importFile, validated } from './contact-files.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const written = (sheets: Record<string, unknown[][]>, bookType: sheetjs.BookType = 'xlsx') => {
  const book = sheetjs.utils.book_new();
  for (const [name, rows] of Object.entries(sheets)) {
    sheetjs.utils.book_append_sheet(book, sheetjs.utils.aoa_to_sheet(rows), name);
  }
  return new Uint8Array(sheetjs.write(book, { type: 'buffer', bookType }));
};
const preview = async (path: Ids) =>
  (await server.client.GET('/v1/calls/contact-lists/{id}/uploads/{uploadID}/preview', { params: { path } })).data!;

const PEOPLE = [
  ['name', 'phone', 'city'],
  ['Łukasz 日本', 4_155_550_199, 'Łódź'],
  ['Ana', '(415) 555-0100', ''],
  ['Nobody', 12, ''],
];

test('a workbook is imported as it is shown, and its preview says which sheet is read', async () => {
  const { id, uploadID, upload } = await importFile(server, written({ Leads: PEOPLE, Notes: [['x']] }));
  expect(upload).toMatchObject({
    metadata: { totalRows: 3, validRows: 2, invalidRows: 1 },
    errors: [4],
    format: { sheet: 'Leads', phoneColumn: 'phone' },
  });
  expect(
    (await entriesOf(server, id)).map(({ phoneNumber, name, variables }) => [phoneNumber, name, variables]),
  ).toEqual([
    ['+14155550199', 'Łukasz 日本', { city: 'Łódź' }],
    ['+14155550100', 'Ana', { city: '' }],
  ]);
  const { format, columns, rows, failure } = await preview({ id, uploadID });
  expect(format).toMatchObject({ sheet: 'Leads' });
  expect(failure).toBeUndefined();
  expect(columns.map(({ use }) => use)).toEqual(['name', 'phone', 'variable']);
  expect(rows[0]).toMatchObject({
    row: 2,
    cells: ['Łukasz 日本', '4155550199', 'Łódź'],
    contact: { phoneNumber: '+14155550199' },
  });
  expect(rows[2]).toMatchObject({ row: 4, errors: [{ code: 'invalid_phone' }] });
});

test('the sheet that is named is read, also without a second upload', async () => {
  const ids = await createWithFile(server, written({ Notes: [['x'], ['y']], People: PEOPLE }));
  expect(await validated(server, ids)).toMatchObject({ status: 'failed', failure: { code: 'no_phone_column' } });
  const params = { path: ids };
  const change = (sheet: string) =>
    server.client.PATCH('/v1/calls/contact-lists/{id}/uploads/{uploadID}', { params, body: { sheet } });
  await change('Else');
  const message = 'No sheet is called "Else", as sheet says. Found: "Notes", "People".';
  expect(await validated(server, ids)).toMatchObject({ failure: { code: 'no_such_sheet', message } });
  expect((await preview(ids)).failure).toEqual({ code: 'no_such_sheet', message });
  await change('people');
  expect(await validated(server, ids)).toMatchObject({ status: 'validated', format: { sheet: 'People' } });
  expect((await confirm(server, ids)).data!.totalEntries).toBe(2);
});

test('an old workbook is refused with the way out', async () => {
  const ids = await createWithFile(server, written({ People: PEOPLE }, 'biff8'));
  const failure = { code: 'unreadable_file', message: expect.stringContaining('old Excel workbook (.xls)') };
  expect(await validated(server, ids)).toMatchObject({ status: 'failed', failure });
  expect((await preview(ids)).failure).toEqual(failure);
});
