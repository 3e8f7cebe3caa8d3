import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../../server.ts';
import { createWithFile, type Ids, importFile, validated } from './contact-files.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const preview = (path: Ids) =>
  server.client.GET('/v1/calls/contact-lists/{id}/uploads/{uploadID}/preview', { params: { path } });

test('a preview shows the columns, how the file is read, and ten rows as read and as normalised', async () => {
  const rows = [
    'Ana Ruiz;030 901820;Köln;8',
    'Ben;33612345678;;',
    ...Array.from({ length: 20 }, (_, at) => `Cy;030 90182${at};;`),
  ];
  const file = Buffer.from(`Name;Telefon;Ort;Number\n${rows.join('\n')}`, 'latin1');
  const ids = await createWithFile(server, new Uint8Array(file), { defaultCountry: 'DE' });
  const upload = await validated(server, ids);
  const { data } = await preview(ids);
  const encoding = { encoding: 'windows-1252', encodingGuessed: true, encodingCertainty: 1 };
  const format = { ...encoding, delimiter: ';', phoneColumn: 'Telefon' };
  expect(upload.format).toEqual(format);
  expect(data!.format).toEqual(format);
  expect(data!.columns).toEqual([
    { name: 'Name', use: 'name' },
    { name: 'Telefon', use: 'phone' },
    { name: 'Ort', use: 'variable' },
    { name: 'Number', use: 'variable' },
  ]);
  expect(data!.rows).toHaveLength(10);
  expect(data!.rows.slice(0, 2)).toEqual([
    {
      row: 2,
      cells: ['Ana Ruiz', '030 901820', 'Köln', '8'],
      contact: { phoneNumber: '+4930901820', country: 'DE', name: 'Ana Ruiz', variables: { Ort: 'Köln', Number: '8' } },
    },
    {
      row: 3,
      cells: ['Ben', '33612345678', '', ''],
      errors: [
        {
          column: 'Telefon',
          value: '33612345678',
          code: 'ambiguous_phone',
          reason: 'This may be +4933612345678 or +33612345678. Write it with + and its country code.',
        },
      ],
    },
  ]);
  expect(data!.failure).toBeUndefined();
});

test('a preview of a file that failed says why, and phoneColumn mends it', async () => {
  const file = 'Kunde,Kontakt\nAna,+4930901820\n';
  const ids = await createWithFile(server, file);
  expect(await validated(server, ids)).toMatchObject({ status: 'failed', failure: { code: 'no_phone_column' } });
  const { data } = await preview(ids);
  expect(data).toMatchObject({
    columns: [{ name: 'Kunde' }, { name: 'Kontakt' }],
    rows: [],
    failure: { code: 'no_phone_column', message: expect.stringContaining('phoneColumn') },
  });

  const params = { path: { id: ids.id } };
  const body = { fileName: 'again.csv', phoneColumn: 'kontakt' };
  const again = await server.client.POST('/v1/calls/contact-lists/{id}/uploads', { params, body });
  await fetch(again.data!.uploadUrl, { method: 'PUT', headers: again.data!.uploadHeaders, body: file });
  const path = { id: ids.id, uploadID: again.data!.id };
  expect(await validated(server, path)).toMatchObject({ status: 'validated', format: { phoneColumn: 'Kontakt' } });

  const { list } = await importFile(server, file, { phoneColumn: 'Kontakt' });
  expect(list.totalEntries).toBe(1);
});

test('there is no preview before the file, and bytes that are no text have no rows', async () => {
  const body = { name: 'Patients', fileName: 'patients.csv' };
  const { data: list } = await server.client.POST('/v1/calls/contact-lists', { body });
  const early = await preview({ id: list!.id, uploadID: list!.uploadDetails.id });
  expect([early.response.status, early.error?.code]).toEqual([409, 'invalid_state']);

  const ids = await createWithFile(server, new Uint8Array([0x50, 0x4b, 3, 4, 20]));
  await validated(server, ids);
  const { data } = await preview(ids);
  expect(data).toEqual({
    columns: [],
    rows: [],
    failure: { code: 'unreadable_file', message: expect.stringContaining('workbook') },
  });
  const nowhere = await preview({ ...ids, uploadID: ids.id.replace('list', 'upl') });
  expect(nowhere.response.status).toBe(404);
});

test.each<[string, string, object]>([
  ['of nothing', '', { code: 'unreadable_file', message: 'The file is empty.' }],
  ['of a header', 'phone\n', { code: 'no_valid_rows', message: 'The file has a header and no rows.' }],
  ['of no number', 'phone\nN/A\n', { code: 'no_valid_rows', message: expect.stringContaining('Row 2: ') }],
])('a preview of a file %s says why it can not be imported, as the upload does', async (_, file, failure) => {
  const ids = await createWithFile(server, file);
  const { failure: ofUpload } = await validated(server, ids);
  expect(ofUpload).toEqual(failure);
  expect((await preview(ids)).data!.failure).toEqual(failure);
});

test('a preview shows a row that repeats another as one that is not imported', async () => {
  const ids = await createWithFile(server, 'phone\n+14155550100\n(415) 555-0100\n');
  await validated(server, ids);
  const { rows, failure } = (await preview(ids)).data!;
  expect(rows).toMatchObject([
    { contact: { phoneNumber: '+14155550100' } },
    { errors: [{ code: 'duplicate', reason: 'Row 2 has this number already, and is kept.' }] },
  ]);
  expect(rows[1]).not.toHaveProperty('contact');
  expect(failure).toBeUndefined();
});

test('duplicates stand in the error report, with the row that they repeat', async () => {
  const ids = await createWithFile(server, 'phone\n+14155550100\n(415) 555-0100\n#N/A\n');
  const upload = await validated(server, ids);
  expect(upload).toMatchObject({ metadata: { duplicateRows: 1, invalidRows: 1 }, errors: [4] });
  const { data } = await server.client.GET('/v1/calls/contact-lists/{id}/uploads/{uploadID}', {
    params: { path: ids },
  });
  const report = await (await fetch(data!.errorReportUrl!)).text();
  expect(report.split('\r\n').slice(1, 3)).toEqual([
    '3,phone,(415) 555-0100,duplicate,"Row 2 has this number already, and is kept."',
    expect.stringMatching(/^4,phone,#N\/A,invalid_phone,/),
  ]);
});

test.each([
  ['UK', 'write GB'],
  ['XX', 'such as US, GB or DE'],
])('a default country %s is refused with what would be right', async (defaultCountry, right) => {
  const body = { name: 'Patients', fileName: 'patients.csv', defaultCountry };
  const { error, response } = await server.client.POST('/v1/calls/contact-lists', { body });
  expect(response.status).toBe(400);
  expect(error).toMatchObject({ code: 'invalid_request', error: expect.stringContaining(right) });
  expect(error!.details).toEqual([{ path: '/body/defaultCountry', message: expect.stringContaining(right) }]);
});
