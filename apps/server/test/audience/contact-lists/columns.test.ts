import type { components } from '@trunkline/client/schema';
import { afterAll, beforeAll, expect, test } from 'vitest';
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
