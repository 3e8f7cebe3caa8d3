import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readDoNotCallUploads } from '../../../src/platform/do-not-call/do-not-call-numbers.ts';
import { addOptOut } from '../../../src/platform/do-not-call/store.ts';
import { type NumberServer, startNumberServer } from '../../lines/phone-numbers/number-server.ts';
import { seedUploadedList } from '../../seed/list.ts';
import { type Given, seedRows } from '../../seed/rows.ts';

let server: NumberServer;
let workspaceId: string;

beforeAll(async () => {
  server = await startNumberServer();
  const { rows } = await server.deps.database.inEngine((tx) =>
    sql<{ id: string }>`select id from workspaces`.execute(tx.db),
  );
  workspaceId = rows[0]!.id;
});
afterAll(() => server.stop());

const path = '/v1/calls/do-not-call';
const add = (phoneNumbers: string[], reason?: string) =>
  server.client.POST(path, { body: { phoneNumbers, ...(reason && { reason }) } });
const list = async (query: object = {}, client = server.client) =>
  (await client.GET(path, { params: { query: { includeTotal: true, ...query } } })).data!;
const remove = (phoneNumber: string, client = server.client) =>
  client.DELETE(`${path}/{phoneNumber}`, { params: { path: { phoneNumber } } });

/** A list of type dnd with one number, in a given state. */
const dndList = (
  number: number,
  state: {
    list?: Given<'contact_lists'>['status'];
    upload?: Given<'contact_list_uploads'>['status'];
    type?: 'contacts' | 'dnd';
    at: string;
  },
) => {
  const at = new Date(state.at);
  const stamps = { created_at: at, updated_at: at };
  return seedUploadedList(server.deps.database, workspaceId, [{ phone_number: number }], {
    list: { type: state.type ?? 'dnd', status: state.list ?? 'ready', ...stamps },
    upload: { status: state.upload ?? 'processed', processed_at: at, ...stamps },
  });
};

test('numbers are added once and keep their first reason', async () => {
  const first = await add(['+14155550142', '+14155550143', '+14155550142'], 'Asked');
  expect(first.response.status).toBe(200);
  expect(first.data).toEqual({ added: 2, alreadyListed: 0, rejected: [] });
  server.clock.advance(1000);
  expect((await add(['+14155550143', '+14155550144'], 'Again')).data).toEqual({
    added: 1,
    alreadyListed: 1,
    rejected: [],
  });
  const page = await list();
  expect(page.items.map(({ phoneNumber, reason, source }) => [phoneNumber, reason, source])).toEqual([
    ['+14155550144', 'Again', 'opt_out'],
    ['+14155550143', 'Asked', 'opt_out'],
    ['+14155550142', 'Asked', 'opt_out'],
  ]);
  expect(page).toMatchObject({ page: 1, perPage: 20, totalCount: 3, column: 'created_at', order: 'desc' });
  const { rows } = await server.deps.database.inEngine((tx) =>
    sql`select action, resource_id from audit_log where resource_type = 'do_not_call' order by resource_id`.execute(
      tx.db,
    ),
  );
  expect(rows).toEqual(
    ['+14155550142', '+14155550143', '+14155550144'].map((resource_id) => ({
      action: 'do_not_call.added',
      resource_id,
    })),
  );
});

test('a thousand numbers are added by many requests at once, each counted once', async () => {
  const numbers = Array.from({ length: 1000 }, (_, index) => `+4930${String(1_000_000 + index)}`);
  const answers = await Promise.all([numbers, numbers.toReversed(), numbers].map((each) => add(each)));
  expect(answers.map(({ response }) => response.status)).toEqual([200, 200, 200]);
  expect(answers.reduce((sum, { data }) => sum + data!.added, 0)).toBe(1000);
  expect((await list({ searchText: '+49301' })).totalCount).toBe(1000);
  await server.deps.database.inWorkspace(workspaceId, (tx) =>
    sql`delete from do_not_call where workspace_id = ${workspaceId} and phone_number between 49300000000 and 49400000000`.execute(
      tx.db,
    ),
  );
});

test('pages, order and search, taken literally', async () => {
  const pages = [await list({ perPage: 2, order: 'asc' }), await list({ perPage: 2, page: 2, order: 'asc' })];
  expect(pages.flatMap(({ items }) => items.map(({ phoneNumber }) => phoneNumber))).toEqual([
    '+14155550142',
    '+14155550143',
    '+14155550144',
  ]);
  expect(await list({ searchText: '0143' })).toMatchObject({
    totalCount: 1,
    searchText: '0143',
    items: [{ phoneNumber: '+14155550143' }],
  });
  for (const searchText of ['%', '_', '\\', '0_43', 'asked'])
    expect((await list({ searchText })).totalCount, searchText).toBe(0);
  expect((await list({ searchText: '+1415' })).totalCount).toBe(3);
  expect((await list({ page: 1000 })).items).toEqual([]);
});

test('entries of ready dnd lists stand beside the opt-outs, and only theirs', async () => {
  const ready = await dndList(14155550142, { at: '2020-01-01T00:00:00Z' });
  await dndList(14155550151, { at: '2021-01-01T00:00:00Z', list: 'draft' });
  await dndList(14155550152, { at: '2021-01-01T00:00:00Z', list: 'archived' });
  await dndList(14155550153, { at: '2021-01-01T00:00:00Z', upload: 'processing' });
  await dndList(14155550154, { at: '2021-01-01T00:00:00Z', type: 'contacts' });
  const page = await list();
  expect(page.totalCount).toBe(4);
  expect(page.items.at(-1)).toEqual({
    phoneNumber: '+14155550142',
    source: 'list',
    contactListId: `list_${ready.listId.replaceAll('-', '')}`,
    createdAt: '2020-01-01T00:00:00.000Z',
  });
  const uploads = await server.deps.database.inWorkspace(workspaceId, (tx) => readDoNotCallUploads(tx));
  expect(uploads).toEqual({ all: [ready.uploadId], some: [] });
});

test('pages over several lists and the opt-outs hold everything once, in one order', async () => {
  const time = '2019-05-05T00:00:00Z';
  const lists = [await dndList(14155550171, { at: time }), await dndList(14155550171, { at: time })];
  lists.push(await dndList(14155550172, { at: '2024-01-01T00:00:00Z' }));
  for (const { uploadId } of lists) {
    const entry = { workspace_id: workspaceId, upload_id: uploadId };
    const more = [1, 2, 3, 4, 5].map((i) => ({ ...entry, phone_number: 14155550180 + i, row_number: i }));
    await seedRows(server.deps.database, 'contact_list_entries', more);
  }
  for (const order of ['asc', 'desc'] as const) {
    const whole = (await list({ order, perPage: 100 })).items;
    expect(whole).toHaveLength(4 + 3 * 6);
    const sign = order === 'asc' ? 1 : -1;
    const sorted = whole.toSorted(
      (a, b) => sign * (a.createdAt.localeCompare(b.createdAt) || a.phoneNumber.localeCompare(b.phoneNumber)),
    );
    expect(whole.map(({ createdAt, phoneNumber }) => [createdAt, phoneNumber])).toEqual(
      sorted.map(({ createdAt, phoneNumber }) => [createdAt, phoneNumber]),
    );
    const pages = [];
    for (let page = 1; page <= 8; page += 1) pages.push(...(await list({ order, perPage: 3, page })).items);
    expect(pages).toEqual(whole);
  }
  await server.deps.database.inWorkspace(workspaceId, (tx) =>
    sql`update contact_lists set status = 'archived' where id = any(${lists.map(({ listId }) => listId)}::uuid[])`.execute(
      tx.db,
    ),
  );
});

test('an opt-out is taken back; a number that only a list holds is 404', async () => {
  expect((await remove('+14155550142')).data).toEqual({ id: '+14155550142', deleted: true });
  const again = await remove('+14155550142');
  expect([again.response.status, again.error?.code]).toEqual([404, 'not_found']);
  expect((await list()).items.filter(({ phoneNumber }) => phoneNumber === '+14155550142')).toMatchObject([
    { source: 'list' },
  ]);
  const raw = await fetch(`${server.url}${path}/+14155550143`, {
    method: 'DELETE',
    headers: { 'X-API-Key': server.apiKey },
  });
  expect(raw.status).toBe(200);
});

test('an opt-out of a call adds to the same list', async () => {
  await server.deps.database.inWorkspace(workspaceId, (tx) =>
    addOptOut(tx, 14155550160, undefined, server.clock.now()),
  );
  const { items } = await list({ searchText: '0160' });
  expect(items).toHaveLength(1);
  expect(items[0]).not.toHaveProperty('reason');
});

test('numbers are read as people write them, with a country where they need one', async () => {
  const body = { phoneNumbers: ['+1 (650) 555-0102', 'tel:+16505550103', '(650) 555-0104'], defaultCountry: 'US' };
  expect((await server.client.POST(path, { body })).data).toEqual({ added: 3, alreadyListed: 0, rejected: [] });
  for (const number of ['+16505550102', '+16505550103', '+16505550104'])
    expect((await remove(number)).response.status).toBe(200);
});

test('entries of a list of type dnd have calls looked at again before they are placed, and others do not', async () => {
  const { client, deps } = server;
  const revision = async () =>
    (
      await deps.database.inEngine(({ db }) =>
        sql<{ revision: number }>`
      select do_not_call_revision as revision from workspaces where id = ${workspaceId}`.execute(db),
      )
    ).rows[0]!.revision;
  const grows = async (type: 'contacts' | 'dnd') => {
    const made = await client.POST('/v1/calls/contact-lists', { body: { name: type, fileName: 'a.csv', type } });
    const before = await revision();
    const entries = [{ phoneNumber: '+14155550160' }];
    const { id } = made.data!;
    await client.POST('/v1/calls/contact-lists/{id}/entries', { params: { path: { id } }, body: { entries } });
    const grown = (await revision()) - before;
    await client.DELETE('/v1/calls/contact-lists/{id}', { params: { path: { id } } });
    return grown;
  };
  expect([await grows('contacts'), await grows('dnd')]).toEqual([0, 1]);
});

test('what is no number is told, and keeps no other from being added', async () => {
  const sent = ['(415) 555-0142', '+14155550147', null, 7, '+1', '😀'.repeat(65), '+14155550147'] as string[];
  const { data } = await add(sent);
  expect({
    ...data,
    rejected: data!.rejected.map(({ index, phoneNumber, code }) => [index, phoneNumber, code]),
  }).toEqual({
    added: 1,
    alreadyListed: 0,
    rejected: [
      [0, '(415) 555-0142', 'default_country_needed'],
      [2, 'null', 'invalid_entry'],
      [3, '7', 'invalid_entry'],
      [4, '+1', 'invalid_phone'],
      [5, '😀'.repeat(64), 'invalid_phone'],
    ],
  });
  expect(data!.rejected[0]!.error).toBe(
    'A number without + and country code can be read only with a defaultCountry, such as US.',
  );
  expect((await remove('+14155550147')).response.status).toBe(200);
  const { response, error } = await add(['x', '']);
  expect([response.status, error?.code]).toEqual([400, 'invalid_request']);
  expect(error?.error).toBe('No number was added. x: This is not a phone number.');
});

test('what is not a request is refused: 400, 401, 403, 413, 415', async () => {
  const bad = [await add([]), await add('+14155550142' as never), await add(Array(1001).fill('+14155550142'))];
  for (const { response, error } of bad) expect([response.status, error?.code]).toEqual([400, 'invalid_request']);
  expect((await server.client.GET(path, { params: { query: { perPage: 101 } } })).response.status).toBe(400);
  expect((await remove('14155550142')).response.status).toBe(400);
  const stranger = server.clientOf('tl_test_0123456789012345678901234567890123456789012');
  const reader = await server.clientWith(['do_not_call:read']);
  const writer = await server.clientWith(['do_not_call:write']);
  expect((await stranger.GET(path)).response.status).toBe(401);
  expect((await stranger.POST(path, { body: { phoneNumbers: ['+14155550142'] } })).response.status).toBe(401);
  expect((await remove('+14155550142', stranger)).response.status).toBe(401);
  expect((await writer.GET(path)).response.status).toBe(403);
  expect((await reader.POST(path, { body: { phoneNumbers: ['+14155550142'] } })).response.status).toBe(403);
  expect((await remove('+14155550142', reader)).response.status).toBe(403);
  const post = (body: string, type: string) =>
    fetch(server.url + path, { method: 'POST', headers: { 'X-API-Key': server.apiKey, 'Content-Type': type }, body });
  expect((await post('{}', 'text/plain')).status).toBe(415);
  expect((await post(JSON.stringify({ reason: 'x'.repeat(3_000_000) }), 'application/json')).status).toBe(413);
});

test('another workspace sees nothing of it', async () => {
  const other = await server.clientWith(['*'], 'Other');
  expect(await list({}, other)).toMatchObject({ items: [], totalCount: 0 });
  expect((await remove('+14155550144', other)).response.status).toBe(404);
  expect((await other.POST(path, { body: { phoneNumbers: ['+14155550144'] } })).data).toEqual({
    added: 1,
    alreadyListed: 0,
    rejected: [],
  });
  expect((await list({ searchText: '0144' })).totalCount).toBe(1);
});
