import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newUuid, toId } from '../../../src/foundation/values/ids.ts';
import { seedList } from '../../seed/list.ts';
import { type SeededMember, seedPool } from '../../seed/pool.ts';
import { startTestServer } from '../../server.ts';
import { until } from '../../until.ts';
import { type CampaignServer, fromNumber, params, startCampaignServer } from './campaign-server.ts';

let under: CampaignServer;
let client: CampaignServer['client'];
beforeAll(async () => {
  under = await startCampaignServer();
  ({ client } = under);
});
afterAll(() => under.stop());

const campaigns = '/v1/calls/campaigns';
let nextNumber = 2000;
/** A pool of the workspace's, whose members can call unless said otherwise. */
async function pool(count: number, given: SeededMember = {}) {
  const members = Array.from({ length: count }, () => ({ phone_number: `+1212555${nextNumber++}`, ...given }));
  const { poolId, memberIds } = await seedPool(under.database, under.workspaceId, members);
  return { id: toId('pool', poolId), memberIds, numbers: members.map((member) => member.phone_number) };
}
async function draft(numberPoolId: string) {
  const { fromNumber: _, ...body } = under.draft();
  const { data, error } = await client.POST(campaigns, { body: { ...body, numberPoolId } });
  if (!data) throw new Error(JSON.stringify(error));
  return data.data;
}
const update = (id: string, body: object) => client.PATCH(`${campaigns}/{id}`, { ...params(id), body });
const preview = async (id: string) => (await client.POST(`${campaigns}/{id}/preview`, params(id))).data!.data;
const cool = (memberIds: string[], until: Date | null) =>
  under.database.inEngine(({ db }) =>
    sql`update number_usage set cooling_until = ${until} where phone_number_id = any(${memberIds}::uuid[])`.execute(db),
  );

describe('a campaign with a pool', () => {
  test('is created, and changed from a number to a pool and back', async () => {
    const { id: numberPoolId } = await pool(1);
    const made = await draft(numberPoolId);
    expect(made).toMatchObject({ numberPoolId, status: 'draft' });
    expect(made).not.toHaveProperty('fromNumber');
    const back = (await update(made.id, { fromNumber })).data!.data;
    expect(back.fromNumber).toBe(fromNumber);
    expect(back).not.toHaveProperty('numberPoolId');
    const again = (await update(made.id, { numberPoolId })).data!.data;
    expect(again).toMatchObject({ numberPoolId });
    expect(again).not.toHaveProperty('fromNumber');
  });

  test('of another workspace’s pool is 404, as of one that never was', async () => {
    const { id: numberPoolId } = await pool(1);
    const other = await under.clientOf('Other', ['*']);
    const list = await seedList(under.database, await workspaceOf('Other'), [{ phone_number: 14155550101 }]);
    const body = { name: 'x', agentId: 'a', lists: [{ id: toId('list', list), role: 'contacts' as const }] };
    const answers = await Promise.all([
      other.POST(campaigns, { body: { ...body, numberPoolId } }),
      other.POST(campaigns, { body: { ...body, numberPoolId: toId('pool', newUuid()) } }),
    ]);
    expect(answers.map(({ response }) => response.status)).toEqual([404, 404]);
    expect(answers[0]!.error).toEqual(answers[1]!.error);
    expect(answers[0]!.error).toMatchObject({ details: [{ path: '/body/numberPoolId' }] });
  });

  const workspaceOf = async (name: string) => {
    const { rows } = await under.database.inEngine(({ db }) =>
      sql<{ id: string }>`select id from workspaces where name = ${name}`.execute(db),
    );
    return rows[0]!.id;
  };

  test.each([
    ['nobody in its pool', () => pool(0)],
    ['only failed trunks', () => pool(2, { trunk: { status: 'paused', reason: 'unreachable' } })],
  ])('does not start with %s', async (_, make) => {
    const { id } = await draft((await make()).id);
    const { response, error } = await under.act(id, 'start');
    expect([response.status, error]).toEqual([
      409,
      {
        code: 'campaign_not_startable',
        error: 'No number of the pool "Pool" can place calls. Add one, or validate its trunks to see why.',
      },
    ]);
    expect((await preview(id)).leftOut).toMatchObject({ no_caller_id: 1 });
  });

  test('keeps its pool from being deleted while it is active, and does not start without one', async () => {
    const { id: poolId } = await pool(1);
    const [first, second] = [await draft(poolId), await draft(poolId)];
    expect((await under.act(first.id, 'start')).response.status).toBe(200);
    const remove = () => client.DELETE('/v1/number-pools/{id}', params(poolId));
    expect((await remove()).error).toMatchObject({ code: 'pool_in_use' });
    await under.act(first.id, 'stop');
    expect((await remove()).response.status).toBe(200);
    expect((await under.act(second.id, 'start')).error).toEqual({
      code: 'campaign_not_startable',
      error: 'The number pool was deleted. Give the campaign another one, or a number.',
    });
  });

  test('of a start and a deletion at once, one goes first', async () => {
    for (let round = 0; round < 8; round += 1) {
      const { id: poolId } = await pool(1);
      const { id } = await draft(poolId);
      const [started, removed] = await Promise.all([
        under.act(id, 'start'),
        client.DELETE('/v1/number-pools/{id}', params(poolId)),
      ]);
      expect([200, 409]).toContain(started.response.status);
      expect(removed.response.status).toBe(started.response.status === 200 ? 409 : 200);
    }
  });

  test('previews the numbers that would call, in turn', async () => {
    const members = await pool(2);
    const { id } = await draft(members.id);
    await under.database.inEngine(({ db }) => sql`update workspaces set dialing_paused_at = null`.execute(db));
    const both = await preview(id);
    expect(both.callable).toBe(1);
    const called = both.sample.filter((contact) => contact.fromNumber !== undefined);
    expect(called.map((contact) => members.numbers.includes(contact.fromNumber!))).toEqual([true]);
    await under.database.inEngine(({ db }) =>
      sql`update phone_numbers set allowed_outbound_countries = '{DE}' where id = any(${members.memberIds}::uuid[])`.execute(
        db,
      ),
    );
    expect(await preview(id)).toMatchObject({ callable: 0, leftOut: { country_not_allowed: 1 } });
    await under.database.inEngine(({ db }) => sql`update workspaces set dialing_paused_at = now()`.execute(db));
  });

  test('tells of its contacts that nobody can call them while all numbers cool', async () => {
    const members = await pool(2);
    const { id } = await draft(members.id);
    await under.act(id, 'start');
    const reasons = async (query: object = {}) => {
      const { data } = await client.GET(`${campaigns}/{id}/contacts`, { params: { path: { id }, query } });
      return data!.data.items.map(({ reason }) => reason);
    };
    await until(async () => (await reasons()).length === 2);
    expect(await reasons()).toEqual(['dialing_paused', 'dialing_paused']);
    await cool(members.memberIds, new Date(Date.now() + 60_000));
    await under.database.inEngine(({ db }) => sql`update workspaces set dialing_paused_at = null`.execute(db));
    expect(await reasons()).toEqual(['no_caller_id', 'no_caller_id']);
    expect(await reasons({ reason: 'no_caller_id' })).toHaveLength(2);
    await cool(members.memberIds.slice(1), null);
    expect(await reasons()).not.toContain('no_caller_id');
    expect(await reasons({ reason: 'no_caller_id' })).toEqual([]);
    await under.act(id, 'stop');
    await under.database.inEngine(({ db }) => sql`update workspaces set dialing_paused_at = now()`.execute(db));
  });
});

test('through the whole server: of a pool of five with a dead trunk four call, and the fifth is explained', async () => {
  const server = await startTestServer({ config: { simulatorSpeed: 10_000 } });
  const numbers = '/v1/telephony/phone-numbers';
  const imported = async (phoneNumbers: string[], terminationUrl: string) => {
    const body = { phoneNumbers, sipConfig: { terminationUrl } };
    return (await server.client.POST(`${numbers}/import/manual`, { body })).data!.imported.map(({ id }) => id);
  };
  const quick = { terminationUrl: 'sip:ok.sim', callsPerSecond: 1000 };
  await server.client.POST('/v1/telephony/trunks', { body: quick });
  const sound = await imported(['+12125553001', '+12125553002', '+12125553003', '+12125553004'], 'sip:ok.sim');
  const [dead] = await imported(['+12125553005'], 'sip:dead.sim');
  const pools = '/v1/number-pools';
  // Calls that a busy machine places too late go back, and are placed from the next number: only a cap shares them evenly.
  const caps = { maxCallsPerNumberPerDay: 5 };
  const five = { name: 'Five', phoneNumberIds: [...sound, dead!], ...caps };
  const { data } = await server.client.POST(pools, { body: five });
  const poolId = data!.data.id;
  const { rows } = await server.database.inEngine(({ db }) =>
    sql<{ id: string }>`select id from workspaces`.execute(db),
  );
  const people = Array.from({ length: 20 }, (_, at) => ({ phone_number: 14155560000 + at }));
  const list = toId('list', await seedList(server.database, rows[0]!.id, people));
  const body = { name: 'x', agentId: 'a', numberPoolId: poolId, lists: [{ id: list, role: 'contacts' as const }] };
  const { id } = (await server.client.POST(campaigns, { body })).data!.data;
  await server.client.POST(`${campaigns}/{id}/start`, params(id));
  await until(async () => (await server.client.GET(`${campaigns}/{id}`, params(id))).data!.data.status === 'completed');
  const members = (await server.client.GET(`${pools}/{id}/members`, params(poolId))).data!.data.items;
  const attempts = Object.fromEntries(members.map((member) => [member.phoneNumber, member.health.attempts]));
  expect(attempts).toEqual({
    '+12125553001': 5,
    '+12125553002': 5,
    '+12125553003': 5,
    '+12125553004': 5,
    '+12125553005': 0,
  });
  expect((await server.client.GET(`${pools}/{id}/validate-trunks`, params(poolId))).data!.data).toMatchObject({
    valid: 4,
    invalid: 1,
    invalidNumbers: ['+12125553005'],
    details: expect.arrayContaining([
      { phoneNumber: '+12125553005', valid: false, reason: 'The trunk did not answer.' },
    ]),
  });
  await server.stop();
});

test('a number of a pool is released, also while a campaign calls from the pool, but not while a call is up', async () => {
  const server = await startTestServer({ config: { simulatorSpeed: 1 } });
  const numbers = '/v1/telephony/phone-numbers';
  const { data } = await server.client.POST(`${numbers}/import/manual`, {
    body: { phoneNumbers: ['+12125553101', '+12125553102'], sipConfig: { terminationUrl: 'ok.sim' } },
  });
  const phoneNumberIds = data!.imported.map(({ id }) => id);
  const made = await server.client.POST('/v1/number-pools', { body: { name: 'Two', phoneNumberIds } });
  const poolId = made.data!.data.id;
  const { rows } = await server.database.inEngine(({ db }) =>
    sql<{ id: string }>`select id from workspaces`.execute(db),
  );
  // It talks for a week.
  const list = toId('list', await seedList(server.database, rows[0]!.id, [{ phone_number: 14155550102 }]));
  const body = { name: 'x', agentId: 'a', numberPoolId: poolId, lists: [{ id: list, role: 'contacts' as const }] };
  const { id } = (await server.client.POST(campaigns, { body })).data!.data;
  await server.client.POST(`${campaigns}/{id}/start`, params(id));
  const calls = async () => (await server.client.GET('/v1/calls', { params: { query: {} } })).data!.items;
  await until(async () => (await calls()).some((call) => call.status !== 'queued'));
  const { phoneNumberId = '', roomId } = (await calls())[0]!;
  const release = (number: string) => server.client.DELETE(`${numbers}/{id}`, params(number));
  expect((await release(phoneNumberId)).error).toEqual({
    code: 'number_in_use',
    error: 'A call with this number is up. Wait until it has ended, or end it.',
  });
  const count = async () => (await server.client.GET('/v1/number-pools/{id}', params(poolId))).data!.data.count;
  expect(await count()).toBe(2);
  const idle = phoneNumberIds.find((number) => number !== phoneNumberId)!;
  expect((await release(idle)).response.status).toBe(200);
  expect(await count()).toBe(1);
  await server.client.POST('/v1/calls/{roomId}/end', { params: { path: { roomId } } });
  await until(async () => (await release(phoneNumberId)).response.status === 200);
  expect(await count()).toBe(0);
  await server.stop();
});
