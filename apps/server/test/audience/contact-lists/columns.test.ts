import type { components } from '@trunkline/client/schema';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { deleteOldRejectedRows } from '../../../src/audience/contact-lists/rejected-rows.ts';
import type { EngineTx } from '../../../src/foundation/database/database.ts';
import { fromId } from '../../../src/foundation/values/ids.ts';
import { meanwhile } from '../../race.ts';
import { startTestServer, type TestServer } from '../../server.ts';
import { until } from '../../until.ts';
import { confirm, createWithFile, entriesOf, type Ids, importFile, validated } from './contact-files.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const change = (path: Ids, body: components['schemas']['UpdateContactListUpload']) =>
  server.client.PATCH('/v1/calls/contact-lists/{id}/uploads/{uploadID}', { params: { path }, body });
const numbersOf = async (id: string) =>
  (await entriesOf(server, id)).map(({ phoneNumber, name }) => [phoneNumber, name]);

test('a person with only the second phone is called there, and the upload says which column is what', async () => {
  const file = [
    'First Name,Last Name,Phone,Mobile,City',
    'Ana,Ruiz,+14155550101,+14155550102,Lima',
    'Ben,,,+14155550103,',
    'Cy,Ito,n/a,+14155550104,',
    'Di,Ono,n/a,12,',
  ].join('\n');
  const { id, upload } = await importFile(server, file);
  expect(upload.metadata).toMatchObject({ totalRows: 4, validRows: 3, invalidRows: 1 });
  expect(await numbersOf(id)).toEqual([
    ['+14155550101', 'Ana Ruiz'],
    ['+14155550103', 'Ben'],
    ['+14155550104', 'Cy Ito'],
  ]);
  expect(upload.columns).toEqual([
    { name: 'First Name', use: 'name' },
    { name: 'Last Name', use: 'name' },
    { name: 'Phone', use: 'phone' },
    { name: 'Mobile', use: 'phone' },
    { name: 'City', use: 'variable' },
  ]);
  expect((await entriesOf(server, id))[0]!.variables).toEqual({
    ...{ 'First Name': 'Ana', 'Last Name': 'Ruiz', Mobile: '+14155550102', City: 'Lima' },
  });
});

test('a cell of Google Contacts with several numbers is called at the first that can be', async () => {
  const header = 'First Name,Phone 1 - Label,Phone 1 - Value,Phone 2 - Label,Phone 2 - Value';
  const rows = 'Ana,Mobile,12 ::: (415) 555-0105 ::: (415) 555-0106,Home,\nBen,,,Home,(415) 555-0107';
  const { id } = await importFile(server, `${header}\n${rows}\n`);
  expect(await numbersOf(id)).toEqual([
    ['+14155550105', 'Ana'],
    ['+14155550107', 'Ben'],
  ]);
});

test('a file whose columns nobody knows is mapped without a second upload, and mapped again', async () => {
  const ids = await createWithFile(server, 'Wer,Kontakt,Ort\nAna,+14155550108,+14155550109\n');
  expect(await validated(server, ids)).toMatchObject({ status: 'failed', failure: { code: 'no_phone_column' } });
  const mapped = await change(ids, { phoneColumns: ['Ort'], nameColumns: ['Wer'] });
  expect(mapped.response.status).toBe(200);
  expect(mapped.data).toMatchObject({ status: 'uploaded' });
  expect(mapped.data).not.toHaveProperty('failure');
  expect(await validated(server, ids)).toMatchObject({ status: 'validated', metadata: { validRows: 1 } });

  const otherwise = await change(ids, { phoneColumns: ['Kontakt', 'Ort'] });
  expect(otherwise.data!.status).toBe('uploaded');
  const upload = await validated(server, ids);
  expect(upload).toMatchObject({ status: 'validated', format: { phoneColumn: 'Kontakt' }, metadata: { validRows: 1 } });
  expect((await confirm(server, ids)).data!.totalEntries).toBe(1);
  expect(await numbersOf(ids.id)).toEqual([['+14155550108', 'Ana']]);

  const late = await change(ids, { phoneColumns: null });
  expect([late.response.status, late.error!.code]).toEqual([409, 'invalid_state']);
});

test('the error report of a file that is read again goes with the faults that it told of, or with the list', async () => {
  const file = 'phone,b,c\n+14155550114,+14155550115,x\n12,+14155550116,y\n';
  const ids = await createWithFile(server, file);
  const url = (await validated(server, ids)).errorReportUrl!;
  const statusOf = async () => (await fetch(url)).status;
  expect(await statusOf()).toBe(200);
  expect((await change(ids, { phoneColumns: ['none'] })).data).not.toHaveProperty('errorReportUrl');
  expect(await validated(server, ids)).not.toHaveProperty('errorReportUrl');
  expect(await statusOf()).toBe(404);
  await change(ids, { phoneColumns: ['b'] });
  expect(await validated(server, ids)).not.toHaveProperty('errorReportUrl');
  expect(await statusOf()).toBe(404);

  const { id, uploadID } = await createWithFile(server, file);
  const last = await validated(server, { id, uploadID });
  await change({ id, uploadID }, { phoneColumns: ['none'] });
  await validated(server, { id, uploadID });
  await server.client.DELETE('/v1/calls/contact-lists/{id}', { params: { path: { id } } });
  await until(async () => (await fetch(last.errorReportUrl!)).status === 404);
});

test('null has columns found again, and a file that has not come yet is read as it is changed', async () => {
  const body = { name: 'Patients', defaultCountry: 'US', phoneColumn: 'nothing' };
  const { data: list } = await server.client.POST('/v1/calls/contact-lists', { body });
  const ids = { id: list!.id, uploadID: list!.uploadDetails.id };
  const waiting = await change(ids, { phoneColumns: null, timezoneColumns: ['Zone'] });
  expect(waiting.data).toMatchObject({ status: 'pending' });
  const file = 'phone,Zone,timezone\n+14155550110,Europe/Paris,America/Lima\n';
  await fetch(list!.uploadUrl, { method: 'PUT', headers: list!.uploadHeaders, body: file });
  expect(await validated(server, ids)).toMatchObject({ status: 'validated' });
  await confirm(server, ids);
  expect((await entriesOf(server, ids.id))[0]).toMatchObject({ timezone: 'Europe/Paris' });
});

test('an upload whose file could be read in two ways is read by the encoding that is said then', async () => {
  const file = new Uint8Array(Buffer.from('name;phone\nPatanè;+14155550111\n', 'latin1'));
  const ids = await createWithFile(server, file);
  const first = await validated(server, ids);
  expect(first).toMatchObject({ status: 'failed', failure: { code: 'unclear_encoding' } });
  await change(ids, { encoding: 'windows-1252' });
  expect(await validated(server, ids)).toMatchObject({ status: 'validated', format: { encodingGuessed: false } });
  await confirm(server, ids);
  expect(await numbersOf(ids.id)).toEqual([['+14155550111', 'Patanè']]);
});

test('a change twice is one, and what names no column or the phone twice is refused', async () => {
  const ids = await createWithFile(server, 'phone,b\n+14155550112,+14155550113\n');
  await validated(server, ids);
  const both = await Promise.all([change(ids, { phoneColumns: ['b'] }), change(ids, { phoneColumns: ['b'] })]);
  expect(both.map(({ response }) => response.status)).toEqual([200, 200]);
  const again = await validated(server, ids);
  expect(again).toMatchObject({ status: 'validated', format: { phoneColumn: 'b' } });
  expect((await change(ids, { phoneColumns: ['b'] })).data).toEqual(again);
  await change(ids, { nameColumns: ['c'] });
  const failure = { code: 'no_such_column', message: expect.stringContaining('No column is called "c"') };
  expect(await validated(server, ids)).toMatchObject({ status: 'failed', failure });

  const body = { name: 'Patients', phoneColumn: 'a', phoneColumns: ['b'] };
  const { error } = await server.client.POST('/v1/calls/contact-lists', { body });
  expect(error).toMatchObject({ code: 'invalid_request', details: [{ path: '/body/phoneColumn' }] });
  const nowhere = await change({ ...ids, uploadID: ids.id.replace('list', 'upl') }, { encoding: 'utf-8' });
  expect(nowhere.response.status).toBe(404);
});

const REJECTED = '/v1/calls/contact-lists/{id}/uploads/{uploadID}/rejected-rows';
const rejected = (path: Ids, query: { perPage?: number; order?: 'asc' | 'desc'; cursor?: string } = {}) =>
  server.client.GET(REJECTED, { params: { path, query } });
const rejectedRows = async (ids: Ids) => (await rejected(ids)).data!.items.map(({ row }) => row);
const mend = (ids: Ids, row: number, cells: Record<string, string>, client = server.client) =>
  client.PATCH(`${REJECTED}/{row}`, { params: { path: { ...ids, row: String(row) } }, body: { cells } });

test('rejected rows are read as pages, and mended in place before the confirm', async () => {
  const file = [
    'name,phone,dnc,timezone,city',
    'Ana,+14155550120,,,Lima',
    'Ben,12,,PST,Rome',
    'Cy,(415) 555-0120x,,,',
    'Di,"+14155550121,x',
    'Ed,+14155550122,,,Oslo,more',
  ].join('\n');
  const ids = await createWithFile(server, file);
  expect((await validated(server, ids)).metadata).toMatchObject({ validRows: 1, invalidRows: 4 });
  const first = (await rejected(ids, { perPage: 3 })).data!;
  expect(first).toMatchObject({ totalCount: 4, order: 'asc' });
  expect(first.items[0]).toEqual({
    row: 3,
    cells: ['Ben', '12', '', 'PST', 'Rome'],
    errors: [
      { column: 'phone', value: '12', code: 'invalid_phone', reason: expect.any(String) },
      { column: 'timezone', value: 'PST', code: 'invalid_timezone', reason: expect.stringContaining('America') },
    ],
  });
  const second = (await rejected(ids, { perPage: 3, cursor: first.nextCursor! })).data!;
  expect([...first.items, ...second.items].map(({ row }) => row)).toEqual([3, 4, 5, 6]);
  expect((await rejected(ids, { order: 'desc', perPage: 1 })).data!.items[0]!.row).toBe(6);

  const stale = { path: { ...ids, row: '3' }, header: { 'If-Match': '"1"' } };
  const changed = await server.client.PATCH(`${REJECTED}/{row}`, { params: stale, body: { cells: { phone: '1' } } });
  expect([changed.response.status, changed.error!.code]).toEqual([412, 'changed_meanwhile']);
  const UPLOAD = '/v1/calls/contact-lists/{id}/uploads/{uploadID}';
  const current = await server.client.GET(UPLOAD, { params: { path: ids } });
  const half = (await mend(ids, 3, { phone: '(415) 555-0123' })).data!;
  expect(half.errors.map(({ code }) => code)).toEqual(['invalid_timezone']);
  // It is another edition, though the row is still rejected: nobody mends by what it held before.
  const path = { ...ids, row: '3' };
  const before = { path, header: { 'If-Match': current.response.headers.get('ETag')! } };
  const behind = await server.client.PATCH(`${REJECTED}/{row}`, { params: before, body: { cells: { phone: '1' } } });
  expect(behind.response.status).toBe(412);
  const whole = (await mend(ids, 3, { timezone: 'Europe/Rome', city: 'Roma' })).data!;
  expect(whole).toMatchObject({ errors: [], phoneNumber: '+14155550123', mendedAt: expect.any(String) });
  expect((await mend(ids, 3, { timezone: 'Europe/Rome' })).data).toEqual(whole);
  const other = await mend(ids, 3, { city: 'Rome' });
  expect([other.response.status, other.error!.code]).toEqual([409, 'invalid_state']);

  const again = (await mend(ids, 4, { phone: '415-555-0120', dnc: 'yes' })).data!;
  expect(again.errors).toMatchObject([{ code: 'duplicate', reason: expect.stringContaining('Row 2') }]);
  const { data: key } = await server.client.POST('/v1/api-keys', {
    body: { name: 'Lists', permissions: ['contact_lists:write'] },
  });
  const weak = server.clientOf(key!.data.key);
  const forgotten = await mend(ids, 4, { dnc: '' }, weak);
  expect([forgotten.response.status, forgotten.error!.code]).toEqual([403, 'forbidden']);
  expect((await mend(ids, 4, { dnc: 'x', city: 'Rome' }, weak)).response.status).toBe(200);
  // Of a row in one piece nobody knows what it said of who may be called, and when.
  const unsaid = await mend(ids, 5, { name: 'Di', phone: '+14155550121' });
  expect(unsaid.error!.details).toMatchObject([{ path: '/body/cells/dnc' }, { path: '/body/cells/timezone' }]);
  expect((await mend(ids, 5, { name: 'Di', phone: '+14155550121', dnc: '', timezone: '' })).data).toMatchObject({
    cells: ['Di', '+14155550121', '', '', ''],
    phoneNumber: '+14155550121',
  });
  expect((await mend(ids, 6, { column_6: '', dnc: 'x' })).data).toMatchObject({ phoneNumber: '+14155550122' });
  const nowhere = await mend(ids, 4, { phone: '1', Telefon: '2' });
  expect(nowhere.error!.details).toMatchObject([{ path: '/body/cells/Telefon' }]);
  expect((await mend(ids, 4, { name: 'x'.repeat(65_536) })).response.status).toBe(400);
  expect((await mend(ids, 2, { phone: '1' })).response.status).toBe(404);

  const { data: upload } = await server.client.GET('/v1/calls/contact-lists/{id}/uploads/{uploadID}', {
    params: { path: ids },
  });
  expect(upload).toMatchObject({
    ...{ status: 'validated', errors: [4] },
    metadata: { totalRows: 5, validRows: 4, invalidRows: 1, doNotCallRows: 1 },
  });
  expect((await confirm(server, ids)).data!.totalEntries).toBe(4);
  expect(await entriesOf(server, ids.id)).toMatchObject([
    { phoneNumber: '+14155550120', doNotCall: true, variables: { city: 'Lima' } },
    { phoneNumber: '+14155550123', name: 'Ben', timezone: 'Europe/Rome', variables: { city: 'Roma' } },
    { phoneNumber: '+14155550121', name: 'Di' },
    { phoneNumber: '+14155550122', doNotCall: true },
  ]);
  expect(await rejectedRows(ids)).toEqual([4]);
  const late = await mend(ids, 4, { phone: '+14155550124' });
  expect([late.response.status, late.error!.code]).toEqual([409, 'invalid_state']);
  const day = 24 * 3600 * 1000;
  await deleteOldRejectedRows(server.database, new Date(Date.now() + 29 * day));
  expect(await rejectedRows(ids)).toEqual([4]);
  await deleteOldRejectedRows(server.database, new Date(Date.now() + 31 * day));
  expect(await rejectedRows(ids)).toEqual([]);
});

test('rows are mended once, whoever else mends, confirms or has the file read otherwise', async () => {
  const file = 'name,phone,b\nAna,+14155550130,+14155550139\nBen,12,+14155550138\nCy,13,x\n';
  const ids = await createWithFile(server, file);
  await validated(server, ids);
  const both = await Promise.all([mend(ids, 3, { phone: '+14155550131' }), mend(ids, 3, { phone: '+14155550132' })]);
  expect(both.map(({ response }) => response.status).sort()).toEqual([200, 409]);

  const anew = await change(ids, { phoneColumns: ['b'] });
  expect((await rejected(ids)).error?.code ?? anew.data!.status).toMatch(/upload_not_validated|uploaded/);
  expect(await validated(server, ids)).toMatchObject({ metadata: { validRows: 2, invalidRows: 1 } });
  expect(await rejectedRows(ids)).toEqual([4]);

  // The confirm begins while the row is mended, and counts it.
  const lock = ({ db }: EngineTx) => sql`select from contact_lists where id = ${fromId(ids.id)} for update`.execute(db);
  const [mended, confirmed] = await meanwhile(server.database, lock, () =>
    Promise.all([mend(ids, 4, { b: '+14155550137' }), confirm(server, ids)]),
  );
  expect(confirmed.data!.totalEntries).toBe((await entriesOf(server, ids.id)).length);
  expect([200, 409]).toContain(mended.response.status);
  expect(confirmed.data!.totalEntries).toBe(mended.response.status === 200 ? 3 : 2);

  const draft = { name: 'Patients', defaultCountry: 'US' };
  const { data: list } = await server.client.POST('/v1/calls/contact-lists', { body: draft });
  const waiting = { id: list!.id, uploadID: list!.uploadDetails.id };
  expect((await rejected(waiting)).error!.code).toBe('upload_not_validated');
  expect((await mend(waiting, 2, { phone: '1' })).error!.code).toBe('upload_not_validated');
  expect((await rejected({ ...ids, id: list!.id })).response.status).toBe(404);
});

test('of many rejected rows the first 1,000 are kept, and of a deleted list none', async () => {
  const ids = await createWithFile(server, `phone\n+14155550140\n${'12\n'.repeat(1100)}`);
  expect((await validated(server, ids)).metadata).toMatchObject({ invalidRows: 1100 });
  expect((await rejected(ids, { order: 'desc', perPage: 1 })).data).toMatchObject({
    totalCount: 1000,
    items: [{ row: 1002 }],
  });
  await server.client.DELETE('/v1/calls/contact-lists/{id}', { params: { path: { id: ids.id } } });
  const count = ({ db }: EngineTx) =>
    sql`select from rejected_rows where upload_id = ${fromId(ids.uploadID)}`.execute(db);
  await until(async () => (await server.database.inEngine(count)).rows.length === 0);
});
