import { afterAll, beforeAll, expect, test } from 'vitest';
import { fromId } from '../../../src/foundation/values/ids.ts';
import { newKey } from '../../../src/platform/api-keys/key.ts';
import { keyWith } from '../../platform/api-keys/keys.ts';
import { startTestServer, type TestServer, withoutRequestId } from '../../server.ts';
import {
  addFile,
  confirm,
  createWithFile,
  entriesOf,
  importFile,
  lastEventId,
  openEvents,
  statusesOf,
  validated,
} from './contact-files.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const unknown = { id: 'list_01932f3c8a7e7bd0a1b2c3d4e5f60718', uploadID: 'upl_01932f3c8a7e7bd0a1b2c3d4e5f60720' };
const file = 'phone_number,name,timezone,city\n+14155550101,Ana Ruiz,America/New_York,Lima\n+14155550102,,,Oslo\n';

test('from a new list to its entries', async () => {
  const created = await server.client.POST('/v1/calls/contact-lists', { body: { name: 'Spring', fileName: 'a.csv' } });
  expect(created.response.status).toBe(201);
  const list = created.data!;
  expect(list).toMatchObject({ status: 'draft', type: 'contacts', totalEntries: 0, name: 'Spring' });
  expect(list.uploadDetails).toMatchObject({ status: 'pending', fileName: 'a.csv', storageKey: list.storageKey });
  expect(list.uploadDetails).not.toHaveProperty('metadata');
  const ids = { id: list.id, uploadID: list.uploadDetails.id };

  const stream = openEvents(server, ids);
  const stored = await fetch(list.uploadUrl, { method: 'PUT', headers: list.uploadHeaders, body: file });
  expect(stored.status).toBe(200);
  const frames = await statusesOf(await stream);
  const events = frames.map((frame) => frame.event);
  expect(events).toEqual(['upload.pending', 'upload.uploaded', 'upload.validating', 'upload.validated']);
  expect(frames.map((frame) => frame.id).slice(0, 3)).toEqual(['1', '2', '3']);
  expect(frames.every((frame) => frame.data.eventId === frame.id && frame.data.eventType === frame.event)).toBe(true);
  const upload = frames.at(-1)!.data.data;
  expect(upload.metadata).toEqual({ totalRows: 2, validRows: 2, invalidRows: 0, duplicateRows: 0 });
  expect(upload.errors).toEqual([]);
  expect(await entriesOf(server, list.id)).toEqual([]);

  const imported = await confirm(server, ids);
  expect(imported.response.status).toBe(200);
  expect(imported.data).toMatchObject({ status: 'ready', totalEntries: 2 });
  expect(imported.data).not.toHaveProperty('uploadUrl');
  expect(imported.data!.uploadDetails).toMatchObject({ status: 'processed', metadata: { importedRows: 2 } });
  expect(await entriesOf(server, list.id)).toEqual([
    {
      phoneNumber: '+14155550101',
      name: 'Ana Ruiz',
      timezone: 'America/New_York',
      timezoneSource: 'column',
      timezones: ['America/New_York'],
      variables: { city: 'Lima' },
      createdAt: imported.data!.uploadDetails!.processedAt,
    },
    {
      phoneNumber: '+14155550102',
      timezone: 'America/Los_Angeles',
      timezoneSource: 'number',
      timezones: ['America/Los_Angeles'],
      variables: { city: 'Oslo' },
      createdAt: expect.any(String),
    },
  ]);

  const again = await statusesOf(await openEvents(server, ids, frames.at(-1)!.id));
  expect(again.map((frame) => frame.event)).toEqual(['upload.processing', 'upload.processed']);
  expect((await openEvents(server, ids, again.at(-1)!.id)).status).toBe(204);
});

test('a later file without time zones leaves a person the own one', async () => {
  const { list } = await importFile(server, 'phone,timezone\n+493012345678,Asia/Tokyo\n+16055550123,\n');
  const ids = await addFile(server, list.id, 'phone\n+493012345678\n');
  await validated(server, ids);
  await confirm(server, ids);
  const zones = (await entriesOf(server, list.id)).map(({ timezone, timezoneSource }) => [timezone, timezoneSource]);
  expect(zones).toEqual([
    ['Asia/Tokyo', 'column'],
    [undefined, 'number'],
  ]);
});

test('a stream starts with the current state where the last event is missing or not known', async () => {
  const ids = await importFile(server, file);
  const all = await statusesOf(await openEvents(server, ids, '1'));
  expect(all.map((frame) => frame.event.slice(7))).toEqual([
    'uploaded',
    'validating',
    'validated',
    'processing',
    'processed',
  ]);
  for (const last of [undefined, '999', '0', 'x']) {
    const frames = await statusesOf(await openEvents(server, ids, last));
    expect(frames.map((frame) => [frame.id, frame.event])).toEqual([[all.at(-1)!.id, 'upload.processed']]);
  }
});

test('a stream that names the validation waits for the confirm', async () => {
  const ids = await createWithFile(server, file);
  const waiting = openEvents(server, ids, await lastEventId(server, ids)).then(statusesOf);
  await confirm(server, ids);
  expect((await waiting).map((frame) => frame.event)).toEqual(['upload.processing', 'upload.processed']);
});

test('a stream ends also where it has read the row before the last event, and the event already', async () => {
  const ids = await importFile(server, file);
  const last = Number(await lastEventId(server, ids));
  const setRow = (status: 'processing' | 'processed', revision: number) =>
    server.database.inEngine((tx) =>
      tx.db
        .updateTable('contact_list_uploads')
        .set({ status, revision })
        .where('id', '=', fromId(ids.uploadID))
        .execute(),
    );
  await setRow('processing', last - 1);
  const stream = await openEvents(server, ids, String(last - 2));
  const reader = stream.clone().body!.getReader();
  await reader.read();
  await setRow('processed', last);
  expect((await statusesOf(stream)).map((frame) => frame.event)).toEqual(['upload.processing', 'upload.processed']);
});

test('lists, uploads and entries by page, order and text', async () => {
  const first = await importFile(server, file, { name: 'Page one 50%', fileName: 'north_1.csv' });
  const second = await addFile(server, first.id, 'phone\n+14155550199\n');
  await importFile(server, file, { name: 'Page two 500' });
  const GET = server.client.GET;

  const lists = await GET('/v1/calls/contact-lists', { params: { query: { searchText: 'PAGE', order: 'asc' } } });
  expect(lists.data!.items.map((list) => list.name)).toEqual(['Page one 50%', 'Page two 500']);
  expect(lists.data).toMatchObject({ page: 1, perPage: 20, totalCount: 2, column: 'created_at', searchText: 'PAGE' });
  expect(lists.data!.items[0]!.uploadDetails!.id).toBe(second.uploadID);
  const literal = await GET('/v1/calls/contact-lists', { params: { query: { searchText: '50%' } } });
  expect(literal.data!.totalCount).toBe(1);

  const path = { id: first.id };
  const uploads = await GET('/v1/calls/contact-lists/{id}/uploads', { params: { path, query: { perPage: 1 } } });
  expect(uploads.data).toMatchObject({ totalCount: 2, items: [{ id: second.uploadID }] });
  const rest = await GET('/v1/calls/contact-lists/{id}/uploads', { params: { path, query: { searchText: 'h_1' } } });
  expect(rest.data!.items.map((upload) => upload.id)).toEqual([first.uploadID]);

  const read = (query: object) =>
    GET('/v1/calls/contact-lists/{id}/entries', { params: { path, query: { includeTotal: true, ...query } } });
  expect((await read({ perPage: 1, page: 2 })).data).toMatchObject({ totalCount: 2, items: [{ name: 'Ana Ruiz' }] });
  expect((await read({ searchText: 'ana r' })).data).toMatchObject({ totalCount: 1, items: [{ name: 'Ana Ruiz' }] });
  expect((await read({ searchText: '0102' })).data!.items.map((entry) => entry.phoneNumber)).toEqual(['+14155550102']);
  expect((await read({ searchText: '+1415' })).data!.totalCount).toBe(2);
  expect((await read({ searchText: '_na' })).data!.totalCount).toBe(0);
  expect((await read({ perPage: 101 })).response.status).toBe(400);

  expect((await GET('/v1/calls/contact-lists/{id}', { params: { path } })).data!.uploadDetails!.id).toBe(
    second.uploadID,
  );
});

test('what this workspace does not have is 404, the same for what another workspace has', async () => {
  const foreign = await keyWith(server, { permissions: ['*'], workspace: 'Another' });
  const ids = await importFile(server, file);
  const asked = async (path: string, method: string, key: string) => {
    const headers = { 'X-API-Key': key, ...(method === 'POST' && { 'Content-Type': 'application/json' }) };
    const body = path.endsWith('/uploads') && method === 'POST' ? '{"fileName":"a.csv"}' : null;
    const response = await fetch(`${server.url}/v1/calls/contact-lists/${path}`, { method, headers, body });
    return `${response.status} ${withoutRequestId(await response.text())}`;
  };
  const operations = (id: string, uploadID: string): [string, string][] => [
    [id, 'GET'],
    [id, 'DELETE'],
    [`${id}/entries`, 'GET'],
    [`${id}/uploads`, 'GET'],
    [`${id}/uploads`, 'POST'],
    [`${id}/uploads/${uploadID}`, 'GET'],
    [`${id}/uploads/${uploadID}/events`, 'GET'],
    [`${id}/uploads/${uploadID}/confirm`, 'POST'],
  ];
  const never = operations(unknown.id, unknown.uploadID);
  for (const [at, [path, method]] of operations(ids.id, ids.uploadID).entries()) {
    const answer = await asked(path, method, foreign);
    expect(answer).toMatch(/^404 .*not_found/);
    expect(await asked(never[at]![0], method, server.apiKey)).toBe(answer);
  }
  const other = await importFile(server, file);
  expect(await asked(`${other.id}/uploads/${ids.uploadID}`, 'GET', server.apiKey)).toMatch(/^404/);
});

test('wrong input is 400, a missing key 401, a missing permission 403', async () => {
  const reader = await keyWith(server, { permissions: ['contact_lists:read'] });
  const send = (body: unknown, key: string | undefined) =>
    fetch(`${server.url}/v1/calls/contact-lists`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...(key && { 'X-API-Key': key }) },
      body: JSON.stringify(body),
    });
  const right = { name: 'A', fileName: 'a.csv' };
  for (const wrong of [
    {},
    { fileName: 'a.csv' },
    { ...right, type: 'batch' },
    { ...right, defaultCountry: 'usa' },
    { ...right, x: 1 },
  ]) {
    expect((await send(wrong, server.apiKey)).status).toBe(400);
  }
  expect((await send(right, undefined)).status).toBe(401);
  expect((await send(right, newKey('test'))).status).toBe(401);
  expect((await send(right, reader)).status).toBe(403);
  const read = await server.client.GET('/v1/calls/contact-lists/{id}', { params: { path: { id: 'upl_1' } } });
  expect(read.response.status).toBe(400);
});

test('changes are in the audit log', async () => {
  const ids = await importFile(server, file);
  await server.client.DELETE('/v1/calls/contact-lists/{id}', { params: { path: { id: ids.id } } });
  const entries = await server.database.inEngine((tx) =>
    tx.db.selectFrom('audit_log').select(['action', 'resource_id', 'resource_type', 'address']).orderBy('id').execute(),
  );
  expect(entries.filter((entry) => [ids.id, ids.uploadID].includes(entry.resource_id))).toEqual([
    { action: 'contact_list.created', resource_id: ids.id, resource_type: 'contact_list', address: '127.0.0.1' },
    { action: 'upload.confirmed', resource_id: ids.uploadID, resource_type: 'upload', address: '127.0.0.1' },
    { action: 'contact_list.deleted', resource_id: ids.id, resource_type: 'contact_list', address: '127.0.0.1' },
  ]);
});
