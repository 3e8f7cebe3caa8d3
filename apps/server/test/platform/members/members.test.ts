import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadContract } from '../../../src/foundation/http/app.ts';
import { operationsOf } from '../../../src/foundation/http/contract.ts';
import { forValidator } from '../../../src/foundation/http/validator-contract.ts';
import { fromId } from '../../../src/foundation/values/ids.ts';
import { deleteRemovedMembers, lockMembers } from '../../../src/platform/members/member-store.ts';
import { type Role, rolePermissions } from '../../../src/platform/members/roles.ts';
import { exampleRequest } from '../../contract/example-request.ts';
import { startTestServer, type TestServer } from '../../server.ts';
import { until } from '../../until.ts';
import { keyWith } from '../api-keys/keys.ts';
import { signInMember } from './member-session.ts';

const path = '/v1/members';
const document = forValidator(loadContract());
const operations = operationsOf(document).filter((operation) => operation.path.startsWith('/v1/'));

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const of = (memberId: string) => ({ params: { path: { memberId } } });
const invite = (email: string, role: Role, client = server.client) => client.POST(path, { body: { email, role } });
const clientWith = async (permissions: string[], workspace = 'Default') =>
  server.clientOf(await keyWith(server, { permissions, workspace }));

describe('the table of roles', () => {
  const { schemas } = loadContract().components as {
    schemas: Record<'Role' | 'Permission', { enum: string[]; 'x-permissions': Record<Role, string[]> }>;
  };

  test('is that of the contract, which judges each permission', () => {
    const sorted = (roles: Readonly<Record<string, readonly string[]>>) =>
      Object.fromEntries(Object.entries(roles).map(([role, permissions]) => [role, [...permissions].sort()]));
    expect(sorted(rolePermissions)).toEqual(sorted(schemas.Role['x-permissions']));
    expect(Object.keys(rolePermissions)).toEqual(schemas.Role.enum);
    for (const permissions of Object.values(rolePermissions))
      expect(permissions.filter((each) => !schemas.Permission.enum.includes(each))).toEqual([]);
  });

  test('has no write in the role of a viewer, and each viewer is in a manager and a developer', () => {
    expect(rolePermissions.viewer.filter((each) => !each.endsWith(':read'))).toEqual([]);
    for (const role of ['manager', 'developer'] as const)
      expect(rolePermissions[role]).toEqual(expect.arrayContaining([...rolePermissions.viewer]));
  });
});

describe.each(['viewer', 'manager', 'developer'] as const)('a %s', (role) => {
  test('is refused every operation outside of the role, and no other', async () => {
    const browser = await signInMember(server, role);
    // What is for operators is not there without their key.
    const may = new Set(['anyone', 'authenticated', 'operator', ...rolePermissions[role]]);
    const refused: string[] = [];
    // What ends the session comes last.
    for (const operation of operations.filter(({ id, streams }) => id !== 'endCurrentSession' && !streams)) {
      const { permission } = operation;
      // What it may is left undone but for reads: its own tests show it.
      if (may.has(permission) && operation.method !== 'GET') continue;
      const [method, example] = exampleRequest(document, operation);
      const { status, body: answer } = await browser.ask(method, example);
      if (status !== 403) continue;
      refused.push(operation.id);
      expect(answer.error).toBe(`Your role lacks the permission ${permission}.`);
    }
    const outside = operations.filter(({ permission, streams }) => !streams && !may.has(permission));
    expect(refused.sort()).toEqual(outside.map(({ id }) => id).sort());
    expect(refused.length).toBeGreaterThan(20);
    if (role === 'viewer') expect(outside.filter(({ id }) => id === 'startCampaign')).toHaveLength(1);
  });
});

describe('members', () => {
  test('are invited, listed, read, given other roles and removed', async () => {
    const { response, data } = await invite('Ada.Lovelace@Example.com', 'manager');
    expect([response.status, response.headers.get('etag')]).toEqual([201, '"1"']);
    const { id } = data!.data;
    expect(data!.data).toMatchObject({ email: 'ada.lovelace@example.com', role: 'manager', status: 'invited' });
    const again = await invite('ada.lovelace@example.COM', 'viewer');
    expect([again.response.status, again.error?.code]).toEqual([409, 'member_already_exists']);
    const found = (await server.client.GET(path, { params: { query: { searchText: 'LOVELACE' } } })).data!.data;
    expect(found.items).toEqual([(await server.client.GET(`${path}/{memberId}`, of(id))).data!.data]);
    const changed = await server.client.PATCH(`${path}/{memberId}`, { ...of(id), body: { role: 'developer' } });
    expect(changed.data!.data).toMatchObject({ id, role: 'developer' });
    expect((await server.client.DELETE(`${path}/{memberId}`, of(id))).data!.data).toEqual({ id, deleted: true });
    expect((await server.client.GET(`${path}/{memberId}`, of(id))).response.status).toBe(404);
    expect((await server.client.DELETE(`${path}/{memberId}`, of(id))).response.status).toBe(404);
    expect(
      (await server.client.PATCH(`${path}/{memberId}`, { ...of(id), body: { role: 'viewer' } })).response.status,
    ).toBe(404);
    expect((await invite('ada.lovelace@example.com', 'viewer')).response.status).toBe(201);
  });

  test('are nobody else whose address has other letters with the same small ones', async () => {
    expect((await invite('kim@example.com', 'admin')).response.status).toBe(201);
    const kelvin = await invite('\u212aIM@example.com', 'viewer');
    expect([kelvin.response.status, kelvin.data?.data.email]).toEqual([201, '\u212aim@example.com']);
    // Its small letter is two characters.
    const email = `${'\u0130'.repeat(240)}@example.com`;
    expect((await invite(email, 'viewer')).data?.data.email).toBe(email);
  });

  test('are invited once for an Idempotency-Key, and again only with another one once they are gone', async () => {
    const sent = (key: string) => ({
      params: { header: { 'Idempotency-Key': key } },
      body: { email: 'once@example.com', role: 'viewer' as const },
    });
    const { id } = (await server.client.POST(path, sent('one'))).data!.data;
    const again = await server.client.POST(path, sent('one'));
    expect([again.data!.data.id, again.response.headers.get('idempotent-replayed')]).toEqual([id, 'true']);
    await server.client.DELETE(`${path}/{memberId}`, of(id));
    expect((await server.client.POST(path, sent('one'))).response.status).toBe(404);
    expect((await server.client.POST(path, sent('two'))).response.status).toBe(201);
  });

  test.each(['ada', 'ada@', '@example.com', 'a b@example.com', 'a@b@c', `${'a'.repeat(250)}@b.de`, 'a@b\n'])(
    'have an address, which %j is not',
    async (email) => {
      const { response, error } = await invite(email, 'viewer');
      expect([response.status, error?.code]).toEqual([400, 'invalid_request']);
    },
  );

  test('are given no role that may do more than who gives it', async () => {
    const weak = await clientWith(['members:write', ...rolePermissions.viewer]);
    expect((await invite('viewed@example.com', 'viewer', weak)).response.status).toBe(201);
    const { error } = await invite('managed@example.com', 'manager', weak);
    expect(error).toMatchObject({ code: 'forbidden' });
    expect(error!.error).toContain('The role manager has permissions that you lack: workflows:run, ');
    const { id } = (await invite('managed@example.com', 'manager')).data!.data;
    const change = (role: Role) => weak.PATCH(`${path}/{memberId}`, { ...of(id), body: { role } });
    expect((await change('viewer')).response.status).toBe(403);
    expect((await change('admin')).response.status).toBe(403);
    expect((await weak.DELETE(`${path}/{memberId}`, of(id))).response.status).toBe(403);
  });

  test("are another workspace's, which nobody else sees", async () => {
    const { id } = (await invite('ours@example.com', 'viewer')).data!.data;
    const theirs = await clientWith(['*'], 'Others');
    expect((await theirs.GET(`${path}/{memberId}`, of(id))).response.status).toBe(404);
    expect((await theirs.DELETE(`${path}/{memberId}`, of(id))).response.status).toBe(404);
    expect((await invite('ours@example.com', 'admin', theirs)).response.status).toBe(201);
  });
});

describe('the session of a member', () => {
  test('says who it is, and the audit log too, also once they are gone', async () => {
    const browser = await signInMember(server, 'admin');
    const { body } = await browser.ask('GET', '/v1/session');
    expect(body.data).toMatchObject({ memberId: browser.memberId, role: 'admin', permissions: ['*'] });
    expect(body.data.apiKeyId).toBeUndefined();
    const { memberEmail } = body.data;
    const listed = (await browser.ask('GET', '/v1/sessions?perPage=100')).body.data.items;
    expect(listed.find((each: { id: string }) => each.id === body.data.id)).toMatchObject({ memberEmail });
    const made = await browser.ask('POST', '/v1/api-keys', { name: 'By a member', permissions: ['*'] });
    expect(made.status).toBe(201);
    const trail = async () =>
      (await server.client.GET('/v1/audit-log', { params: { query: { memberId: browser.memberId } } })).data!.data
        .items;
    expect(await trail()).toMatchObject([{ action: 'api_key.created', memberId: browser.memberId, memberEmail }]);
    expect((await trail())[0]).not.toHaveProperty('apiKeyId');
    await server.client.DELETE(`${path}/{memberId}`, of(browser.memberId));
    await deleteRemovedMembers(server.database);
    expect(await trail()).toMatchObject([{ memberEmail }]);
    const isKept = async () => {
      const { rows } = await server.database.inEngine(({ db }) =>
        sql`select from members where email = ${memberEmail}`.execute(db),
      );
      return rows.length > 0;
    };
    expect(await isKept()).toBe(true);
    await server.database.inEngine(({ db }) =>
      sql`delete from audit_log where member_id = ${fromId(browser.memberId)}`.execute(db),
    );
    await deleteRemovedMembers(server.database);
    expect(await isKept()).toBe(false);
  });

  test('follows a changed role, and ends when the member is removed, within a second', async () => {
    const browser = await signInMember(server, 'viewer');
    const status = async () => (await browser.ask('GET', '/v1/webhooks')).status;
    expect(await status()).toBe(403);
    await server.client.PATCH(`${path}/{memberId}`, { ...of(browser.memberId), body: { role: 'developer' } });
    await sleep(600);
    expect(await status()).toBe(200);
    await server.client.DELETE(`${path}/{memberId}`, of(browser.memberId));
    await sleep(600);
    expect(await status()).toBe(401);
  });

  test("shows its member's address to nobody who may not read members", async () => {
    const [browser, weak] = [
      await signInMember(server, 'admin'),
      await clientWith(['api_keys:read', 'audit_log:read']),
    ];
    await browser.ask('POST', '/v1/api-keys', { name: 'By a member', permissions: ['calls:read'] });
    const { memberEmail } = (await browser.ask('GET', '/v1/session')).body.data;
    const { memberId } = browser;
    const trail = async (client: typeof weak, query: object) =>
      (await client.GET('/v1/audit-log', { params: { query } })).data!.data.items;
    expect(await trail(server.client, { searchText: memberEmail })).toMatchObject([{ memberId, memberEmail }]);
    expect(await trail(weak, { searchText: memberEmail })).toEqual([]);
    const seen = [
      ...(await trail(weak, { memberId })),
      ...(await weak.GET('/v1/sessions', { params: { query: { perPage: 100 } } })).data!.data.items,
    ].filter((each) => each.memberId === memberId);
    expect(seen).toHaveLength(2);
    for (const each of seen) expect(each).not.toHaveProperty('memberEmail');
  });

  test('is left also once its role may more than the request knew', async () => {
    const browser = await signInMember(server, 'viewer');
    expect((await browser.ask('GET', '/v1/session')).status).toBe(200);
    await server.client.PATCH(`${path}/{memberId}`, { ...of(browser.memberId), body: { role: 'admin' } });
    expect((await browser.ask('DELETE', '/v1/session')).status).toBe(200);
  });

  test('makes keys of what the role may, and none once the member is gone, however fast it is', async () => {
    const browser = await signInMember(server, 'developer');
    const make = (permissions: string[]) => browser.ask('POST', '/v1/api-keys', { name: 'x', permissions });
    expect((await make(['agents:write'])).status).toBe(201);
    expect((await make(['campaigns:run'])).status).toBe(403);
    await server.client.DELETE(`${path}/{memberId}`, of(browser.memberId));
    expect((await make(['agents:write'])).status).toBe(401);
  });

  test('makes no keys once its role may not, and holds up no change of the member', async () => {
    const browser = await signInMember(server, 'developer');
    const make = () => browser.ask('POST', '/v1/api-keys', { name: 'x', permissions: ['agents:read'] });
    const workspaceId = fromId((await server.client.GET('/v1/workspace')).data!.data.id);
    let making: ReturnType<typeof make> | undefined;
    const free = await server.database.inWorkspace(workspaceId, async (tx) => {
      await lockMembers(tx);
      making ??= make();
      await until(async () => {
        const { rows } = await sql`select from pg_locks where not granted`.execute(tx.db);
        return rows.length > 0;
      });
      return sql`select from members where id = ${fromId(browser.memberId)} for update skip locked`.execute(tx.db);
    });
    expect(free.rows).toHaveLength(1);
    expect((await making!).status).toBe(201);
    await server.client.PATCH(`${path}/{memberId}`, { ...of(browser.memberId), body: { role: 'viewer' } });
    const { status, body } = await make();
    expect([status, body.code]).toEqual([403, 'forbidden']);
  });

  test('gives no roles any more once its own is less, however fast it is', async () => {
    const browser = await signInMember(server, 'admin');
    await browser.ask('GET', '/v1/session');
    await server.client.PATCH(`${path}/{memberId}`, { ...of(browser.memberId), body: { role: 'viewer' } });
    const { status, body } = await browser.ask('POST', path, { email: 'fast@example.com', role: 'admin' });
    expect([status, body.code]).toEqual([403, 'forbidden']);
  });

  test('takes the role from no last admin; of two who take it from each other one stays', async () => {
    const only = await startTestServer();
    const [first, second] = [await signInMember(only, 'admin'), await signInMember(only, 'admin')];
    const answers = await Promise.all([
      first.ask('PATCH', `${path}/${second.memberId}`, { role: 'viewer' }),
      second.ask('PATCH', `${path}/${first.memberId}`, { role: 'viewer' }),
    ]);
    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses[0]).toBe(200);
    expect([403, 409]).toContain(statuses[1]);
    const [left, memberId] = answers[0]!.status === 200 ? [first, first.memberId] : [second, second.memberId];
    for (const [method, body] of [['PATCH', { role: 'manager' }], ['DELETE']] as const) {
      const { status, body: answer } = await left.ask(method, `${path}/${memberId}`, body);
      expect([status, answer.code]).toEqual([409, 'invalid_state']);
    }
    expect((await only.client.DELETE(`${path}/{memberId}`, of(memberId))).response.status).toBe(200);
    await only.stop();
  });
});
