import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { deleteOldIdempotencyKeys } from '../../../src/foundation/database/idempotency-keys.ts';
import { fromId, newUuid } from '../../../src/foundation/values/ids.ts';
import { reserveNumber } from '../../../src/lines/phone-numbers/reserve-number.ts';
import { startPhoneNumberTasks, takeUpDueNumbers } from '../../../src/lines/phone-numbers/tasks.ts';
import { NumberError, type ProviderNumber } from '../../../src/lines/telephony/number-market.ts';
import { until } from '../../until.ts';
import { type NumberServer, simulatedProvider, startNumberServer } from './number-server.ts';

const simulator = simulatedProvider();
/** What the provider does instead of its own, and what it was asked. */
let faults: {
  buy?: (key: string) => Promise<ProviderNumber>;
  lookup?: () => Promise<undefined>;
  search?: () => never;
} = {};
let asked: { buy: string[]; release: string[] } = { buy: [], release: [] };
const provider = {
  ...simulator,
  searchNumbers: async (search: Parameters<typeof simulator.searchNumbers>[0]) =>
    faults.search ? faults.search() : simulator.searchNumbers(search),
  buyNumber: async (purchase: Parameters<typeof simulator.buyNumber>[0]) => {
    asked.buy.push(purchase.phoneNumber);
    return faults.buy ? faults.buy(purchase.idempotencyKey) : simulator.buyNumber(purchase);
  },
  lookupNumberPurchase: async (key: string) => (faults.lookup ? faults.lookup() : simulator.lookupNumberPurchase(key)),
  releaseNumber: async (number: ProviderNumber) => {
    asked.release.push(number.phoneNumber);
    await simulator.releaseNumber(number);
  },
};

let server: NumberServer;
let workspaceId: string;
/** One that answers after 300 ms whatever the provider does. */
let hasty: NumberServer;

beforeAll(async () => {
  server = await startNumberServer({ provider });
  hasty = await startNumberServer({ provider, purchaseWaitMs: 300 });
  workspaceId = await workspaceOf(server);
});
afterAll(async () => {
  await server.stop();
  await hasty.stop();
});
beforeEach(() => {
  faults = {};
  asked = { buy: [], release: [] };
});

const path = '/v1/telephony/phone-numbers/buy';
let nextLine = 1000;
const freeNumber = () => `+1415555${nextLine++}`;
const buy = (phoneNumber: string, key?: string, on = server, client = on.client) =>
  client.POST(path, {
    body: { phoneNumber, provider: 'simulator' },
    ...(key && { params: { header: { 'Idempotency-Key': key } } }),
  });
const read = async (id: string, on = server) =>
  (await on.client.GET('/v1/telephony/phone-numbers/{id}', { params: { path: { id } } })).data;
const list = async (searchText: string, on = server) =>
  (await on.client.GET('/v1/telephony/phone-numbers', { params: { query: { searchText } } })).data!.items;
const boughtToday = async () => (await server.client.GET('/v1/workspace')).data!.data.usage.numbersBoughtToday;
const setLimit = (maxNumbersPerDay: number | null) =>
  server.client.PATCH('/v1/workspace', { body: { limits: { maxNumbersPerDay } } });
const lateBuyer = () => {
  let settle = (_answer: Promise<ProviderNumber>) => {};
  const answer = new Promise<ProviderNumber>((resolve) => {
    settle = resolve;
  });
  let ask = () => {};
  /** Resolves when the provider has been asked. */
  const asked = new Promise<void>((resolve) => {
    ask = resolve;
  });
  const buy = () => {
    ask();
    return answer;
  };
  return { buy, asked, settle };
};
async function workspaceOf(on: NumberServer) {
  const { rows } = await on.deps.database.inEngine((tx) =>
    sql<{ id: string }>`select id from workspaces order by created_at limit 1`.execute(tx.db),
  );
  return rows[0]!.id;
}

test('numbers for sale are those that nobody has', async () => {
  const search = (query: object) =>
    server.client.GET('/v1/telephony/available-phone-numbers', {
      params: { query: { provider: 'simulator', ...query } },
    });
  const found = (await search({ areaCode: '212', contains: '77' })).data!.items;
  expect(found.length).toBeGreaterThan(1);
  expect(found[0]).toMatchObject({ country: 'US', provider: 'simulator', monthlyCost: 1.15, currency: 'USD' });
  const { phoneNumber } = found[0]!;
  expect(phoneNumber).toMatch(/^\+1212555/);
  expect((await buy(phoneNumber)).response.status).toBe(201);
  const left = (await search({ areaCode: '212', contains: '77' })).data!.items;
  expect(left.map((number) => number.phoneNumber)).not.toContain(phoneNumber);
  expect((await search({ country: 'DE' })).data!.items[0]!.phoneNumber).toMatch(/^\+49/);
});

test('a provider that is not configured is refused with the names of those that are', async () => {
  const query = { provider: 'twilio' as const };
  const search = await server.client.GET('/v1/telephony/available-phone-numbers', { params: { query } });
  const purchase = await server.client.POST(path, { body: { phoneNumber: freeNumber(), provider: 'telnyx' } });
  for (const { response, error } of [search, purchase]) {
    expect([response.status, error?.code]).toEqual([400, 'invalid_request']);
    expect(error?.error).toContain('Configured providers: simulator.');
  }
});

test('a bought number is active, counted, recorded and in the audit log', async () => {
  const before = await boughtToday();
  const phoneNumber = freeNumber();
  const { data, response } = await buy(phoneNumber);
  expect(response.status).toBe(201);
  expect(data).toMatchObject({
    phoneNumber,
    country: 'US',
    status: 'active',
    provider: 'simulator',
    providerMonthlyCost: 1.15,
    providerCurrency: 'USD',
    isCustomerManaged: false,
    isInboundReady: false,
    isOutboundReady: false,
  });
  expect(data).not.toHaveProperty('sipConfig');
  expect(await read(data!.id)).toEqual(data);
  expect(await boughtToday()).toBe(before + 1);
  const { rows } = await server.deps.database.inEngine((tx) =>
    sql`select e.data, a.action from events e join audit_log a on a.resource_id = e.data->>'id'
        where e.resource_id = ${fromId(data!.id)}`.execute(tx.db),
  );
  expect(rows).toEqual([{ data, action: 'phone_number.bought' }]);
});

test('a refused purchase leaves nothing behind: 402, 409, 502', async () => {
  const before = await boughtToday();
  const refusals = [
    ['+14155550402', 402, 'payment_required'],
    ['+14155550409', 409, 'number_unavailable'],
    ['+14155550502', 502, 'provider_error'],
  ] as const;
  for (const [phoneNumber, status, code] of refusals) {
    const { response, error } = await buy(phoneNumber, 'refused');
    expect([response.status, error?.code]).toEqual([status, code]);
    expect(error?.error).not.toContain('simulated');
    expect(await list(phoneNumber)).toEqual([]);
  }
  expect(await boughtToday()).toBe(before);
  faults.buy = async () => {
    throw new NumberError('invalid', 'vendor says no');
  };
  expect((await buy(freeNumber(), 'refused')).error?.code).toBe('invalid_request');
});

test('an answer that got lost is looked up, and nothing is bought twice', async () => {
  const { data, response } = await buy('+14155550504');
  expect([response.status, data?.status]).toEqual([201, 'active']);
  expect(asked.buy).toHaveLength(1);
});

test('of several who buy one number at once one gets it, of one workspace or of two', async () => {
  const ours = freeNumber();
  const statuses = (await Promise.all(Array.from({ length: 8 }, () => buy(ours)))).map(
    ({ response }) => response.status,
  );
  expect(statuses.toSorted()).toEqual([201, ...Array(7).fill(409)]);
  const theirs = freeNumber();
  const other = await server.clientWith(['*'], 'Other');
  const two = await Promise.all([buy(theirs), buy(theirs, undefined, server, other)]);
  expect(two.map(({ response }) => response.status).toSorted()).toEqual([201, 409]);
  expect(two.find(({ error }) => error)?.error?.code).toBe('number_unavailable');
});

test('twenty equal requests at once with one key buy once', async () => {
  const before = await boughtToday();
  const phoneNumber = freeNumber();
  const answers = await Promise.all(Array.from({ length: 20 }, () => buy(phoneNumber, 'twenty')));
  expect(answers.map(({ response }) => response.status)).toEqual(Array(20).fill(201));
  expect(new Set(answers.map(({ data }) => data?.id)).size).toBe(1);
  expect(answers.filter(({ response }) => response.headers.get('Idempotent-Replayed') === 'true')).toHaveLength(19);
  expect(asked.buy).toEqual([phoneNumber]);
  expect(await boughtToday()).toBe(before + 1);
});

test('a key that named another request is refused, and each workspace has its own keys', async () => {
  await buy(freeNumber(), 'mine');
  const { response, error } = await buy(freeNumber(), 'mine');
  expect([response.status, error?.code]).toEqual([409, 'idempotency_key_reused']);
  expect(response.headers.get('x-should-retry')).toBe('false');
  const other = await server.clientWith(['*'], 'Other');
  expect((await buy(freeNumber(), 'mine', server, other)).response.status).toBe(201);
});

test('a key is kept for a day', async () => {
  const { data } = await buy(freeNumber(), 'daily');
  await deleteOldIdempotencyKeys(
    server.deps.database,
    new Date(server.clock.now().getTime() + 24 * 3_600_000 - 10_000),
  );
  expect((await buy(data!.phoneNumber, 'daily')).data?.id).toBe(data!.id);
  await deleteOldIdempotencyKeys(server.deps.database, new Date(server.clock.now().getTime() + 24 * 3_600_000 + 1));
  expect((await buy(freeNumber(), 'daily')).response.headers.get('Idempotent-Replayed')).toBeNull();
});

test('while the first of two equal requests waits for the provider the second is told so', async () => {
  const late = lateBuyer();
  faults.buy = late.buy;
  const phoneNumber = freeNumber();
  const first = buy(phoneNumber, 'slow');
  await late.asked;
  const { response, error } = await buy(phoneNumber, 'slow');
  expect([response.status, error?.code]).toEqual([409, 'idempotency_in_progress']);
  expect(response.headers.get('x-should-retry')).toBe('true');
  late.settle(Promise.resolve({ phoneNumber }));
  expect((await first).data?.status).toBe('active');
  expect((await buy(phoneNumber, 'slow')).data?.id).toBe((await first).data?.id);
});

test('a purchase that is not settled in time is provisioning, and then active by itself', async () => {
  const late = lateBuyer();
  faults.buy = late.buy;
  const phoneNumber = freeNumber();
  const { data, response } = await buy(phoneNumber, 'late', hasty);
  expect([response.status, data?.status]).toEqual([201, 'provisioning']);
  const again = await buy(phoneNumber, 'late', hasty);
  expect([again.response.status, again.data?.id, again.data?.status]).toEqual([201, data?.id, 'provisioning']);
  expect((await buy(phoneNumber, undefined, hasty)).error?.code).toBe('number_unavailable');
  late.settle(Promise.resolve({ phoneNumber, monthlyCost: 2, currency: 'EUR' }));
  await until(async () => (await read(data!.id, hasty))?.status === 'active');
  const settled = await read(data!.id, hasty);
  expect(settled).toMatchObject({ status: 'active', providerMonthlyCost: 2, providerCurrency: 'EUR' });
});

test('a purchase that is refused too late is failed, and the number can be had again', async () => {
  const late = lateBuyer();
  faults.buy = late.buy;
  const phoneNumber = freeNumber();
  const { data } = await buy(phoneNumber, undefined, hasty);
  late.settle(Promise.reject(new NumberError('billing', 'no')));
  await until(async () => (await read(data!.id, hasty))?.status === 'failed');
  faults = {};
  expect((await buy(phoneNumber, undefined, hasty)).data?.status).toBe('active');
  expect(await read(data!.id, hasty)).toBeUndefined();
  expect(await list(phoneNumber, hasty)).toHaveLength(1);
});

test('while the provider says nothing at all the number is provisioning, and a server settles it later', async () => {
  faults.buy = async (key) => {
    await simulator.buyNumber({ phoneNumber, idempotencyKey: key });
    throw new Error('socket hang up');
  };
  faults.lookup = async () => {
    throw new Error('ECONNREFUSED');
  };
  const phoneNumber = freeNumber();
  const { data } = await buy(phoneNumber, undefined, hasty);
  expect(data?.status).toBe('provisioning');
  hasty.clock.advance(60_000);
  await takeUpDueNumbers(hasty.deps);
  expect((await read(data!.id, hasty))?.status).toBe('provisioning');
  faults = {};
  hasty.clock.advance(61_000);
  const tasks = startPhoneNumberTasks(hasty.deps, 10);
  await until(async () => (await read(data!.id, hasty))?.status === 'active');
  const settled = await read(data!.id, hasty);
  await tasks.close();
  expect(settled?.status).toBe('active');
  expect(asked.buy).toHaveLength(1);
});

/** What a server leaves that dies after the reservation was committed. */
async function orphan(phoneNumber: string) {
  const now = server.clock.now();
  const id = newUuid();
  await server.deps.database.inWorkspace(workspaceId, (tx) =>
    reserveNumber(
      tx,
      { id, phoneNumber, provider: 'simulator', idempotencyKey: undefined, now, dueAt: now },
      server.deps.onReleased,
    ),
  );
  return id;
}
const publicId = (id: string) => `pn_${id.replaceAll('-', '')}`;

test('what a dead server had begun is taken up once, by one of several', async () => {
  const [bought, unheard, refused] = [freeNumber(), freeNumber(), '+14155560402'];
  const ids = [await orphan(bought), await orphan(unheard), await orphan(refused)];
  await simulator.buyNumber({ phoneNumber: bought, idempotencyKey: ids[0]! });
  const before = await boughtToday();
  const taken = await Promise.all(Array.from({ length: 4 }, () => takeUpDueNumbers(server.deps)));
  expect(taken.reduce((sum, count) => sum + count)).toBe(3);
  const statuses = await Promise.all(ids.map(async (id) => (await read(publicId(id)))?.status));
  expect(statuses).toEqual(['active', 'active', 'failed']);
  expect(asked.buy.toSorted()).toEqual([unheard, refused].toSorted());
  expect(await boughtToday()).toBe(before - 1);
});

test('a provider that fails for an hour has the purchase given up', async () => {
  const id = await orphan('+14155560502');
  await takeUpDueNumbers(server.deps);
  expect((await read(publicId(id)))?.status).toBe('provisioning');
  server.clock.advance(3_700_000);
  await takeUpDueNumbers(server.deps);
  expect((await read(publicId(id)))?.status).toBe('failed');
});

test('a number that is released while its purchase is under way is given back', async () => {
  const late = lateBuyer();
  faults.buy = late.buy;
  const remove = (id: string, on: NumberServer) =>
    on.client.DELETE('/v1/telephony/phone-numbers/{id}', { params: { path: { id } } });
  const phoneNumber = freeNumber();
  const { data } = await buy(phoneNumber, undefined, hasty);
  expect((await remove(data!.id, hasty)).response.status).toBe(200);
  late.settle(Promise.resolve({ phoneNumber }));
  await until(() => asked.release.length > 0);
  expect(asked.release).toEqual([phoneNumber]);
  expect(await read(data!.id, hasty)).toBeUndefined();

  const crashed = freeNumber();
  const id = await orphan(crashed);
  await simulator.buyNumber({ phoneNumber: crashed, idempotencyKey: id });
  expect((await remove(publicId(id), server)).response.status).toBe(200);
  await takeUpDueNumbers(server.deps);
  expect(asked.release).toEqual([phoneNumber, crashed]);
  server.clock.advance(120_000);
  await takeUpDueNumbers(server.deps);
  expect(asked.release).toHaveLength(2);
});

test('the daily limit holds at once and counts what was bought only', async () => {
  server.clock.advance(24 * 3_600_000);
  expect(await boughtToday()).toBe(0);
  await setLimit(3);
  expect((await buy('+14155550402')).response.status).toBe(402);
  const answers = await Promise.all(Array.from({ length: 8 }, () => buy(freeNumber())));
  expect(answers.filter(({ response }) => response.status === 201)).toHaveLength(3);
  for (const { error } of answers) if (error) expect(error.code).toBe('payment_required');
  expect(await boughtToday()).toBe(3);
  server.clock.advance(24 * 3_600_000);
  expect((await buy(freeNumber())).response.status).toBe(201);
  await setLimit(0);
  expect((await buy(freeNumber())).error?.code).toBe('payment_required');
  await setLimit(null);
});

test('what is not a request is refused: 400, 401, 403, 413, 415, and 502 for a provider that fails', async () => {
  for (const phoneNumber of ['4155551234', '+0', '']) expect((await buy(phoneNumber)).response.status).toBe(400);
  expect((await buy(freeNumber(), 'é'.repeat(2))).response.status).toBe(400);
  const stranger = server.clientOf('tl_test_0123456789012345678901234567890123456789012');
  const writer = await server.clientWith(['phone_numbers:write']);
  expect((await buy(freeNumber(), undefined, server, stranger)).response.status).toBe(401);
  expect((await buy(freeNumber(), undefined, server, writer)).response.status).toBe(403);
  const search = (client: typeof stranger, query: object = {}) =>
    client.GET('/v1/telephony/available-phone-numbers', { params: { query: { provider: 'simulator', ...query } } });
  expect((await search(stranger)).response.status).toBe(401);
  expect((await search(writer)).response.status).toBe(403);
  expect((await search(server.client, { country: 'usa' })).response.status).toBe(400);
  const send = (body: string, type: string) =>
    fetch(server.url + path, { method: 'POST', headers: { 'X-API-Key': server.apiKey, 'Content-Type': type }, body });
  expect((await send('{}', 'text/plain')).status).toBe(415);
  expect((await send(JSON.stringify({ phoneNumber: 'x'.repeat(3_000_000) }), 'application/json')).status).toBe(413);
  faults.search = () => {
    throw new NumberError('unavailable', 'vendor says no');
  };
  const failed = await search(server.client);
  expect([failed.response.status, failed.error?.code]).toEqual([502, 'provider_error']);
  expect(failed.error?.error).not.toContain('vendor');
});
