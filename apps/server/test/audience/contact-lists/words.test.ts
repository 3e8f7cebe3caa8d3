import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestServer, type TestServer } from '../../server.ts';
import { addFile, confirm, createWithFile, entriesOf, type Ids, importFile, validated } from './contact-files.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const preview = async (path: Ids) =>
  (await server.client.GET('/v1/calls/contact-lists/{id}/uploads/{uploadID}/preview', { params: { path } })).data!;
const add = (id: string, entries: object[]) =>
  server.client.POST('/v1/calls/contact-lists/{id}/entries', {
    params: { path: { id } },
    body: { entries: entries as { phoneNumber: string }[] },
  });
const change = (id: string, phoneNumber: string, body: object, client = server.client) =>
  client.PATCH('/v1/calls/contact-lists/{id}/entries/{phoneNumber}', { params: { path: { id, phoneNumber } }, body });
const remove = (id: string, phoneNumber: string, client = server.client) =>
  client.DELETE('/v1/calls/contact-lists/{id}/entries/{phoneNumber}', { params: { path: { id, phoneNumber } } });
/** What a list says of each: the last digits, the word, and whether there is a consent. */
const wordsOf = async (id: string) =>
  (await entriesOf(server, id)).map(({ phoneNumber, doNotCall, consent }) => [
    phoneNumber.slice(-2),
    doNotCall ?? false,
    consent?.given,
  ]);

const FILE = `phone,Do Not Call,consent,consent_source,city
4155550101,yes,no,,Rome
4155550102,,yes,Web form,Bonn
4155550103,no,,,Nice
4155550103,x,,,Nice
4155550102,,withdrawn,,Bonn
`;

test('a file says who is not to be called and who has agreed; the preview tells how many and which, and one no holds', async () => {
  const ids = await createWithFile(server, FILE);
  const upload = await validated(server, ids);
  expect(upload.metadata).toMatchObject({ validRows: 3, duplicateRows: 2, doNotCallRows: 2, consentRows: 1 });
  const { columns, rows, doNotCall } = await preview(ids);
  expect(columns.map(({ use }) => use)).toEqual(['phone', 'do_not_call', 'consent', 'consent_source', 'variable']);
  expect(rows[0]!.contact).toMatchObject({ doNotCall: true, consent: { given: false }, variables: { city: 'Rome' } });
  expect(doNotCall).toEqual({ count: 2, rows: [2, 5] });
  await confirm(server, ids);
  expect(await wordsOf(ids.id)).toEqual([
    ['01', true, false],
    ['02', false, false],
    ['03', true, undefined],
  ]);
});

test('a file whose column is named, and one that names none of the file', async () => {
  const file = 'phone,Unsubscribed,Gesperrt\n4155550101,yes,no\n4155550102,no,ja\n';
  const { id } = await importFile(server, file, { doNotCallColumns: ['Gesperrt'] });
  expect(await wordsOf(id)).toEqual([
    ['01', false, undefined],
    ['02', true, undefined],
  ]);
  const none = await createWithFile(server, file, { doNotCallColumns: ['Sperre'] });
  expect((await validated(server, none)).failure).toMatchObject({ code: 'no_do_not_call_column' });
  expect(await preview(none)).toMatchObject({ failure: { code: 'no_do_not_call_column' } });
});

test('a later file adds the word to who is there, and takes none away; a consent is the newest', async () => {
  const { id } = await importFile(server, 'phone,dnc,consent\n4155550101,yes,yes\n4155550102,,no\n');
  const more = await addFile(server, id, 'phone,dnc,consent\n4155550101,no,no\n4155550102,yes,yes\n4155550103,,\n');
  await validated(server, more);
  await confirm(server, more);
  expect(await wordsOf(id)).toEqual([
    ['01', true, false],
    ['02', true, true],
    ['03', false, undefined],
  ]);
});

test('entries say it as JSON, by their fields and by their variables', async () => {
  const { id } = await importFile(server, 'phone\n4155550101\n');
  const consent = { given: true, source: 'Web form', time: '2026-03-01', purpose: 'Reminders' };
  const { data } = await add(id, [
    { phoneNumber: '+1 (415) 555-0101', variables: { DoNotCall: 'true', city: 'Rome' } },
    { phoneNumber: 'tel:+14155550102', consent },
    { phoneNumber: '415 555 0102', consent: { given: false } },
    { phoneNumber: '415 555 0103', doNotCall: false, variables: { Unsubscribed: 'x', consent: 'yes' } },
    { phoneNumber: '415 555 0104', doNotCall: 'no' },
    { phoneNumber: '415 555 0105', consent: 'yes' },
    { phoneNumber: '415 555 0106', consent: { given: true, by: 'me' } },
    { phoneNumber: '415 555 0107', consent: { given: true, source: 7 } },
    { phoneNumber: '415 555 0108', doNotCall: true, timezone: 'PST' },
    { phoneNumber: '415 555 0109', consent },
  ]);
  expect(data).toMatchObject({ added: 4, updated: 1 });
  expect(data!.rejected.map(({ index, code }) => [index, code])).toEqual([
    [2, 'duplicate'],
    ...[4, 5, 6, 7].map((index) => [index, 'invalid_entry']),
  ]);
  expect(await wordsOf(id)).toEqual([
    ['01', true, undefined],
    ['02', false, false],
    ['03', true, true],
    ['08', true, undefined],
    ['09', false, true],
  ]);
  const entries = await entriesOf(server, id);
  expect(entries[0]!.variables).toEqual({ city: 'Rome' });
  expect(entries[4]!.consent).toEqual(consent);
});

test('a word that comes to a list has claimed calls looked at again before they are placed', async () => {
  const revision = async () => {
    const { rows } = await server.database.inEngine(({ db }) =>
      sql<{ sum: number }>`select sum(do_not_call_revision)::bigint as sum from workspaces`.execute(db),
    );
    return rows[0]!.sum;
  };
  const { id } = await importFile(server, 'phone\n4155550101\n4155550102\n');
  const before = await revision();
  await change(id, '+14155550101', { name: 'Ana' });
  expect(await revision()).toBe(before);
  await change(id, '+14155550101', { doNotCall: true });
  expect(await revision()).toBe(before + 1);
  await add(id, [{ phoneNumber: '+14155550102', doNotCall: true }]);
  expect(await revision()).toBe(before + 2);
});

test('a change gives the word and takes it back, the latter only with do_not_call:write; so does who takes them off', async () => {
  const { id } = await importFile(server, 'phone,dnc\n4155550101,yes\n4155550102,yes\n4155550103,\n');
  const { data: key } = await server.client.POST('/v1/api-keys', {
    body: { name: 'Lists', permissions: ['contact_lists:write'] },
  });
  const limited = server.clientOf(key!.data.key);
  expect((await change(id, '415-555-0101', { doNotCall: false }, limited)).response.status).toBe(403);
  expect((await remove(id, '(415) 555-0102', limited)).response.status).toBe(403);
  expect((await change(id, '+14155550103', { variables: { DNC: 'ja' } }, limited)).data).toMatchObject({
    doNotCall: true,
    variables: {},
  });
  expect((await change(id, '(415) 555-0101', { doNotCall: false })).data).not.toHaveProperty('doNotCall');
  const consent = { given: true, source: 'Call' };
  expect((await change(id, 'tel:+14155550101', { consent })).data).toMatchObject({ consent });
  expect((await change(id, '+14155550101', { consent: null })).data).not.toHaveProperty('consent');
  expect((await remove(id, '+1 415 555 0102')).data).toEqual({ id: '+14155550102', deleted: true });
  expect(await wordsOf(id)).toEqual([
    ['01', false, undefined],
    ['03', true, undefined],
  ]);
  const { response, error } = await change(id, '12', {});
  expect(response.status).toBe(400);
  expect(error).toMatchObject({ code: 'invalid_request', details: [{ path: '/path/phoneNumber' }] });
});
