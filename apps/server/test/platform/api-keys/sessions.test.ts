import { createHash } from 'node:crypto';
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { freePort } from '../../../../../packages/sip/test/peers/peer-process.ts';
import type { Database } from '../../../src/foundation/database/database.ts';
import { fromId } from '../../../src/foundation/values/ids.ts';
import { createKeyRing } from '../../../src/platform/api-keys/key-ring.ts';
import { deleteOldSessions, deleteSession } from '../../../src/platform/api-keys/session-store.ts';
import { seedCampaign } from '../../seed/campaign.ts';
import { startTestServer, type TestServer } from '../../server.ts';
import { until } from '../../until.ts';
import { keyWith } from './keys.ts';
import { cookieOf, send, signIn } from './sessions.ts';

const HOUR_MS = 3600_000;
const NEVER = 'tl_live_0123456789abcdefghijABCDEFGHIJ0123456789abc';
const behindTls = 'https://calls.example.com';
const logged: string[] = [];

let server: TestServer;
/** On the same database, reached over https through a proxy. */
let secure: TestServer;

beforeAll(async () => {
  const log = pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) });
  server = await startTestServer({ log, config: { corsOrigins: ['https://app.example.com'] } });
  const { connectionString, apiKey } = server;
  const port = await freePort();
  const behind = await startTestServer({ connectionString, apiKey, log, config: { port, publicUrl: behindTls } });
  secure = { ...behind, url: `http://127.0.0.1:${port}` };
});
afterAll(async () => {
  await secure.stop();
  await server.stop();
});
beforeEach(() => {
  for (const each of [server, secure]) each.clock.set(new Date());
});

const signingIn = (on: TestServer, headers: Record<string, string>, apiKey = on.apiKey) =>
  send(on.url, 'POST', '/v1/sessions', { body: { apiKey }, headers });
const overTls = { Host: 'calls.example.com', Origin: behindTls };
const newKey = async (body: { permissions?: ['calls:read'] | ['*']; expiresAt?: string } = {}) =>
  (await server.client.POST('/v1/api-keys', { body: { name: 'Desk', permissions: ['*'], ...body } })).data!.data;
const revokeKey = (keyId: string) => server.client.DELETE('/v1/api-keys/{keyId}', { params: { path: { keyId } } });
const listed = async () =>
  (await server.client.GET('/v1/sessions', { params: { query: { perPage: 100 } } })).data!.data.items;

describe('a session by an API key', () => {
  test('is a cookie that no script reads, in the place of the key', async () => {
    const key = await newKey({ permissions: ['calls:read'] });
    const local = server.url;
    const answer = await signingIn(server, { Host: new URL(local).host, Origin: local }, ` ${key.key}\n`);
    expect(answer.status).toBe(201);
    const [cookie] = answer.headers['set-cookie']!;
    expect(cookie).toMatch(/^trunkline=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=43200$/);
    const workspace = (await server.client.GET('/v1/workspace')).data!.data;
    expect(answer.body.data).toEqual({
      id: expect.stringMatching(/^ses_/),
      ...{ workspaceId: workspace.id, workspaceName: workspace.name },
      ...{ apiKeyId: key.id, apiKeyName: 'Desk', permissions: ['calls:read'] },
      createdAt: expect.stringMatching(/Z$/),
      expiresAt: expect.stringMatching(/Z$/),
    });
    const secret = cookie!.split(/[=;]/)[1]!;
    expect(JSON.stringify([answer.body, logged])).not.toContain(secret);
    const rows = await server.database.inEngine(({ db }) => db.selectFrom('sessions').selectAll().execute());
    expect(rows.map(({ hash }) => hash.toString('hex'))).toContain(createHash('sha256').update(secret).digest('hex'));

    const browser = await signIn(server, key.key);
    expect((await browser.ask('GET', '/v1/session')).body.data).toEqual(browser.session);
    expect((await browser.ask('GET', '/v1/calls')).status).toBe(200);
    expect((await browser.ask('GET', '/v1/webhooks')).body).toMatchObject({ code: 'forbidden' });
  });

  test('is bound to https where the server is reached so', async () => {
    const answer = await signingIn(secure, overTls);
    const [cookie] = answer.headers['set-cookie']!;
    expect(cookie).toMatch(/^__Host-trunkline=[\w-]{43}; Path=\/; .*Max-Age=43200; Secure$/);
    const secret = cookieOf(answer).split('=')[1];
    const asked = (name: string) =>
      send(secure.url, 'GET', '/v1/session', {
        headers: { Host: 'calls.example.com', Cookie: `a=b; ${name}=${secret}` },
      });
    expect([(await asked('__Host-trunkline')).status, (await asked('trunkline')).status]).toEqual([200, 401]);
    // A sibling of the domain may set a cookie of this name, as it has no prefix.
    expect((await asked('\xa0__Host-trunkline')).status).toBe(401);
    const program = await signingIn(secure, { Host: 'calls.example.com' });
    expect(program.status).toBe(201);
  });

  test('is not had over plain HTTP but on localhost', async () => {
    for (const Host of ['192.0.2.10:8080', 'calls.example.com', 'localhost.example.com', '127.0.0.1.example.com'])
      for (const more of [{}, { Origin: `http://${Host}` }]) {
        const { status, body, headers } = await signingIn(server, { Host, ...more });
        expect([Host, status, body.code, headers['set-cookie']]).toEqual([Host, 403, 'forbidden', undefined]);
        expect(body.error).toContain('needs https');
      }
    for (const headers of [
      { Host: 'calls.example.com', Origin: 'http://calls.example.com' },
      { Host: 'localhost:8080', Origin: 'http://localhost:8080' },
      { Host: '192.0.2.10:8080' },
    ] as Record<string, string>[]) {
      const { status, body } = await signingIn(secure, headers);
      expect([headers, status]).toEqual([headers, 403]);
      expect(body.error).toContain(behindTls);
    }
    for (const Host of ['localhost:8080', '127.0.0.1:8080', '[::1]:8080', 'desk.localhost'])
      expect((await signingIn(server, { Host, Origin: `http://${Host}` })).status).toBe(201);
    const { cookie } = await signIn(server, server.apiKey);
    const elsewhere = await send(server.url, 'GET', '/v1/session', { headers: { Host: '192.0.2.10', Cookie: cookie } });
    expect(elsewhere.status).toBe(401);
  });

  test('is not had with what is no key, nor one that is over', async () => {
    const expiring = await newKey({ expiresAt: new Date(Date.now() + 60_000).toISOString() });
    server.clock.advance(60_000);
    const revoked = await newKey();
    await revokeKey(revoked.id);
    const { cookie } = await signIn(server, server.apiKey);
    const headers = { Host: 'localhost', Origin: 'http://localhost' };
    for (const wrong of [NEVER, 'x', 'ct_abc', expiring.key, revoked.key, cookie.split('=')[1]!]) {
      const { status, body } = await signingIn(server, headers, wrong);
      expect([status, body.code]).toEqual([401, 'unauthorized']);
      expect(body.error).not.toContain(wrong);
    }
  });
});

describe('requests with a cookie', () => {
  const write = ['PATCH', '/v1/workspace', { name: 'Default' }] as const;

  test('change something only from a page of the server itself', async () => {
    const browser = await signIn(server, server.apiKey);
    const asked = (headers: Record<string, string>) =>
      send(server.url, write[0], write[1], {
        body: write[2],
        headers: { Host: new URL(browser.origin).host, Cookie: browser.cookie, ...headers },
      });
    expect((await browser.ask(...write)).status).toBe(200);
    for (const Origin of [
      ...['https://evil.example', 'null', 'https://app.example.com', 'http://localhost', 'http://localhost:1'],
      ...[browser.origin.replace('http', 'https'), `${browser.origin}.evil.example`, `${browser.origin}/`],
    ]) {
      const { status, body, headers } = await asked({ Origin });
      expect([Origin, status, body.code]).toEqual([Origin, 403, 'forbidden']);
      expect(body.error).toContain(Origin);
      expect(headers['access-control-allow-credentials']).toBeUndefined();
    }
    for (const site of ['none', 'same-origin', 'cross-site'])
      expect((await asked({ 'Sec-Fetch-Site': site })).status).toBe(403);
    expect((await asked({})).body.error).toContain('A program sends an API key instead.');
  });

  test('read only for pages of the server, or for no page', async () => {
    const browser = await signIn(server, server.apiKey);
    const status = async (headers: Record<string, string>) =>
      (await browser.ask('GET', '/v1/session', undefined, headers)).status;
    for (const site of ['same-origin', 'none']) expect(await status({ 'Sec-Fetch-Site': site })).toBe(200);
    for (const site of ['same-site', 'cross-site']) expect(await status({ 'Sec-Fetch-Site': site })).toBe(403);
    expect(await status({ Origin: browser.origin })).toBe(200);
    expect(await status({ Origin: 'https://app.example.com' })).toBe(403);
  });

  test('open streams only for pages of the server, and end with their session', async () => {
    const browser = await signIn(server, server.apiKey);
    const workspaceId = fromId((await server.client.GET('/v1/workspace')).data!.data.id);
    const { campaignId } = await seedCampaign(server.database, {
      ...{ workspaceId, contacts: 0, campaign: { status: 'paused' } },
    });
    const path = `/v1/calls/campaigns/cmp_${campaignId.replaceAll('-', '')}/events`;
    const refused = async (headers: Record<string, string>) =>
      (await browser.ask('GET', path, undefined, headers)).status;
    const told = { Host: new URL(browser.origin).host, Cookie: browser.cookie };
    expect((await send(server.url, 'GET', path, { headers: told })).status).toBe(403);
    for (const site of ['none', 'same-site', 'cross-site']) expect(await refused({ 'Sec-Fetch-Site': site })).toBe(403);
    expect(await refused({ Origin: 'https://evil.example', 'Sec-Fetch-Site': 'same-origin' })).toBe(403);
    let isOver = false;
    const statuses = [{ 'Sec-Fetch-Site': 'same-origin' }, { Origin: browser.origin }].map(
      (headers) =>
        new Promise((resolve) =>
          request(
            server.url + path,
            { headers: { Host: new URL(browser.origin).host, Cookie: browser.cookie, ...headers } },
            (response) => {
              response.resume().on('close', () => (isOver = true));
              resolve(response.statusCode);
            },
          ).end(),
        ),
    );
    expect(await Promise.all(statuses)).toEqual([200, 200]);
    expect(isOver).toBe(false);
    expect((await browser.ask('DELETE', '/v1/session')).status).toBe(200);
    await until(() => isOver);
  });

  test('are those of the key where they bear one', async () => {
    const browser = await signIn(server, server.apiKey);
    const weak = await keyWith(server, { permissions: ['calls:read'] });
    const headers = { 'X-API-Key': weak, Origin: 'https://evil.example' };
    expect((await browser.ask('GET', '/v1/session', undefined, headers)).body.data.permissions).toEqual(['calls:read']);
    expect((await browser.ask(...write, { 'X-API-Key': NEVER })).status).toBe(401);
    expect((await browser.ask('DELETE', '/v1/session', undefined, { 'X-API-Key': weak })).status).toBe(404);
    const asKey = await server.client.GET('/v1/session');
    expect(Object.keys(asKey.data!.data).sort()).toEqual(
      ['apiKeyId', 'apiKeyName', 'permissions', 'workspaceId', 'workspaceName'].sort(),
    );
  });

  test('never let scripts of other origins read with it', async () => {
    const { cookie } = await signIn(server, server.apiKey);
    const Origin = 'https://app.example.com';
    for (const method of ['GET', 'OPTIONS']) {
      const answer = await send(server.url, method, '/v1/session', {
        headers: { Host: 'localhost', Origin, Cookie: cookie, 'Access-Control-Request-Method': 'POST' },
      });
      expect(answer.headers['access-control-allow-origin']).toBe(Origin);
      expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
    }
  });
});

describe('a session ends', () => {
  test('when its browser signs out: a copy of the cookie opens nothing', async () => {
    const browser = await signIn(server, server.apiKey);
    const other = await signIn(server, server.apiKey);
    expect((await listed()).map(({ id }) => id)).toEqual(expect.arrayContaining([browser.session.id]));
    const left = await browser.ask('DELETE', '/v1/session');
    expect(left.body).toEqual({ success: true, data: { id: browser.session.id, deleted: true } });
    expect(left.headers['set-cookie']).toEqual(['trunkline=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0']);
    const { status, body } = await browser.ask('GET', '/v1/session');
    expect([status, body.error]).toEqual([401, 'The session has ended. Sign in again.']);
    expect((await other.ask('GET', '/v1/session')).status).toBe(200);
    const after = (await listed()).map(({ id }) => id);
    expect([after.includes(browser.session.id), after.includes(other.session.id)]).toEqual([false, true]);
  });

  test('when its browser signs in again', async () => {
    const browser = await signIn(server, server.apiKey);
    const again = { Cookie: browser.cookie, Host: new URL(browser.origin).host };
    expect((await signingIn(server, again)).status).toBe(201);
    expect((await signingIn(server, { ...again, Origin: browser.origin }, NEVER)).status).toBe(401);
    expect((await browser.ask('GET', '/v1/session')).status).toBe(200);
    expect((await signingIn(server, { ...again, Origin: browser.origin })).status).toBe(201);
    expect((await browser.ask('GET', '/v1/session')).status).toBe(401);
    const { data } = await server.client.GET('/v1/audit-log', {
      params: { query: { resourceId: browser.session.id, action: 'session.ended' } },
    });
    expect(data!.data.items).toMatchObject([{ apiKeyName: expect.any(String) }]);
  });

  test('also for a look-up that is under way', async () => {
    const { cookie, session } = await signIn(server, server.apiKey);
    const workspaceId = fromId((await server.client.GET('/v1/workspace')).data!.data.id);
    const inEngine: Database['inEngine'] = async (act) => {
      const found = await server.database.inEngine(act);
      const ended = await server.database.inWorkspace(workspaceId, (tx) =>
        deleteSession(tx, fromId(session.id), server.clock.now()),
      );
      if (ended) ring.forget(ended.hash);
      return found;
    };
    const ring = createKeyRing({
      ...{ database: { ...server.database, inEngine }, clock: server.clock, log: pino({ level: 'silent' }) },
    });
    const secret = cookie.split('=')[1]!;
    for (let time = 0; time < 2; time += 1) expect(await ring.authenticateSession(secret)).toBeUndefined();
    await ring.close();
  });

  test('when it is ended by its ID, but not by who may less, nor from another workspace', async () => {
    const browser = await signIn(server, server.apiKey);
    const end = (client: TestServer['client']) =>
      client.DELETE('/v1/sessions/{sessionId}', { params: { path: { sessionId: browser.session.id } } });
    const clientWith = async (permissions: string[], workspace = 'Default') =>
      server.clientOf(await keyWith(server, { permissions, workspace }));
    expect((await end(await clientWith(['calls:read']))).response.status).toBe(403);
    const weak = await end(await clientWith(['api_keys:write']));
    expect(weak.error).toMatchObject({ code: 'forbidden', error: 'The session has permissions that you lack: *.' });
    expect((await end(await clientWith(['*'], 'Others'))).response.status).toBe(404);
    expect((await browser.ask('GET', '/v1/session')).status).toBe(200);
    expect((await end(server.client)).data).toEqual({ success: true, data: { id: browser.session.id, deleted: true } });
    expect((await end(server.client)).response.status).toBe(404);
    expect((await browser.ask('GET', '/v1/session')).status).toBe(401);
  });

  test('with its key, on every server', async () => {
    const key = await newKey();
    const browser = await signIn(server, key.key);
    const tls = cookieOf(await signingIn(secure, overTls, key.key));
    const elsewhere = () =>
      send(secure.url, 'GET', '/v1/session', { headers: { Host: 'calls.example.com', Cookie: tls } });
    expect([(await browser.ask('GET', '/v1/session')).status, (await elsewhere()).status]).toEqual([200, 200]);
    await revokeKey(key.id);
    expect((await listed()).filter(({ apiKeyId }) => apiKeyId === key.id)).toEqual([]);
    await sleep(1000);
    expect([(await browser.ask('GET', '/v1/session')).status, (await elsewhere()).status]).toEqual([401, 401]);
  });

  test('when its key expires', async () => {
    const expiresAt = new Date(Date.now() + HOUR_MS).toISOString();
    const browser = await signIn(server, (await newKey({ expiresAt })).key);
    expect(browser.session.expiresAt).toBe(expiresAt);
    server.clock.advance(HOUR_MS);
    expect((await browser.ask('GET', '/v1/session')).status).toBe(401);
  });

  test('after two hours without a request, and after twelve in any case', async () => {
    const [idle, used] = [await signIn(server, server.apiKey), await signIn(server, server.apiKey)];
    const lastUse = async () => (await listed()).find(({ id }) => id === used.session.id)?.lastUsedAt;
    for (let times = 0; times < 6; times += 1) {
      server.clock.advance(119 * 60_000);
      const before = await lastUse();
      await sleep(510);
      expect((await used.ask('GET', '/v1/session')).status).toBe(200);
      await until(async () => (await lastUse()) !== before);
    }
    expect((await idle.ask('GET', '/v1/session')).status).toBe(401);
    expect((await listed()).map(({ id }) => id)).not.toContain(idle.session.id);
    server.clock.advance(6 * 60_000);
    expect((await used.ask('GET', '/v1/session')).status).toBe(401);
    const rows = async () =>
      (await server.database.inEngine(({ db }) => db.selectFrom('sessions').select('id').execute())).map(
        ({ id }) => id,
      );
    const ids = [idle, used].map(({ session }) => fromId(session.id));
    expect(await rows()).toEqual(expect.arrayContaining(ids));
    await deleteOldSessions(server.database, server.clock.now());
    expect((await rows()).filter((id) => ids.includes(id))).toEqual([]);
  });

  test('as the oldest of a hundred for another one of its key', async () => {
    const { key, id } = await newKey();
    const first = await signIn(server, key);
    for (let count = 1; count < 101; count += 1) {
      server.clock.advance(1);
      await signIn(server, key);
    }
    const ofKey = await server.database.inEngine(({ db }) =>
      db.selectFrom('sessions').select('id').where('api_key_id', '=', fromId(id)).execute(),
    );
    expect(ofKey).toHaveLength(100);
    expect((await first.ask('GET', '/v1/session')).status).toBe(401);
  });
});

test('attempts to sign in have a rate for each address, and those that succeed that of their key', async () => {
  const { connectionString, apiKey } = server;
  const config = { rateLimitPerMinute: 2, trustProxy: true };
  const strict = await startTestServer({ connectionString, apiKey, config });
  const headers = { Host: 'localhost', Origin: 'http://localhost' };
  const statuses: number[] = [];
  for (const key of [NEVER, NEVER, apiKey]) statuses.push((await signingIn(strict, headers, key)).status);
  const limited = await signingIn(strict, headers);
  expect([...statuses, limited.status]).toEqual([401, 401, 429, 429]);
  expect(limited.body.error).toMatch(/^Too many requests from this address\. Try again in \d+ seconds\.$/);
  // Who has a key is not held up by that.
  expect((await fetch(`${strict.url}/v1/workspace`, { headers: { 'X-API-Key': apiKey } })).status).toBe(200);
  const from = (address: string) => signingIn(strict, { ...headers, 'X-Forwarded-For': address });
  expect((await from('203.0.113.1')).status).toBe(201);
  const { status, body } = await from('203.0.113.2');
  expect([status, body.error]).toEqual([429, expect.stringMatching(/^Too many requests with this key\./)]);
  await strict.stop();
});
