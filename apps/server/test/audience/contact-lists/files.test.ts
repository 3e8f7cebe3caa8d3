import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../../server.ts';
import { createWithFile, entriesOf, importFile, validated } from './contact-files.ts';

let server: TestServer;
beforeAll(async () => {
  const caps = { uploadMaxRows: 50, uploadMaxColumns: 5, uploadMaxBytes: 200_000, uploadMaxRowBytes: 65_536 };
  server = await startTestServer({ config: caps });
});
afterAll(() => server.stop());

const utf16 = (text: string) => Uint8Array.from(Buffer.from(`\ufeff${text}`, 'utf16le'));
const long = 'x'.repeat(65_000);

/** What stands in the file, and the entries that come of it: number, name, variables. */
const readable: [
  kind: string,
  file: string | Uint8Array<ArrayBuffer>,
  entries: [string, string | undefined, object][],
][] = [
  ['a byte order mark', '\ufeffphone,name\n+14155550101,Ana\n', [['+14155550101', 'Ana', {}]]],
  ['UTF-16', utf16('phone\tname\n+14155550101\tZoë 日本\n'), [['+14155550101', 'Zoë 日本', {}]]],
  ['semicolons', 'phone;name;note\n+14155550101;Ana;a,b\n', [['+14155550101', 'Ana', { note: 'a,b' }]]],
  [
    'quoted newlines and delimiters',
    'phone,note\n+14155550101,"one\ntwo, ""three""\\ \t"\n',
    [['+14155550101', undefined, { note: 'one\ntwo, "three"\\' }]],
  ],
  ['CRLF', 'phone,name\r\n+14155550101,Ana\r\n', [['+14155550101', 'Ana', {}]]],
  [
    'empty lines',
    '\nphone\n\n+14155550101\n\n\n+14155550102\n',
    [
      ['+14155550101', undefined, {}],
      ['+14155550102', undefined, {}],
    ],
  ],
  ['short rows', 'phone,a,b\n+14155550101\n', [['+14155550101', undefined, { a: '', b: '' }]]],
  ['national numbers', 'Phone Number,city\n(415) 555-0101,Lima\n', [['+14155550101', undefined, { city: 'Lima' }]]],
  [
    'duplicate and missing headers',
    'phone,city,city,,__proto__\n+14155550101,a,b,c,d\n',
    [['+14155550101', undefined, { city: 'a', city_2: 'b', column_4: 'c', column_5: 'd' }]],
  ],
  ['a field of 64 KiB', `phone,note\n+14155550101,${long}\n`, [['+14155550101', undefined, { note: long }]]],
  ['array text', 'phone,a\n+14155550101,"{NULL,""x""}"\n', [['+14155550101', undefined, { a: '{NULL,"x"}' }]]],
  ['the word NULL', 'phone,name,a\n+14155550101,NULL,\\N\n', [['+14155550101', 'NULL', { a: '\\N' }]]],
];

test.each(readable)('reads a file with %s', async (_, file, entries) => {
  const { id } = await importFile(server, file);
  const found = (await entriesOf(server, id)).map(({ phoneNumber, name, variables }) => [phoneNumber, name, variables]);
  expect(found).toEqual(entries);
});

test('faulty and duplicate rows are counted, reported and left out', async () => {
  const file = [
    'phone,name,timezone',
    '+14155550101,Ana,',
    '12,"Bo, ""B""",',
    '+14155550101,Cy,',
    ',,',
    '+14155550102,Di,Mars/Olympus',
    '=HYPERLINK("http://x"),Ed,',
    '+14155550103,"Flo,',
    '+14155550104,Gus,',
  ].join('\n');
  const ids = await createWithFile(server, file);
  const upload = await validated(server, ids);
  expect(upload).toMatchObject({
    status: 'validated',
    metadata: { totalRows: 7, validRows: 2, invalidRows: 4, duplicateRows: 1 },
    errors: [3, 6, 7, 8],
    errorReportStorageKey: `reports/${ids.uploadID}.csv`,
  });
  const report = await fetch(upload.errorReportUrl!);
  expect(report.headers.get('content-disposition')).toContain('attachment');
  const lines = (await report.text()).split('\r\n');
  expect(lines[0]).toBe('row,column,value,code,reason');
  expect(lines.slice(1, -1).map((line) => line.split(',')[0])).toEqual(['3', '4', '6', '7', '8']);
  expect(lines[2]).toContain('duplicate,"Row 2 has this number already');
  expect(lines[3]).toContain('timezone,Mars/Olympus,invalid_timezone');
  expect(lines[4]).toMatch(/^7,phone,"'=HYPERLINK/);
});

describe('a file that cannot be imported', () => {
  const rows = (count: number) => Array.from({ length: count }, (_, i) => `+1415555${String(1000 + i)}`).join('\n');
  const unreadable: [code: string, file: string | Uint8Array<ArrayBuffer>][] = [
    ['unreadable_file', Uint8Array.from(Buffer.from('PK\u0003\u0004zip'))],
    ['unreadable_file', '[{"phone": "+14155550101"}]'],
    ['no_phone_column', 'name,city\nAna,Lima\n'],
    ['too_many_rows', `phone\n${rows(51)}\n`],
    ['too_many_columns', 'phone,a,b,c,d,e\n+14155550101\n'],
    ['no_valid_rows', 'phone\n12\nx\n'],
    ['no_valid_rows', 'phone\n'],
  ];
  test.each(unreadable)('fails as %s', async (code, file) => {
    const ids = await createWithFile(server, file);
    const upload = await validated(server, ids);
    expect(upload).toMatchObject({ status: 'failed', failure: { code, message: expect.stringMatching(/\.$/) } });
    expect('metadata' in upload).toBe(code === 'no_valid_rows');
    const path = { id: ids.id, uploadID: ids.uploadID };
    const confirmed = await server.client.POST('/v1/calls/contact-lists/{id}/uploads/{uploadID}/confirm', {
      params: { path },
    });
    expect([confirmed.response.status, confirmed.error!.code]).toEqual([409, 'invalid_state']);
  });

  test('shows the rows that were wrong where all are', async () => {
    const upload = await validated(server, await createWithFile(server, 'phone\n12\nx\n'));
    expect(upload).toMatchObject({ errors: [2, 3], metadata: { totalRows: 2, invalidRows: 2, validRows: 0 } });
    expect((await fetch(upload.errorReportUrl!)).status).toBe(200);
  });

  test('leaves no rows behind', async () => {
    await validated(server, await createWithFile(server, `phone\n${rows(51)}\n`));
    await expect
      .poll(() =>
        server.database.inEngine(async (tx) => {
          const staged = await tx.db
            .selectFrom('contact_list_entries')
            .innerJoin('contact_list_uploads', 'contact_list_uploads.id', 'contact_list_entries.upload_id')
            .select('upload_id')
            .where('status', '=', 'failed')
            .execute();
          return staged.length;
        }),
      )
      .toBe(0);
  });

  test('is refused at its PUT where it is too large', async () => {
    await expect(createWithFile(server, 'x'.repeat(200_001))).rejects.toThrow('payload_too_large');
  });
});
