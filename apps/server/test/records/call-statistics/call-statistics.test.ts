import type { paths } from '@trunkline/client/schema';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newUuid, toId } from '../../../src/foundation/values/ids.ts';
import { chances } from '../../chances.ts';
import { seedRow, seedRows } from '../../seed/rows.ts';
import { startTestServer, type TestServer } from '../../server.ts';

type Query = NonNullable<paths['/v1/calls/stats']['get']['parameters']['query']>;

let server: TestServer;
const [campaign, batch, number] = [newUuid(), newUuid(), newUuid()];

beforeAll(async () => {
  server = await startTestServer();
  const { database } = server;
  const { id } = await database.inEngine(({ db }) =>
    db.selectFrom('workspaces').select('id').executeTakeFirstOrThrow(),
  );
  const of = { workspace_id: id };
  await seedRow(database, 'phone_numbers', { ...of, id: number, phone_number: '+14155550100' });
  await database.inEngine(({ db }) =>
    sql`insert into batches (workspace_id, id, rejected, rejected_count) values (${id}, ${batch}, '[]', 0)`.execute(db),
  );
  const at = (time: string, more = 0) => new Date(Date.parse(`2026-03-${time}Z`) + more * 1000);
  const answered = (time: string, seconds: number) =>
    ({
      status: 'completed',
      outcome: 'answered',
      queued_at: at(time),
      answered_at: at(time, 5),
      ended_at: at(time, 5 + seconds),
    }) as const;
  const busy = (time: string) =>
    ({ status: 'failed', outcome: 'busy', queued_at: at(time), ended_at: at(time, 1) }) as const;
  const cost = (amount: number, currency: string) => ({ cost: { amount, currency } });
  const calls = [
    {
      ...answered('10T23:30:00', 60.001),
      agent_id: 'anna',
      campaign_id: campaign,
      result: { converted: true, ...cost(0.1, 'USD') },
    },
    {
      ...busy('10T23:59:59'),
      agent_id: 'anna',
      campaign_id: campaign,
      phone_number_id: number,
      result: cost(0.2, 'USD'),
    },
    {
      ...answered('11T00:00:00', 30.502),
      agent_id: 'anna',
      campaign_id: batch,
      result: { converted: false, ...cost(7e-8, 'EUR') },
    },
    { ...busy('11T09:30:00'), agent_id: null, direction: 'inbound' },
    { status: 'dialing', queued_at: at('12T10:00:00'), agent_id: 'bert' },
  ].map((row, index) => ({ ...of, to_number: 14155550100 + index, ...row }));
  const other = await seedRow(database, 'workspaces');
  const theirs = { ...busy('11T09:30:00'), workspace_id: other.id, to_number: 14155550100 };
  await seedRows(database, 'calls', [...calls, theirs] as never[]);
});
afterAll(() => server.stop());

const span = { from: '2026-03-10T00:00:00Z', to: '2026-03-13T00:00:00Z' };
async function figures(query: Query) {
  const { data, error } = await server.client.GET('/v1/calls/stats', { params: { query: { ...span, ...query } } });
  if (!data) throw new Error(JSON.stringify(error));
  return data;
}
const briefly = ({ items }: Awaited<ReturnType<typeof figures>>) =>
  items.map(({ figures: { calls }, ...about }) => [Object.values(about).join(' '), calls]);

test('counts by day, with what came of the calls', async () => {
  const found = await figures({});
  expect(found).toMatchObject({
    from: '2026-03-10T00:00:00.000Z',
    to: '2026-03-13T00:00:00.000Z',
    timezone: 'UTC',
    groupBy: 'day',
  });
  expect(found.items[0]).toEqual({
    startsAt: '2026-03-10T00:00:00.000Z',
    endsAt: '2026-03-11T00:00:00.000Z',
    figures: {
      calls: 2,
      ended: 2,
      outcomes: { answered: 1, busy: 1 },
      answerRate: 0.5,
      talkSeconds: 60.001,
      conversions: 1,
      costs: [{ amount: 0.3, currency: 'USD' }],
    },
  });
  expect(found.items.at(-1)!.figures).toEqual({
    calls: 1,
    ended: 0,
    outcomes: {},
    talkSeconds: 0,
    conversions: 0,
    costs: [],
  });
  expect(found.total).toEqual({
    calls: 5,
    ended: 4,
    outcomes: { answered: 2, busy: 2 },
    answerRate: 0.5,
    talkSeconds: 90.503,
    conversions: 1,
    costs: [
      { amount: 7e-8, currency: 'EUR' },
      { amount: 0.3, currency: 'USD' },
    ],
  });
});

test('rates have four decimal places, as those of campaigns', async () => {
  expect((await figures({ agentId: 'anna' })).total.answerRate).toBe(0.6667);
});

test('seconds and costs are the sums of those that the calls themselves tell', async () => {
  const { database } = server;
  const { workspace_id } = await database.inEngine(({ db }) =>
    db.selectFrom('phone_numbers').select('workspace_id').executeTakeFirstOrThrow(),
  );
  const random = chances(22);
  const queued = Date.parse('2026-04-01T10:00:00Z');
  const rows = Array.from({ length: 100 }, (_, i) => {
    const answered = queued + Math.floor(random() * 30_000);
    const amount = Math.round(random() * 1000) / 1000;
    return {
      workspace_id,
      to_number: 14155550000 + i,
      agent_id: 'carl',
      status: 'completed' as const,
      outcome: 'answered' as const,
      queued_at: new Date(queued),
      answered_at: new Date(answered),
      ended_at: new Date(answered + Math.floor(random() * 300_000) - 1000),
      result: { cost: { amount, currency: ['USD', 'EUR', 'JPY'][i % 3]! }, recordedAt: '2026-04-01T10:10:00.000Z' },
    };
  });
  await seedRows(database, 'calls', rows as never[]);
  const query = { from: '2026-04-01T00:00:00Z', to: '2026-04-02T00:00:00Z', agentId: 'carl' };
  const { total, items } = await figures(query);
  const { data } = await server.client.GET('/v1/calls', { params: { query: { agentId: 'carl', perPage: 100 } } });
  const calls = data!.items;
  expect(calls).toHaveLength(100);
  const thousandths = (of: (call: (typeof calls)[number]) => number) =>
    calls.reduce((sum, call) => sum + Math.round(of(call) * 1000), 0) / 1000;
  expect(total.talkSeconds).toBe(thousandths((call) => call.durationSeconds!));
  const ofCurrency = (currency: string) =>
    thousandths(({ result }) => (result!.cost!.currency === currency ? result!.cost!.amount : 0));
  expect(total.costs).toEqual(['EUR', 'JPY', 'USD'].map((currency) => ({ amount: ofCurrency(currency), currency })));
  expect(items[0]!.figures).toEqual(total);
});

test('counts by the days and hours of a time zone', async () => {
  expect(briefly(await figures({ timezone: 'America/New_York' }))).toEqual([
    ['2026-03-10T04:00:00.000Z 2026-03-11T04:00:00.000Z', 3],
    ['2026-03-11T04:00:00.000Z 2026-03-12T04:00:00.000Z', 1],
    ['2026-03-12T04:00:00.000Z 2026-03-13T04:00:00.000Z', 1],
  ]);
  expect(briefly(await figures({ groupBy: 'hour', timezone: 'asia/kolkata' }))).toEqual([
    ['2026-03-10T23:30:00.000Z 2026-03-11T00:30:00.000Z', 3],
    ['2026-03-11T09:30:00.000Z 2026-03-11T10:30:00.000Z', 1],
    ['2026-03-12T09:30:00.000Z 2026-03-12T10:30:00.000Z', 1],
  ]);
});

test('counts by agent, number and campaign, those with most calls first', async () => {
  expect(briefly(await figures({ groupBy: 'agent' }))).toEqual([['anna', 3], expect.anything(), expect.anything()]);
  const numbers = (await figures({ groupBy: 'phone_number' })).items;
  expect(numbers.find(({ phoneNumberId }) => phoneNumberId === toId('pn', number))).toMatchObject({
    phoneNumber: '+14155550100',
    figures: { calls: 1 },
  });
  expect(numbers).toHaveLength(5);
  const campaigns = (await figures({ groupBy: 'campaign' })).items;
  expect(campaigns.map(({ figures: { calls }, ...about }) => [about, calls])).toEqual(
    expect.arrayContaining([
      [{ campaignId: toId('cmp', campaign) }, 2],
      [{ batchId: toId('bat', batch) }, 1],
      [{}, 2],
    ]),
  );
});

test('counts what the filters leave', async () => {
  const calls = async (query: Query) => (await figures(query)).total.calls;
  expect(await calls({ direction: 'inbound' })).toBe(1);
  expect(await calls({ agentId: 'anna' })).toBe(3);
  expect(await calls({ phoneNumberId: toId('pn', number) })).toBe(1);
  expect(await calls({ campaignId: toId('cmp', campaign) })).toBe(2);
  expect(await calls({ campaignId: toId('cmp', batch) })).toBe(0);
  expect(await calls({ batchId: toId('bat', batch) })).toBe(1);
  expect(await calls({ from: '2026-03-11T00:00:00Z', to: '2026-03-11T09:30:00Z' })).toBe(1);
  expect(await figures({ agentId: 'nobody' })).toMatchObject({ items: [], total: { calls: 0, outcomes: {} } });
});

test('takes the last seven days where no time is said', async () => {
  const { data } = await server.client.GET('/v1/calls/stats');
  expect(Date.parse(data!.to) - Date.parse(data!.from)).toBe(7 * 24 * 3600 * 1000);
  expect(Math.abs(Date.parse(data!.to) - server.clock.now().getTime())).toBeLessThan(60_000);
});

test('refuses a time that is none, or too long, and an unknown zone', async () => {
  const faultOf = async (query: Query) => {
    const { error } = await server.client.GET('/v1/calls/stats', { params: { query: { ...span, ...query } } });
    return error?.error;
  };
  expect(await faultOf({ to: span.from })).toBe('query/from must be before to');
  expect(await faultOf({ from: '2025-12-10T21:59:00Z' })).toBe('query/from must be at most 92 days before to, by day');
  expect(await faultOf({ from: '2026-02-01T00:00:00Z', groupBy: 'hour' })).toContain(
    'at most 31 days before to, by hour',
  );
  const october = { from: '2026-10-01T00:00:00+02:00', to: '2026-11-01T00:00:00+01:00', groupBy: 'hour' } as const;
  expect(await faultOf({ ...october, timezone: 'Europe/Berlin' })).toBeUndefined();
  const first = 'query/from must not be before 0001-01-02T00:00:00.000Z';
  const early = await server.client.GET('/v1/calls/stats', { params: { query: { to: '0001-01-08T23:59:59Z' } } });
  expect(early.error?.error).toBe(first);
  const inYearZero = { from: '0001-01-01T00:00:00Z', to: '0001-01-03T00:00:00Z', timezone: 'America/New_York' };
  expect(await faultOf(inYearZero)).toBe(first);
  expect(await faultOf({ timezone: 'JST' })).toBe(
    'query/timezone must be an IANA time zone such as America/New_York. JST is no IANA name with an area. Write Asia/Tokyo.',
  );
  expect(await faultOf({ timezone: 'Berlin' })).toBe(
    'query/timezone must be an IANA time zone such as America/New_York',
  );
});
