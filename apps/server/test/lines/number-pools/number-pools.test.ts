import type { components } from '@trunkline/client/schema';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fromId, newUuid, toId } from '../../../src/foundation/values/ids.ts';
import { seedCampaign } from '../../seed/campaign.ts';
import { seedMembers } from '../../seed/pool.ts';
import { insertRows } from '../../seed/rows.ts';
import { type NumberServer, simulatedProvider, startNumberServer } from '../phone-numbers/number-server.ts';

type CreateNumberPool = components['schemas']['CreateNumberPool'];

const simulator = simulatedProvider();
/** What becomes of the next questions to the provider. */
let faults: { lookup?: () => Promise<undefined>; probe?: () => Promise<never> } = {};
const provider = {
  ...simulator,
  lookupNumberPurchase: async (key: string) => (faults.lookup ? faults.lookup() : simulator.lookupNumberPurchase(key)),
  probeTrunk: async (...asked: Parameters<typeof simulator.probeTrunk>) =>
    faults.probe ? faults.probe() : simulator.probeTrunk(...asked),
};

let server: NumberServer;
let client: NumberServer['client'];
let stranger: NumberServer['client'];
let workspaceId: string;
beforeAll(async () => {
  server = await startNumberServer({ provider, trunkCheckMs: 1000 });
  client = server.client;
  stranger = await server.clientWith(['*'], 'Other');
  const { rows } = await server.deps.database.inEngine((tx) =>
    sql<{ id: string }>`select id from workspaces where name = 'Default'`.execute(tx.db),
  );
  workspaceId = rows[0]!.id;
});
afterAll(() => server.stop());

const pools = '/v1/number-pools';
const numbers = '/v1/telephony/phone-numbers';
let nextLine = 1000;
const freeNumber = () => `+1212555${nextLine++}`;
const at = (id: string) => ({ params: { path: { id } } });
const unknownPool = () => toId('pool', newUuid());
const unknownNumber = () => toId('pn', newUuid());

/** IDs of imported numbers, in ascending order. */
async function imported(count: number, terminationUrl = 'sip:ok.sim', of = client) {
  const phoneNumbers = Array.from({ length: count }, freeNumber);
  const { data } = await of.POST(`${numbers}/import/manual`, { body: { phoneNumbers, sipConfig: { terminationUrl } } });
  return data!.imported.map(({ id }) => id);
}
const bought = async () =>
  (await client.POST(`${numbers}/buy`, { body: { phoneNumber: freeNumber(), provider: 'simulator' } })).data!;
const send = (body: CreateNumberPool) => client.POST(pools, { body });
const made = async (phoneNumberIds: string[] = [], given: Partial<CreateNumberPool> = {}) =>
  (await send({ name: 'Pool', phoneNumberIds, ...given })).data!.data;
const patch = (id: string, body: object) => client.PATCH(`${pools}/{id}`, { ...at(id), body });
const remove = (id: string) => client.DELETE(`${pools}/{id}`, at(id));
const move = (id: string, phoneNumberId: string, targetPoolId: string | null) =>
  client.POST(`${pools}/{id}/members/move`, { ...at(id), body: { phoneNumberId, targetPoolId } });
const members = async (id: string, query: object = {}) =>
  (await client.GET(`${pools}/{id}/members`, { params: { path: { id }, query } })).data!.data;
const memberIds = async (id: string) =>
  (await members(id, { perPage: 100, order: 'asc' })).items.map((each) => each.id).sort();
const validate = async (id: string) => (await client.GET(`${pools}/{id}/validate-trunks`, at(id))).data!.data;
const count = async (id: string) => (await client.GET(`${pools}/{id}`, at(id))).data!.data.count;

describe('create, read and list', () => {
  test('a pool is made with its members, or with none', async () => {
    const ids = await imported(2);
    const given = {
      name: 'San Francisco',
      description: 'Local numbers',
      maxCallsPerNumberPerDay: 200,
      maxConcurrentPerNumber: 2,
    };
    const { data, response } = await send({ ...given, phoneNumberIds: ids });
    expect(response.status).toBe(201);
    const { id, createdAt } = data!.data;
    expect(data).toEqual({ success: true, data: { ...given, id, count: 2, createdAt, updatedAt: createdAt } });
    expect((await client.GET(`${pools}/{id}`, at(id))).data).toEqual(data);
    expect(await memberIds(id)).toEqual(ids.toSorted());

    const plain = (await send({ name: 'Empty' })).data!.data;
    expect(plain).toEqual({
      id: plain.id,
      name: 'Empty',
      count: 0,
      createdAt: plain.createdAt,
      updatedAt: plain.createdAt,
    });
  });

  test('of numbers that another pool holds, nothing is made', async () => {
    const [first, second] = await imported(2);
    const holder = await made([second!]);
    const before = (await client.GET(pools)).data!.data.totalCount;
    const { response, error } = await send({ name: 'Second', phoneNumberIds: [first!, second!] });
    expect(response.status).toBe(409);
    expect(error).toEqual({
      code: 'number_in_other_pool',
      error: `The pool ${holder.id} holds one of these numbers. Move it first.`,
      details: [{ path: '/body/phoneNumberIds/1', message: `is a member of the pool ${holder.id}` }],
    });
    const number = { params: { path: { id: second! } } };
    const shown = await client.GET('/v1/telephony/phone-numbers/{id}', number);
    expect(shown.data!.poolId).toBe(holder.id);
    expect((await client.GET(pools)).data!.data.totalCount).toBe(before);
    expect(await count((await made([first!])).id)).toBe(1);
  });

  test('a number that is unknown, released, or of another workspace is 404', async () => {
    const [mine, gone] = await imported(2);
    await client.DELETE(`${numbers}/{id}`, at(gone!));
    const [foreign] = await imported(1, undefined, stranger);
    for (const id of [unknownNumber(), gone!, foreign!]) {
      const { response, error } = await send({ name: 'x', phoneNumberIds: [mine!, id] });
      expect(response.status).toBe(404);
      expect(error).toMatchObject({ code: 'not_found', details: [{ path: '/body/phoneNumberIds/1' }] });
    }
  });

  test.each([
    ['no name', {}],
    ['an empty name', { name: '' }],
    ['a cap of none', { name: 'x', maxCallsPerNumberPerDay: 0 }],
    ['a number twice', { name: 'x', phoneNumberIds: Array(2).fill(toId('pn', newUuid())) }],
    ['an ID of another kind', { name: 'x', phoneNumberIds: [unknownPool()] }],
    ['a property that is unknown', { name: 'x', colour: 'red' }],
  ])('%s is 400', async (_what, body) => {
    expect((await send(body as never)).response.status).toBe(400);
  });

  test('pages are by time, and searched by name and description', async () => {
    const marker = `%_${newUuid()}`;
    const first = await made([], { name: `A ${marker}` });
    const second = await made([], { description: `about ${marker.toUpperCase()}` });
    const page = async (query: object) => (await client.GET(pools, { params: { query } })).data!.data;
    const newest = await page({ searchText: marker });
    expect(newest.items.map(({ id }) => id)).toEqual([second.id, first.id]);
    expect(newest).toMatchObject({ totalCount: 2, page: 1, perPage: 20, column: 'created_at', order: 'desc' });
    const oldest = await page({ searchText: marker, order: 'asc', perPage: 1, page: 2 });
    expect(oldest.items.map(({ id }) => id)).toEqual([second.id]);
    expect((await page({ searchText: '%' })).totalCount).toBe(2);
  });
});

describe('change', () => {
  test('what the body names is changed, null empties, the rest stays', async () => {
    const { id } = await made([], { description: 'd', maxCallsPerNumberPerDay: 5, maxConcurrentPerNumber: 6 });
    server.clock.advance(1000);
    const { data } = await patch(id, { name: 'New', description: null, maxCallsPerNumberPerDay: null });
    expect(data!.data).toMatchObject({ name: 'New', maxConcurrentPerNumber: 6 });
    expect(data!.data).not.toHaveProperty('description');
    expect(data!.data).not.toHaveProperty('maxCallsPerNumberPerDay');
    expect(Date.parse(data!.data.updatedAt)).toBeGreaterThan(Date.parse(data!.data.createdAt));
  });

  test('members are replaced, added and removed; what is so already changes nothing', async () => {
    const [a, b, c] = (await imported(3)) as [string, string, string];
    const { id } = await made([a, b]);
    expect((await patch(id, { phoneNumberIds: [b, c] })).data!.data.count).toBe(2);
    expect(await memberIds(id)).toEqual([b, c].sort());
    expect((await patch(id, { addPhoneNumberIds: [a, b], removePhoneNumberIds: [c] })).data!.data.count).toBe(2);
    expect(await memberIds(id)).toEqual([a, b].sort());
    expect((await patch(id, { addPhoneNumberIds: [a], removePhoneNumberIds: [c] })).data!.data.count).toBe(2);
    expect((await patch(id, { phoneNumberIds: [] })).data!.data.count).toBe(0);
  });

  test('where another pool holds a number, nothing is changed at all', async () => {
    const [a, b, c] = (await imported(3)) as [string, string, string];
    const other = await made([c]);
    const { id } = await made([a, b]);
    for (const field of ['phoneNumberIds', 'addPhoneNumberIds']) {
      const { response, error } = await patch(id, { name: 'Changed', [field]: [b, c] });
      expect(response.status).toBe(409);
      expect(error).toMatchObject({ code: 'number_in_other_pool', details: [{ path: `/body/${field}/1` }] });
    }
    expect((await client.GET(`${pools}/{id}`, at(id))).data!.data).toMatchObject({ name: 'Pool', count: 2 });
    expect(await memberIds(other.id)).toEqual([c]);
  });

  test('an unknown pool or number is 404', async () => {
    const { id } = await made();
    const [foreign] = await imported(1, undefined, stranger);
    expect((await patch(unknownPool(), { name: 'x' })).response.status).toBe(404);
    for (const field of ['phoneNumberIds', 'addPhoneNumberIds', 'removePhoneNumberIds']) {
      const { response, error } = await patch(id, { [field]: [foreign] });
      expect([response.status, error]).toMatchObject([404, { details: [{ path: `/body/${field}/0` }] }]);
    }
  });

  test('lists that contradict each other are 400', async () => {
    const [a] = (await imported(1)) as [string];
    const { id } = await made();
    const paths = async (body: object) => {
      const { response, error } = await patch(id, body);
      expect(response.status).toBe(400);
      return error!.details!.map(({ path }) => path);
    };
    expect(await paths({ phoneNumberIds: [a], addPhoneNumberIds: [a] })).toEqual(['/body/addPhoneNumberIds']);
    expect(await paths({ phoneNumberIds: [], removePhoneNumberIds: [a] })).toEqual(['/body/removePhoneNumberIds']);
    expect(await paths({ addPhoneNumberIds: [a], removePhoneNumberIds: [a] })).toEqual([
      '/body/removePhoneNumberIds/0',
    ]);
    expect(await count(id)).toBe(0);
  });

  test('the thousand-and-first member is refused, however it comes', async () => {
    const { id } = await made();
    await fill(id, 1000);
    expect(await count(id)).toBe(1000);
    const [one] = (await imported(1)) as [string];
    const full = { code: 'limit_reached', error: 'A pool has at most 1,000 members.' };
    const added = await patch(id, { addPhoneNumberIds: [one] });
    expect([added.response.status, added.error]).toEqual([409, full]);
    const other = await made([one]);
    const moved = await move(other.id, one, id);
    expect([moved.response.status, moved.error]).toEqual([409, full]);
    expect(await memberIds(other.id)).toEqual([one]);
  });

  test('of two pools that want the same numbers at once, one gets them', async () => {
    const ids = await imported(5);
    const wanting = await Promise.all(Array.from({ length: 4 }, () => made()));
    const answers = await Promise.all(
      wanting.map(({ id }, at) => patch(id, { phoneNumberIds: at % 2 ? ids : ids.toReversed() })),
    );
    expect(answers.map(({ response }) => response.status).sort()).toEqual([200, 409, 409, 409]);
    const counts = await Promise.all(wanting.map(({ id }) => count(id)));
    expect(counts.sort()).toEqual([0, 0, 0, 5]);
  });
});

/** Gives a pool members, straight in the database. */
async function fill(poolId: string, most: number) {
  const members = Array.from({ length: most }, (_, i) => ({ phone_number: `+1646${1_000_001 + i}` }));
  await seedMembers(server.deps.database, workspaceId, fromId(poolId), members);
}

describe('delete', () => {
  test('frees the numbers, and the pool is gone', async () => {
    const ids = await imported(2);
    const { id } = await made(ids);
    const { response, data } = await remove(id);
    expect([response.status, data]).toEqual([200, { success: true, data: { id, deleted: true } }]);
    expect((await client.GET(`${pools}/{id}`, at(id))).response.status).toBe(404);
    expect((await remove(id)).response.status).toBe(404);
    expect(await count((await made(ids)).id)).toBe(2);
  });

  test('is refused while an active campaign uses the pool', async () => {
    const { id } = await made();
    const { campaignId } = await seedCampaign(server.deps.database, {
      contacts: 0,
      workspaceId,
      campaign: { name: 'Reminders', phone_number_id: null, number_pool_id: fromId(id) },
    });
    for (const status of ['scheduled', 'running', 'paused']) {
      await setStatus(campaignId, status);
      const { response, error } = await remove(id);
      expect([response.status, error]).toEqual([
        409,
        {
          code: 'pool_in_use',
          error: 'The campaign "Reminders" uses this pool. Stop it first, or change its numbers.',
          details: [{ path: '/path/id', message: `is used by the campaign "Reminders" (${toId('cmp', campaignId)})` }],
        },
      ]);
    }
    await setStatus(campaignId, 'stopped');
    expect((await remove(id)).response.status).toBe(200);
  });
});

const setStatus = (campaignId: string, status: string) =>
  server.deps.database.inEngine(({ db }) =>
    sql`update campaigns set status = ${status} where id = ${campaignId}`.execute(db),
  );

describe('members', () => {
  test('are paged with their health, and searched', async () => {
    const [a, b] = (await imported(2)) as [string, string];
    await client.PATCH(`${numbers}/{id}`, { ...at(a), body: { label: 'Front desk', outboundAgentId: 'agent_x' } });
    const { id } = await made([a, b]);
    const page = await members(id);
    expect(page).toMatchObject({ totalCount: 2, page: 1, perPage: 20, column: 'created_at', order: 'desc' });
    const found = await members(id, { searchText: 'front' });
    expect(found.items).toHaveLength(1);
    expect(found.items[0]).toEqual({
      ...(await client.GET(`${numbers}/{id}`, at(a))).data,
      health: { attempts: 0, answered: 0, failed: 0 },
    });
    expect((await members(id, { perPage: 1, page: 2 })).items).toHaveLength(1);
  });

  test('their counts are those of the UTC day', async () => {
    const [a] = (await imported(1)) as [string];
    const { id } = await made([a]);
    const now = server.clock.now();
    const usage = (day: Date, cooling: Date) =>
      server.deps.database.inWorkspace(workspaceId, ({ db }) =>
        db
          .updateTable('number_usage')
          .set({ day: day.toISOString().slice(0, 10), attempts: 3, answered: 1, failed: 2 })
          .set({ last_used_at: now, cooling_until: cooling })
          .where('phone_number_id', '=', fromId(a))
          .execute(),
      );
    const health = async () => (await members(id)).items[0]!.health;
    const later = new Date(now.getTime() + 60_000);
    await usage(now, later);
    const lastUsedAt = now.toISOString();
    expect(await health()).toEqual({
      attempts: 3,
      answered: 1,
      failed: 2,
      lastUsedAt,
      coolingUntil: later.toISOString(),
      reason: 'cooling',
    });
    await usage(now, now);
    await client.PATCH(`${pools}/{id}`, { ...at(id), body: { maxCallsPerNumberPerDay: 3 } });
    expect((await health()).reason).toBe('limit_reached');
    await usage(new Date(now.getTime() - 86_400_000), new Date(now.getTime() - 1));
    expect(await health()).toEqual({ attempts: 0, answered: 0, failed: 0, lastUsedAt });
    await client.PATCH(`${pools}/{id}`, { ...at(id), body: { maxConcurrentPerNumber: 1 } });
    const up = { workspace_id: workspaceId, phone_number_id: fromId(a), to_number: 1 };
    await server.deps.database.inEngine((tx) => insertRows(tx.db, 'calls', [up]));
    expect((await health()).reason).toBe('limit_reached');
  });

  test('of another workspace and of an unknown pool are 404', async () => {
    const { id } = await made();
    for (const [of, pool] of [
      [client, unknownPool()],
      [stranger, id],
    ] as const) {
      const answers = await Promise.all([
        of.GET(`${pools}/{id}`, at(pool)),
        of.PATCH(`${pools}/{id}`, { ...at(pool), body: { name: 'x' } }),
        of.DELETE(`${pools}/{id}`, at(pool)),
        of.GET(`${pools}/{id}/members`, at(pool)),
        of.GET(`${pools}/{id}/validate-trunks`, at(pool)),
        of.POST(`${pools}/{id}/members/move`, {
          ...at(pool),
          body: { phoneNumberId: unknownNumber(), targetPoolId: null },
        }),
      ]);
      expect(new Set(answers.map(({ response }) => response.status))).toEqual(new Set([404]));
      expect(new Set(answers.map(({ error }) => JSON.stringify(error)))).toHaveLength(1);
    }
  });

  test('a released number has left its pool; the same number imported anew is in none', async () => {
    const [a] = (await imported(1)) as [string];
    const { id } = await made([a]);
    const { phoneNumber } = (await client.GET(`${numbers}/{id}`, at(a))).data!;
    expect((await client.DELETE(`${numbers}/{id}`, at(a))).response.status).toBe(200);
    expect(await count(id)).toBe(0);
    const body = { phoneNumbers: [phoneNumber], sipConfig: { terminationUrl: 'ok.sim' } };
    await client.POST(`${numbers}/import/manual`, { body });
    expect((await members(id)).totalCount).toBe(0);
  });
});

describe('move', () => {
  test('takes a number to another pool or out of any, and answers it', async () => {
    const [a] = (await imported(1)) as [string];
    const [from, to] = [await made([a]), await made()];
    const { response, data } = await move(from.id, a, to.id);
    expect(response.status).toBe(200);
    expect(data).toEqual({ success: true, data: (await client.GET(`${numbers}/{id}`, at(a))).data });
    expect([await count(from.id), await count(to.id)]).toEqual([0, 1]);
    expect((await move(to.id, a, to.id)).response.status).toBe(200);
    expect(await count(to.id)).toBe(1);
    expect((await move(to.id, a, null)).response.status).toBe(200);
    expect(await count(to.id)).toBe(0);
  });

  test('changes the pool that the number joins, so that runs which wait for one are looked at again', async () => {
    const [a] = (await imported(1)) as [string];
    const [from, to] = [await made([a]), await made()];
    server.clock.advance(1000);
    await move(from.id, a, to.id);
    const { updatedAt } = (await client.GET(`${pools}/{id}`, at(to.id))).data!.data;
    expect(Date.parse(updatedAt)).toBeGreaterThan(Date.parse(to.updatedAt));
  });

  test('keeps what the number has done today', async () => {
    const [a] = (await imported(1)) as [string];
    const [from, to] = [await made([a]), await made()];
    await server.deps.database.inWorkspace(workspaceId, ({ db }) =>
      sql`update number_usage set attempts = 7, day = ${server.clock.now().toISOString().slice(0, 10)}
        where phone_number_id = ${fromId(a)}`.execute(db),
    );
    await move(from.id, a, null);
    await patch(to.id, { addPhoneNumberIds: [a] });
    expect((await members(to.id)).items[0]!.health.attempts).toBe(7);
  });

  test('is refused for a number that is no member', async () => {
    const [a, b] = (await imported(2)) as [string, string];
    const [first, second] = [await made([a]), await made()];
    const refused = { code: 'not_a_member', error: 'This number is not a member of the pool.' };
    for (const [pool, number, target] of [
      [second.id, a, first.id],
      [second.id, a, null],
      [first.id, b, null],
      [first.id, b, first.id],
    ] as const) {
      const { response, error } = await move(pool, number, target);
      expect([response.status, error]).toEqual([409, refused]);
    }
    expect(await count(first.id)).toBe(1);
  });

  test('to an unknown pool, or of an unknown number, is 404; without a target it is 400', async () => {
    const [a] = (await imported(1)) as [string];
    const [foreign] = (await imported(1, undefined, stranger)) as [string];
    const { id } = await made([a]);
    const pathOf = async (number: string, target: string | null) => {
      const { response, error } = await move(id, number, target);
      return [response.status, error!.details![0]!.path];
    };
    expect(await pathOf(a, unknownPool())).toEqual([404, '/body/targetPoolId']);
    expect(await pathOf(foreign, null)).toEqual([404, '/body/phoneNumberId']);
    const body = { phoneNumberId: a } as never;
    expect((await client.POST(`${pools}/{id}/members/move`, { ...at(id), body })).response.status).toBe(400);
    expect(await count(id)).toBe(1);
  });

  test('two movers of one number never both win', async () => {
    const source = await made();
    const targets = await Promise.all(Array.from({ length: 6 }, () => made()));
    for (let round = 0; round < 5; round += 1) {
      const [a] = (await imported(1)) as [string];
      await patch(source.id, { addPhoneNumberIds: [a] });
      const answers = await Promise.all(targets.map(({ id }) => move(source.id, a, id)));
      const statuses = answers.map(({ response }) => response.status);
      expect(statuses.toSorted()).toEqual([200, 409, 409, 409, 409, 409]);
      const winner = targets[statuses.indexOf(200)]!.id;
      const counts = await Promise.all(targets.map(({ id }) => memberIds(id)));
      expect(counts.filter((ids) => ids.includes(a))).toHaveLength(1);
      expect(await memberIds(winner)).toContain(a);
    }
  });

  test('pools that swap numbers at once do not stand in each other’s way', async () => {
    const ids = await imported(4);
    const [left, right] = [await made(ids.slice(0, 2)), await made(ids.slice(2))];
    const answers = await Promise.all([
      ...ids.slice(0, 2).map((id) => move(left.id, id, right.id)),
      ...ids.slice(2).map((id) => move(right.id, id, left.id)),
    ]);
    expect(answers.map(({ response }) => response.status)).toEqual([200, 200, 200, 200]);
    expect(await memberIds(left.id)).toEqual(ids.slice(2).sort());
  });
});

describe('validate-trunks', () => {
  test('says of every member whether it is ready, and why not', async () => {
    const hosts = ['ok.sim', 'auth.sim', 'dead.sim', 'tls.sim'];
    const ids: string[] = [];
    for (const host of hosts) ids.push(...(await imported(1, `sip:${host}:5061`)));
    const owned = await bought();
    const { id } = await made([...ids, owned.id]);
    await server.deps.database.inWorkspace(workspaceId, ({ db }) =>
      sql`update trunks set status = 'paused', reason = 'unchecked'
        where id in (select trunk_id from phone_numbers where id = any(${ids.map(fromId)}::uuid[]))`.execute(db),
    );
    const all = await members(id, { order: 'asc' });
    const [ok, auth, dead, tls] = ids.map((each) => all.items.find((item) => item.id === each)!.phoneNumber);
    const found = await validate(id);
    expect(found).toEqual({
      valid: 2,
      invalid: 3,
      invalidNumbers: [auth, dead, tls],
      details: [
        { phoneNumber: ok, valid: true, rttMs: 5 },
        { phoneNumber: auth, valid: false, reason: 'The trunk rejected the username or password.', rttMs: 5 },
        { phoneNumber: dead, valid: false, reason: 'The trunk did not answer.' },
        { phoneNumber: tls, valid: false, reason: 'No TLS connection to the trunk could be made.' },
        { phoneNumber: owned.phoneNumber, valid: true, rttMs: expect.any(Number) },
      ],
    });
    const { rows } = await server.deps.database.inWorkspace(workspaceId, ({ db }) =>
      sql<{ trunk_valid: boolean }>`
        select t.status = 'active' as trunk_valid from phone_numbers n join trunks t on t.id = n.trunk_id
        where n.id = any(${ids.map(fromId)}::uuid[]) order by n.created_at, n.id`.execute(db),
    );
    // It only asks.
    expect(rows.map((row) => row.trunk_valid)).toEqual([false, false, false, false]);
  });

  test('an empty pool answers zeros', async () => {
    expect(await validate((await made()).id)).toEqual({ valid: 0, invalid: 0, invalidNumbers: [], details: [] });
  });

  test('a silent trunk and a provider that is away are invalid, and what was known of them stays', async () => {
    const [a] = (await imported(1)) as [string];
    const owned = await bought();
    const { id } = await made([a, owned.id]);
    faults = { probe: () => new Promise(() => undefined), lookup: () => new Promise(() => undefined) };
    const found = await validate(id);
    faults = {};
    expect(found.details.map(({ reason }) => reason)).toEqual([
      'The trunk did not answer within 1 seconds.',
      'The provider simulator did not answer within 1 seconds, or failed.',
    ]);
    expect(found).toMatchObject({ valid: 0, invalid: 2 });
    expect((await validate(id)).valid).toBe(2);
  });

  test('a number that its provider has taken back, and one that is suspended, are invalid', async () => {
    const [lost, suspended] = [await bought(), await bought()];
    const { id } = await made([lost.id, suspended.id]);
    await simulator.releaseNumber({ phoneNumber: lost.phoneNumber });
    await server.deps.database.inWorkspace(workspaceId, ({ db }) =>
      sql`update phone_numbers set status = 'suspended' where id = ${fromId(suspended.id)}`.execute(db),
    );
    expect((await validate(id)).details).toEqual([
      {
        phoneNumber: lost.phoneNumber,
        valid: false,
        reason: 'The provider simulator does not hold this number for us.',
      },
      { phoneNumber: suspended.phoneNumber, valid: false, reason: 'The number is suspended.' },
    ]);
  });
});
