import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { fromId } from '../../../src/foundation/values/ids.ts';
import { startTestServer, type TestServer } from '../../server.ts';

let server: TestServer;
let workspaceId: string;
beforeAll(async () => {
  server = await startTestServer();
  workspaceId = fromId((await server.client.GET('/v1/workspace')).data!.data.id);
});
afterAll(() => server.stop());

/** Adds rows by a statement of its own, as a hundred requests would. */
const insert = (statement: ReturnType<typeof sql>) => server.database.inEngine(({ db }) => statement.execute(db));

test('a workspace has at most 1,000 trunks, in full form and in short, however many are made at once', async () => {
  await insert(sql`
    insert into trunks (workspace_id, id, termination_url, transport, status, reason, status_since, due_at, created_at, updated_at)
    select ${workspaceId}, gen_random_uuid(), 'trunk-' || n || '.example.com', 'udp', 'paused', 'unchecked', now(), 'infinity', now(), now()
    from generate_series(1, 997) as n`);
  const make = (name: string) =>
    server.client.POST('/v1/telephony/trunks', { body: { terminationUrl: `${name}.sim` } });
  const made = await Promise.all(Array.from({ length: 8 }, (_, at) => make(`ok${at}`)));
  expect(made.filter(({ response }) => response.status === 201)).toHaveLength(3);
  expect(made.find(({ error }) => error)).toMatchObject({
    response: { status: 409 },
    error: { code: 'limit_reached', error: 'A workspace has at most 1,000 trunks. Delete one first.' },
  });
  const imported = await server.client.POST('/v1/telephony/phone-numbers/import/manual', {
    body: { phoneNumbers: ['+14155550100'], sipConfig: { terminationUrl: 'another.sim' } },
  });
  expect(imported).toMatchObject({
    response: { status: 400 },
    error: { code: 'invalid_request', details: [{ path: '/body/sipConfig' }] },
  });
});

test('a workspace has at most 10,000 numbers: those beyond are named, and what is there is told apart', async () => {
  const trunkId = (await server.client.GET('/v1/telephony/trunks', { params: { query: { perPage: 1 } } })).data!
    .items[0]!.id;
  await insert(sql`
    insert into phone_numbers (workspace_id, id, phone_number, country, status, provider, trunk_id, created_at, updated_at)
    select ${workspaceId}, gen_random_uuid(), '+1415' || (6000000 + n), 'US', 'active', 'sip', ${fromId(trunkId)}, now(), now()
    from generate_series(1, 9999) as n`);
  const phoneNumbers = ['+14156000001', '+14155550101', '+14155550102', '+14155550103'];
  const { data } = await server.client.POST('/v1/telephony/phone-numbers/import/manual', {
    body: { phoneNumbers, trunkId },
  });
  expect(data!.imported.map(({ phoneNumber }) => phoneNumber)).toEqual(['+14155550101']);
  expect(data!.rejected).toMatchObject([
    { phoneNumber: '+14156000001', code: 'number_already_exists' },
    {
      phoneNumber: '+14155550102',
      code: 'limit_reached',
      error: 'A workspace has at most 10,000 numbers. Release one first.',
    },
    { phoneNumber: '+14155550103', code: 'limit_reached' },
  ]);
  const available = await server.client.GET('/v1/telephony/available-phone-numbers', {
    params: { query: { provider: 'simulator', country: 'US' } },
  });
  const body = { phoneNumber: available.data!.items[0]!.phoneNumber, provider: 'simulator' as const };
  expect(await server.client.POST('/v1/telephony/phone-numbers/buy', { body })).toMatchObject({
    response: { status: 409 },
    error: { code: 'limit_reached' },
  });
});

test('a workspace has at most 1,000 keys that hold', async () => {
  await insert(sql`
    insert into api_keys (workspace_id, id, hash, name, prefix, permissions, revoked_at, created_at)
    select ${workspaceId}, gen_random_uuid(), sha256(n::text::bytea), 'Key', 'tl_x', '{}', case when n > 998 then now() end, now()
    from generate_series(1, 1100) as n`);
  const make = () => server.client.POST('/v1/api-keys', { body: { name: 'Key', permissions: ['calls:read'] } });
  expect((await make()).response.status).toBe(201);
  expect(await make()).toMatchObject({
    response: { status: 409 },
    error: { code: 'limit_reached', error: 'A workspace has at most 1,000 API keys. Revoke one first.' },
  });
});
