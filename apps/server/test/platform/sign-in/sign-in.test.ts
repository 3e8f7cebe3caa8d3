import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { addresses } from '../../../src/config-values.ts';
import type { Role } from '../../../src/platform/members/roles.ts';
import { startTestServer, type TestServer } from '../../server.ts';
import { keyWith } from '../api-keys/keys.ts';
import { type Answer, browserWith, cookieOf, send } from '../api-keys/sessions.ts';
import { startProvider } from './provider.ts';

const logged: string[] = [];
let provider: Awaited<ReturnType<typeof startProvider>>;
let server: TestServer;
let turn = 0;

beforeAll(async () => {
  provider = await startProvider();
  const log = pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) });
  server = await startTestServer({
    log,
    config: {
      ...{ oidcIssuer: provider.issuer, oidcClientId: 'trunkline', oidcClientSecret: 'a very secret' },
      outboundAllowedAddresses: addresses('127.0.0.1'),
    },
  });
});
afterAll(async () => {
  await server.stop();
  provider.stop();
});
afterEach(() => Object.assign(provider.forged, { claims: {}, userInfo: undefined, tokenStatus: 200 }));

function newEmail(): string {
  turn += 1;
  return `person${turn}@example.com`;
}
const invite = async (email: string, role: Role = 'manager', client = server.client) =>
  (await client.POST('/v1/members', { body: { email, role } })).data!.data.id;
const verified = (email: string) => ({ email, email_verified: true });
const post = (path: string, body?: unknown, cookie?: string, on = server) =>
  send(on.url, 'POST', path, {
    body,
    headers: { Host: new URL(on.url).host, Origin: on.url, ...(cookie && { Cookie: cookie }) },
  });

/** Begins in a browser, and has the provider let somebody in. */
async function begin(claims: object) {
  const begun = await post('/v1/sign-ins');
  expect(begun.status).toBe(200);
  return {
    cookie: cookieOf(begun),
    url: begun.body.data.url,
    back: provider.letIn(begun.body.data.url, { ...claims }),
  };
}
async function signIn(claims: object): Promise<Answer> {
  const { cookie, back } = await begin(claims);
  return post('/v1/sessions', back, cookie);
}
const outcome = ({ status, body }: Answer) => [status, body.code];

describe('a member', () => {
  test('signs in by the provider, with PKCE, a state and a nonce', async () => {
    const email = newEmail();
    const memberId = await invite(email);
    const { url, cookie, back } = await begin(verified(email.toUpperCase()));
    const query = new URL(url).searchParams;
    expect(url.startsWith(`${provider.issuer}/authorize?`)).toBe(true);
    expect(Object.fromEntries(query)).toMatchObject({
      ...{ client_id: 'trunkline', response_type: 'code', scope: 'openid email', code_challenge_method: 'S256' },
      redirect_uri: `${server.url}/console/sign-in`,
    });
    for (const name of ['state', 'nonce', 'code_challenge']) expect(query.get(name)).toMatch(/^[\w-]{43}$/);
    const signedIn = await post('/v1/sessions', back, cookie);
    expect(signedIn.status).toBe(201);
    expect(signedIn.body.data).toMatchObject({ memberId, memberEmail: email, role: 'manager' });
    const browser = browserWith(server, cookieOf(signedIn));
    expect((await browser.ask('GET', '/v1/session')).body.data).toEqual(signedIn.body.data);
    expect((await browser.ask('GET', '/v1/calls/campaigns')).status).toBe(200);
    expect((await browser.ask('GET', '/v1/webhooks')).status).toBe(403);
    const member = await server.client.GET('/v1/members/{memberId}', { params: { path: { memberId } } });
    expect(member.data!.data).toMatchObject({ status: 'active', lastSignedInAt: expect.any(String) });
    const asked = provider.asked.find(({ path }) => path === '/token');
    expect(asked!.authorization).toBe(`Basic ${Buffer.from('trunkline:a+very+secret').toString('base64')}`);
    const secrets = [cookie, cookieOf(signedIn), back.code, 'a very secret'].map((each) => each.split('=').at(-1)!);
    for (const secret of secrets) expect(logged.join()).not.toContain(secret);
    await server.client.DELETE('/v1/members/{memberId}', { params: { path: { memberId } } });
    await sleep(600);
    expect((await browser.ask('GET', '/v1/session')).status).toBe(401);
    expect(outcome(await signIn(verified(email)))).toEqual([403, 'forbidden']);
  });

  test('begins a sign-in in the place of the session that the browser had', async () => {
    const email = newEmail();
    await invite(email);
    const browser = browserWith(server, cookieOf(await signIn(verified(email))));
    expect((await browser.ask('POST', '/v1/sign-ins')).status).toBe(200);
    expect((await browser.ask('GET', '/v1/session')).status).toBe(401);
  });

  test('is asked about where the token does not say the address', async () => {
    const email = newEmail();
    await invite(email);
    provider.forged.userInfo = verified(email);
    expect((await signIn({})).status).toBe(201);
    provider.forged.userInfo = { email };
    expect(outcome(await signIn({}))).toEqual([403, 'forbidden']);
    provider.forged.userInfo = { ...verified(email), sub: 'eve' };
    expect(outcome(await signIn({}))).toEqual([401, 'unauthorized']);
  });

  test('of several workspaces is in the last one, and goes to another', async () => {
    const email = newEmail();
    const clientOf = async (workspace: string) =>
      server.clientOf(await keyWith(server, { permissions: ['*'], workspace }));
    const [others, strangers] = [await clientOf('Others'), await clientOf('Strangers')];
    await invite(email, 'viewer');
    const memberId = await invite(email, 'admin', others);
    const first = await signIn(verified(email));
    const { data } = first.body;
    expect([first.status, data.workspaceName, data.role]).toEqual([201, 'Default', 'viewer']);
    expect(data.workspaces).toEqual([
      { id: data.workspaceId, name: 'Default', role: 'viewer' },
      { id: expect.stringMatching(/^ws_/), name: 'Others', role: 'admin' },
    ]);
    const [here, workspaceId] = [browserWith(server, cookieOf(first)), data.workspaces![1]!.id];
    const theirs = (await strangers.GET('/v1/workspace')).data!.data.id;
    expect((await here.ask('POST', '/v1/sessions', { workspaceId: theirs })).status).toBe(403);
    expect((await post('/v1/sessions', { workspaceId })).status).toBe(401);
    const byKey = await post('/v1/sessions', { apiKey: server.apiKey });
    expect((await post('/v1/sessions', { workspaceId }, cookieOf(byKey))).status).toBe(401);
    const host = { Host: new URL(server.url).host, Cookie: here.cookie };
    expect((await send(server.url, 'POST', '/v1/sessions', { body: { workspaceId }, headers: host })).status).toBe(401);
    server.clock.advance(60_000);
    const moved = await here.ask('POST', '/v1/sessions', { workspaceId });
    expect([moved.status, moved.body.data.workspaceName, moved.body.data.role]).toEqual([201, 'Others', 'admin']);
    expect(moved.body.data).toMatchObject({ memberId, expiresAt: data.expiresAt });
    expect((await here.ask('GET', '/v1/session')).status).toBe(401);
    expect((await signIn(verified(email))).body.data.workspaceName).toBe('Others');
    server.clock.advance(-60_000);
  });
});

describe('nobody signs in', () => {
  test('who is no member, or whose address is not verified', async () => {
    const stranger = await signIn(verified(newEmail()));
    expect(outcome(stranger)).toEqual([403, 'forbidden']);
    expect(stranger.body.error).toBe('You are no member of a workspace here. Ask an admin for an invitation.');
    const email = newEmail();
    await invite(email);
    for (const claims of [{ email }, { email, email_verified: false }, { email, email_verified: 'true' }])
      expect(outcome(await signIn(claims))).toEqual([403, 'forbidden']);
  });

  test.each<[string, () => Record<string, unknown>]>([
    ['a wrong nonce', () => ({ nonce: 'another' })],
    ['no nonce', () => ({ nonce: undefined })],
    ['a wrong audience', () => ({ aud: 'another' })],
    ['a wrong issuer', () => ({ iss: 'https://evil.example' })],
    ['no time any more', () => ({ exp: Math.floor(Date.now() / 1000) - 120 })],
    ['no address and no subject', () => ({ sub: undefined })],
  ])('with a token that has %s', async (_, forged) => {
    const email = newEmail();
    await invite(email);
    provider.forged.claims = forged();
    expect(outcome(await signIn(verified(email)))).toEqual([401, 'unauthorized']);
    provider.forged.claims = {};
    expect((await signIn(verified(email))).status).toBe(201);
  });

  test('with a token that another has signed', async () => {
    const email = newEmail();
    await invite(email);
    const { key } = provider.forged;
    provider.forged.key = provider.otherKey();
    expect(outcome(await signIn(verified(email)))).toEqual([401, 'unauthorized']);
    provider.forged.key = key;
  });

  test('with what another browser has begun, twice with a code, with another state or from another provider', async () => {
    const email = newEmail();
    await invite(email);
    const mine = await begin(verified(email));
    const theirs = await begin(verified(email));
    const tried = (body: object, cookie?: string) => post('/v1/sessions', body, cookie);
    for (const [body, cookie] of [
      [mine.back, undefined],
      [mine.back, theirs.cookie],
      [mine.back, 'trunkline=forged'],
      [{ ...mine.back, state: theirs.back.state }, mine.cookie],
      [{ ...mine.back, iss: 'https://evil.example' }, mine.cookie],
      [{ code: mine.back.code, state: mine.back.state }, mine.cookie],
      [{ ...mine.back, code: 'guessed' }, mine.cookie],
      // Its PKCE is that of the other browser.
      [{ ...mine.back, code: theirs.back.code }, mine.cookie],
    ] as const)
      expect(outcome(await tried(body, cookie))).toEqual([401, 'unauthorized']);
    expect((await tried(mine.back, mine.cookie)).status).toBe(201);
    expect(outcome(await tried(mine.back, mine.cookie))).toEqual([401, 'unauthorized']);
    const late = await begin(verified(email));
    server.clock.advance(10 * 60_000);
    expect(outcome(await tried(late.back, late.cookie))).toEqual([401, 'unauthorized']);
    server.clock.advance(-10 * 60_000);
  });

  test('from a page of another origin, or over plain HTTP', async () => {
    const { back, cookie } = await begin(verified(newEmail()));
    for (const headers of [
      { Host: new URL(server.url).host, Origin: 'https://evil.example' },
      { Host: '192.0.2.10', Origin: 'http://192.0.2.10' },
    ])
      for (const [path, body] of [['/v1/sign-ins'], ['/v1/sessions', back]] as const)
        expect((await send(server.url, 'POST', path, { body, headers: { ...headers, Cookie: cookie } })).status).toBe(
          403,
        );
  });

  test('without a provider', async () => {
    const { connectionString, apiKey } = server;
    const without = await startTestServer({ connectionString, apiKey });
    for (const [path, body] of [['/v1/sign-ins'], ['/v1/sessions', { code: 'x', state: 'y' }]] as const)
      expect(outcome(await post(path, body, undefined, without))).toEqual([409, 'no_identity_provider']);
    await without.stop();
  });

  test('while the provider is away, fails, or lies where nobody may ask', async () => {
    const email = newEmail();
    const { back, cookie } = await begin(verified(email));
    provider.forged.tokenStatus = 503;
    expect(outcome(await post('/v1/sessions', back, cookie))).toEqual([502, 'provider_error']);
    const { connectionString, apiKey } = server;
    const guarded = await startTestServer({
      ...{ connectionString, apiKey },
      config: { oidcIssuer: provider.issuer, oidcClientId: 'trunkline' },
    });
    expect(outcome(await post('/v1/sign-ins', undefined, undefined, guarded))).toEqual([502, 'provider_error']);
    await guarded.stop();
  });
});
