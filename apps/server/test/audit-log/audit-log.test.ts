import { afterAll, beforeAll, expect, test } from 'vitest';
import { keyWith } from '../platform/api-keys/keys.ts';
import { startTestServer, type TestServer } from '../server.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startTestServer({ config: { trustProxy: true } });
});
afterAll(() => server.stop());

const path = '/v1/audit-log';
const list = async (query: object = {}, client = server.client) =>
  (await client.GET(path, { params: { query: { includeTotal: true, ...query } } })).data!.data;
const optOut = (phoneNumbers: string[], client = server.client) =>
  client.POST('/v1/calls/do-not-call', { body: { phoneNumbers } });
const resources = async (query: object) => (await list(query)).items.map(({ resourceId }) => resourceId);
const ofKey = async (permissions: string[], workspace?: string) =>
  server.clientOf(await keyWith(server, { permissions, ...(workspace && { workspace }) }));

test('the log is a page, newest first', async () => {
  for (const number of ['+14155550101', '+14155550102', '+14155550103']) {
    await optOut([number]);
    server.clock.advance(1000);
  }
  const { items, ...page } = await list({ perPage: 2 });
  const nextCursor = expect.any(String);
  const asked = { column: 'created_at', order: 'desc', searchText: '' };
  expect(page).toEqual({ page: 1, perPage: 2, totalCount: 3, nextCursor, ...asked });
  expect(items.map(({ resourceId }) => resourceId)).toEqual(['+14155550103', '+14155550102']);
  expect(await resources({ perPage: 2, page: 2 })).toEqual(['+14155550101']);
  expect(await resources({ order: 'asc', perPage: 1 })).toEqual(['+14155550101']);
  expect(await list({ page: 9 })).toMatchObject({ items: [], totalCount: 3 });
});

test('a request that changes many leaves an entry for each, and pages hold each once', async () => {
  const numbers = Array.from({ length: 100 }, (_, index) => `+1415555${2000 + index}`);
  const requestId = (await optOut(numbers)).response.headers.get('X-Request-Id')!;
  const pages = await Promise.all(
    [1, 2, 3, 4, 5].map((page) => resources({ searchText: requestId, perPage: 20, page })),
  );
  expect(pages.flat().sort()).toEqual(numbers);
});

test('a search looks in action, resource, name of the key and request, whatever the case, literally', async () => {
  const crm = await server.client.POST('/v1/api-keys', {
    body: { name: 'CRM_50%', permissions: ['workspace:write', 'api_keys:write'] },
  });
  const { key, id } = crm.data!.data;
  const answer = await server.clientOf(key).PATCH('/v1/workspace', { body: { name: 'Clinic' } });
  const workspaceId = answer.data!.data.id;
  const requestId = answer.response.headers.get('X-Request-Id')!;
  for (const searchText of ['space.UPDATED', workspaceId, 'crm_50%', requestId.toUpperCase(), requestId.slice(3, 30)]) {
    const found = await list({ searchText });
    expect(found.items.map(({ action }) => [searchText, action])).toEqual([[searchText, 'workspace.updated']]);
    expect(found).toMatchObject({ searchText, totalCount: 1 });
  }
  expect((await list({ searchText: 'API_KEY' })).items).toMatchObject([{ action: 'api_key.created', resourceId: id }]);
  for (const searchText of ['crm%', 'crmx50%', key.slice(12), '%'.repeat(3)])
    expect([searchText, (await list({ searchText })).totalCount]).toEqual([searchText, 0]);
});

test('filters keep a key, an action, a resource and a time, also together', async () => {
  const crm = await server.client.POST('/v1/api-keys', { body: { name: 'Filtered', permissions: ['*'] } });
  const { key, id: apiKeyId } = crm.data!.data;
  const client = server.clientOf(key);
  server.clock.advance(1000);
  await optOut(['+14155550171'], client);
  server.clock.advance(1000);
  await optOut(['+14155550172'], client);
  await client.DELETE('/v1/calls/do-not-call/{phoneNumber}', { params: { path: { phoneNumber: '+14155550171' } } });
  const actions = async (query: object) => (await list({ order: 'asc', ...query })).items.map(({ action }) => action);
  const [added, , removed] = await actions({ apiKeyId });
  expect(await resources({ apiKeyId, action: added })).toEqual(['+14155550172', '+14155550171']);
  expect(await actions({ apiKeyId, resourceId: '+14155550171' })).toEqual([added, removed]);
  const { createdAt } = (await list({ resourceId: '+14155550172' })).items[0]!;
  expect(await resources({ apiKeyId, createdBefore: createdAt })).toEqual(['+14155550171']);
  expect(await resources({ apiKeyId, action: added, createdAfter: createdAt })).toEqual(['+14155550172']);
  expect(await actions({ apiKeyId: 'key_01932f3c8a7e7bd0a1b2c3d4e5f60718' })).toEqual([]);
});

test('an entry keeps the name of a key that was revoked', async () => {
  const body = { name: 'Left us', permissions: ['api_keys:write' as const] };
  const { key, id } = (await server.client.POST('/v1/api-keys', { body })).data!.data;
  await server.clientOf(key).DELETE('/v1/api-keys/{keyId}', { params: { path: { keyId: id } } });
  expect((await list({ searchText: 'Left us' })).items).toMatchObject([
    { apiKeyId: id, apiKeyName: 'Left us', action: 'api_key.revoked', resourceId: id },
  ]);
});

test('what was refused leaves no entry, nor does what changed nothing', async () => {
  const reader = await ofKey(['do_not_call:read', 'api_keys:write']);
  const before = (await list()).totalCount;
  expect((await optOut(['+14155550111'], reader)).response.status).toBe(403);
  expect((await optOut(['911'])).response.status).toBe(400);
  const unknown = { params: { path: { keyId: 'key_01932f3c8a7e7bd0a1b2c3d4e5f60718' } } };
  expect((await server.client.DELETE('/v1/api-keys/{keyId}', unknown)).response.status).toBe(404);
  const more = { body: { name: 'More', permissions: ['*' as const] } };
  expect((await reader.POST('/v1/api-keys', more)).response.status).toBe(403);
  expect((await optOut(['+14155550101'])).response.status).toBe(200);
  expect((await list()).totalCount).toBe(before);
});

test.each([
  ['203.0.113.7', '203.0.113.7'],
  ['198.51.100.1, 2001:db8::7', '2001:db8::7'],
  ['::ffff:203.0.113.8', '203.0.113.8'],
  ['not an address', '127.0.0.1'],
  [`${'9'.repeat(100)}`, '127.0.0.1'],
])('behind a proxy that writes down %s the address is %s', async (forwarded, address) => {
  const response = await fetch(`${server.url}/v1/workspace/rotate-inbound-secret`, {
    method: 'POST',
    headers: { 'X-API-Key': server.apiKey, 'X-Forwarded-For': forwarded },
  });
  const searchText = response.headers.get('X-Request-Id')!;
  expect((await list({ searchText })).items).toMatchObject([{ address }]);
});

test('each workspace has its own log', async () => {
  const other = await ofKey(['*'], 'Other');
  const before = (await list()).totalCount;
  await optOut(['+14155550101'], other);
  expect((await list({}, other)).items).toMatchObject([{ resourceId: '+14155550101', apiKeyName: 'Test' }]);
  expect((await list()).totalCount).toBe(before);
});

test('what is not as the contract says is 400, a stranger is 401, and a key without the permission 403', async () => {
  for (const query of [{ perPage: 101 }, { page: 0 }, { column: 'action' }, { order: 'up' }, { cursor: '' }, { x: 1 }])
    expect((await server.client.GET(path, { params: { query: query as object } })).response.status).toBe(400);
  const stranger = server.clientOf('tl_test_0123456789012345678901234567890123456789012');
  expect((await stranger.GET(path)).response.status).toBe(401);
  expect((await (await ofKey(['api_keys:read'])).GET(path)).response.status).toBe(403);
  expect((await (await ofKey(['audit_log:read'])).GET(path)).response.status).toBe(200);
});
