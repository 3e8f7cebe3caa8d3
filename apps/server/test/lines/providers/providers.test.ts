import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { rotateKey } from '../../../src/commands/rotate-key.ts';
import { openMarket } from '../../../src/lines/providers/open-market.ts';
import { testAccount } from '../telephony/twilio/double.ts';
import { startTwilioServer, type TwilioServer } from './twilio-server.ts';

let server: TwilioServer;
beforeAll(async () => {
  server = await startTwilioServer();
});
afterEach(() => {
  server.double.fate = () => undefined;
  server.double.secret = testAccount.secret;
  expect(server.double.faults).toEqual([]);
});
afterAll(() => server.stop());

const search = (areaCode = '415') =>
  server.client.GET('/v1/telephony/available-phone-numbers', {
    params: { query: { provider: 'twilio', areaCode } },
  });
const account = () =>
  server.deps.database.inEngine(async ({ db }) => {
    const { rows } = await sql<{ workspace_id: string; secret: string }>`select * from provider_accounts`.execute(db);
    return rows;
  });

test('without an account nothing is searched or bought', async () => {
  const { data } = await server.client.GET('/v1/telephony/providers');
  expect(data!.items).toEqual([
    { provider: 'simulator', status: 'ready', needsAccount: false },
    { provider: 'twilio', status: 'no_account', needsAccount: true },
  ]);
  for (const { response, error } of [await search(), await server.buy('+14155550200')]) {
    expect([response.status, error?.code]).toEqual([400, 'invalid_request']);
    expect(error?.error).toContain('PUT /v1/telephony/providers/twilio');
    expect(error?.error).toContain('Configured providers: simulator.');
  }
  expect((await server.forget()).response.status).toBe(404);
});

test('an account that Twilio does not take is not saved', async () => {
  const wrong = await server.save({ ...testAccount, secret: 'another' });
  expect([wrong.response.status, wrong.error?.details?.[0]?.path]).toEqual([400, '/body/secret']);
  const formless = await server.save({ accountId: 'AC1', keyId: 'x', addressId: 'y', bundleId: 'z', secret: 's' });
  expect(formless.error?.details?.map(({ path }) => path)).toEqual([
    '/body/accountId',
    '/body/keyId',
    '/body/addressId',
    '/body/bundleId',
  ]);
  expect((await server.save({ secret: 's' })).error?.details?.[0]?.path).toBe('/body/accountId');
  server.double.fate = () => 'broken';
  const failed = await server.save();
  expect([failed.response.status, failed.error?.code]).toEqual([502, 'provider_error']);
  expect(await account()).toEqual([]);
});

test('an account is saved once Twilio takes it, is shown without its secret, and numbers can be bought', async () => {
  const { data, response } = await server.save();
  const shown = { provider: 'twilio', status: 'ready', needsAccount: true, accountId: testAccount.accountId };
  expect(data).toEqual({ ...shown, checkedAt: expect.any(String) });
  expect(response.headers.get('ETag')).toBe('"1"');
  expect((await server.read()).data).toEqual(data);
  const [row] = await account();
  expect(JSON.stringify(row)).not.toContain(testAccount.secret);
  expect(server.logged.join('')).not.toContain(testAccount.secret);

  const [{ phoneNumber } = { phoneNumber: '' }] = (await search()).data!.items;
  const bought = await server.buy(phoneNumber);
  expect(bought.data).toMatchObject({
    ...{ phoneNumber, provider: 'twilio', status: 'active', providerMonthlyCost: 1.15, providerCurrency: 'USD' },
    ...{ isCustomerManaged: false, isOutboundReady: false, outboundReason: 'no_trunk' },
  });
  expect((await search()).data!.items.map((each) => each.phoneNumber)).not.toContain(phoneNumber);

  const inUse = await server.forget();
  expect([inUse.response.status, inUse.error?.code]).toEqual([409, 'provider_in_use']);
  expect((await server.release(bought.data!.id)).response.status).toBe(200);
  expect(server.double.numbers.size).toBe(0);
});

test('what Twilio refuses is told: 402, 409 for one that is taken, 409 for what is missing', async () => {
  await server.save();
  expect((await server.buy('+14155550402')).error?.code).toBe('payment_required');
  const missing = await server.buy('+14155550631');
  expect([missing.response.status, missing.error?.code]).toEqual([409, 'requirements_missing']);
  expect(missing.error?.details).toEqual([{ path: '/body/phoneNumber', message: 'needs an address' }]);
  const addressId = `AD${'1'.repeat(32)}`;
  expect((await server.save({ ...testAccount, addressId })).data).toMatchObject({ addressId });
  const bought = await server.buy('+14155550631');
  expect(bought.data?.status).toBe('active');
  server.double.numbers.set('PN1', { ...[...server.double.numbers.values()][0]!, phone_number: '+14155550777' });
  expect((await server.buy('+14155550777')).error?.code).toBe('number_unavailable');
  server.double.numbers.delete('PN1');
  await server.release(bought.data!.id);
});

test('an account that Twilio takes no more is told until another secret is saved', async () => {
  await server.save();
  server.double.secret = 'changed';
  const failed = await search();
  expect([failed.response.status, failed.error?.code]).toEqual([502, 'provider_error']);
  expect(failed.error?.error).toContain('Save it anew');
  expect((await server.read()).data?.status).toBe('credentials_rejected');
  expect((await server.save({ ...testAccount, secret: 'changed' })).data?.status).toBe('ready');
  expect((await search()).response.status).toBe(200);
});

test('a rejection of a secret that was replaced meanwhile is not noted of the new one', async () => {
  await server.save();
  const { workspace_id } = (await account())[0]!;
  const { deps, double } = server;
  const before = await deps.database.inWorkspace(workspace_id, (tx) => openMarket(deps, tx, 'twilio'));
  double.secret = 'changed';
  expect((await server.save({ ...testAccount, secret: 'changed' })).data?.status).toBe('ready');
  await expect(before!.lookupNumberPurchase('x')).rejects.toMatchObject({ reason: 'credentials' });
  expect((await server.read()).data?.status).toBe('ready');
});

test('the secret is moved to another key, and one that no key opens is told', async () => {
  await server.save();
  const before = (await account())[0]!.secret;
  const keys = [randomBytes(32), Buffer.alloc(32)] as const;
  const dry = await rotateKey(server.deps.database, keys, true);
  expect(dry.unreadable.some((each) => each.startsWith('provider_accounts.secret'))).toBe(true);
  const place = (secret: string) =>
    server.deps.database.inEngine(({ db }) => sql`update provider_accounts set secret = ${secret}`.execute(db));
  await place(`${before.slice(0, -8)}AAAAAAA=`);
  expect((await server.read()).data?.status).toBe('unreadable');
  expect((await search()).response.status).toBe(400);
  await place(before);
  expect((await search()).response.status).toBe(200);
});

test('a change is made of the edition that it was made for, and of two first ones one is first', async () => {
  const etag = (await server.save()).response.headers.get('ETag')!;
  expect((await server.save(testAccount, server.client, { 'If-Match': etag })).response.status).toBe(200);
  expect((await server.save(testAccount, server.client, { 'If-Match': etag })).response.status).toBe(412);
  expect((await server.forget()).data).toEqual({ id: 'twilio', deleted: true });
  const both = await Promise.all([server.save(), server.save()]);
  expect(both.map(({ response }) => response.headers.get('ETag')).toSorted()).toEqual(['"1"', '"2"']);
  const { rows } = await server.deps.database.inEngine(({ db }) =>
    sql<{ action: string }>`select action from audit_log where resource_type = 'provider' order by created_at`.execute(
      db,
    ),
  );
  expect(rows.map(({ action }) => action).slice(-3)).toEqual(['provider.deleted', 'provider.saved', 'provider.saved']);
});

test('another account takes no place while numbers of the one before are here, and each workspace has its own', async () => {
  await server.save();
  const bought = await server.buy('+14155550300');
  const other = { ...testAccount, accountId: `AC${'2'.repeat(32)}` };
  expect((await server.save(other)).error?.code).toBe('invalid_request');
  server.double.accounts.add(other.accountId);
  const refused = await server.save(other);
  expect([refused.response.status, refused.error?.code]).toEqual([409, 'provider_in_use']);
  expect(refused.error?.error).toContain('has 1 number of its account with twilio');
  const neighbour = await server.clientWith(['*'], 'Other');
  expect((await server.read(neighbour)).data?.status).toBe('no_account');
  expect((await server.save(testAccount, neighbour)).response.status).toBe(200);
  expect((await server.forget(neighbour)).response.status).toBe(200);
  await server.release(bought.data!.id);
  expect((await server.save(other)).data).toMatchObject({ accountId: other.accountId });
});

test('who may not, and what is no provider: 400, 401, 403, 404', async () => {
  const reader = await server.clientWith(['phone_numbers:read']);
  const nobody = server.clientOf('tl_test_0123456789012345678901234567890123456789012');
  const writer = await server.clientWith(['phone_numbers:write']);
  expect((await server.read(reader)).response.status).toBe(200);
  expect((await server.save(testAccount, reader)).response.status).toBe(403);
  expect((await server.forget(reader)).response.status).toBe(403);
  expect((await server.read(writer)).response.status).toBe(403);
  expect((await writer.GET('/v1/telephony/providers')).response.status).toBe(403);
  expect((await nobody.GET('/v1/telephony/providers')).response.status).toBe(401);
  expect((await server.read(nobody)).response.status).toBe(401);
  expect((await server.save(testAccount, nobody)).response.status).toBe(401);
  expect((await server.forget(nobody)).response.status).toBe(401);
  const at = (provider: 'simulator' | 'telnyx') => ({ params: { path: { provider } } });
  const [put, get, remove] = ['PUT', 'GET', 'DELETE'] as const;
  expect((await server.client[get]('/v1/telephony/providers/{provider}', at('telnyx'))).response.status).toBe(404);
  const body = { secret: 'x' };
  const telnyx = { ...at('telnyx'), body };
  expect((await server.client[put]('/v1/telephony/providers/{provider}', telnyx)).response.status).toBe(404);
  const simulator = { ...at('simulator'), body };
  expect((await server.client[put]('/v1/telephony/providers/{provider}', simulator)).response.status).toBe(400);
  expect((await server.client[remove]('/v1/telephony/providers/{provider}', at('simulator'))).response.status).toBe(
    404,
  );
  const query = { unknown: 'x' } as never;
  expect((await server.client.GET('/v1/telephony/providers', { params: { query } })).response.status).toBe(400);
  const odd = { params: { path: { provider: 'x' as 'twilio' } } };
  expect((await server.client[get]('/v1/telephony/providers/{provider}', odd)).response.status).toBe(400);
  expect((await server.client[remove]('/v1/telephony/providers/{provider}', odd)).response.status).toBe(400);
});
