import type { components, paths } from '@trunkline/client/schema';
import { type Kysely, sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Schema } from '../../../src/foundation/database/schema.ts';
import { fromId, newUuid, toId } from '../../../src/foundation/values/ids.ts';
import { until } from '../../until.ts';
import { campaignRow } from '../dialing.ts';
import {
  type Act,
  type CampaignServer,
  type CreateCampaign,
  fromNumber,
  params,
  startCampaignServer,
} from './campaign-server.ts';

let under: CampaignServer;
let client: CampaignServer['client'];
let people: string;
let blocked: string;

beforeAll(async () => {
  under = await startCampaignServer();
  ({ client, people, blocked } = under);
});
afterAll(() => under.stop());

const draft = (given?: Partial<CreateCampaign>) => under.draft(given);
const create = (given?: Partial<CreateCampaign>) => under.create(given);
const act = (id: string, name: Act) => under.act(id, name);
const inState = (...names: Act[]) => under.inState(...names);
const unknown = () => toId('cmp', newUuid());
const details = (error: unknown) => (error as components['schemas']['Error']).details?.map(({ path }) => path);

describe('create', () => {
  test('a campaign begins as a draft with the defaults', async () => {
    const { response, data } = await client.POST('/v1/calls/campaigns', { body: draft() });
    expect(response.status).toBe(201);
    expect(data!.data).toEqual({
      id: expect.stringMatching(/^cmp_/),
      name: 'November reminders',
      calleeTimeZone: 'strictest',
      agentId: 'agent_reception',
      direction: 'outbound',
      fromNumber,
      status: 'draft',
      timezone: 'UTC',
      lists: [{ id: people, role: 'contacts' }],
      maxConcurrency: 10,
      retryPolicy: [],
      abandonedRetry: 'none',
      ringTimeoutSeconds: 30,
      maxCallSeconds: 3600,
      recording: false,
      voicemailCounts: false,
      requireConsent: false,
      totalContacts: 0,
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
    });
    const read = await client.GET('/v1/calls/campaigns/{id}', params(data!.data.id));
    expect(read.data).toEqual(data);
  });

  test('everything that is given comes back, the lists in their order', async () => {
    const given = {
      description: 'Remind patients.',
      lists: [
        { id: blocked, role: 'dnd' as const },
        { id: people, role: 'contacts' as const },
      ],
      timezone: 'America/Los_Angeles',
      scheduledAt: '2027-01-01T08:00:00.000Z',
      startDate: '2027-01-02T08:00:00.000Z',
      endDate: '2027-02-01T08:00:00.000Z',
      scheduleStart: 540,
      scheduleEnd: 1080,
      scheduleDays: [1, 2, 5] as CreateCampaign['scheduleDays'] & number[],
      maxConcurrency: 500,
      callsPerSecond: 2.5,
      retryPolicy: [15, 120],
      abandonedRetry: { afterHours: 96 },
      targetCallCount: 500,
      targetConversionRate: 0.2,
      budget: { maxCalls: 5000, maxMinutes: 1200 },
      ringTimeoutSeconds: 20,
      maxCallSeconds: 600,
    };
    expect(await create(given)).toMatchObject(given);
    const { scheduleStart, scheduleEnd, scheduleDays, ...others } = given;
    const windows = {
      callingWindows: [{ days: [5, 6], start: 1080, end: 60 }],
      holidays: ['2026-12-25', '2027-01-01'],
    };
    const created = await create({ ...others, ...windows });
    expect(created).toMatchObject({ ...others, ...windows });
    expect(created).not.toHaveProperty('scheduleDays');
  });

  test('a list, a number or a pool that the workspace does not have is 404', async () => {
    const other = await under.clientOf('Other', ['*']);
    const faults = [
      client.POST('/v1/calls/campaigns', {
        body: draft({ lists: [{ id: toId('list', newUuid()), role: 'contacts' }] }),
      }),
      client.POST('/v1/calls/campaigns', { body: draft({ fromNumber: '+14155559999' }) }),
      other.POST('/v1/calls/campaigns', { body: draft() }),
      client.POST('/v1/calls/campaigns', {
        body: {
          name: 'x',
          agentId: 'a',
          numberPoolId: toId('pool', newUuid()),
          lists: [{ id: people, role: 'contacts' }],
        },
      }),
    ];
    const answers = await Promise.all(faults);
    for (const { response, error } of answers) {
      expect(response.status).toBe(404);
      expect(error).toMatchObject({ code: 'not_found' });
    }
    expect(answers.map(({ error }) => details(error))).toEqual([
      ['/body/lists/0/id'],
      ['/body/fromNumber'],
      ['/body/fromNumber'],
      ['/body/numberPoolId'],
    ]);
  });

  test.each<[string, () => Partial<CreateCampaign>, string]>([
    ['half a window', () => ({ scheduleStart: 540 }), '/body/scheduleEnd'],
    ['the other half', () => ({ scheduleEnd: 540 }), '/body/scheduleStart'],
    [
      'windows beside their short form',
      () => ({ callingWindows: [{ days: [1], start: 0, end: 60 }], scheduleDays: [1] }),
      '/body/callingWindows',
    ],
    ['a day that there is not', () => ({ holidays: ['2026-02-30'] }), '/body/holidays/0'],
    ['a window that ends at its start', () => ({ scheduleStart: 540, scheduleEnd: 540 }), '/body/scheduleEnd'],
    [
      'an end at the start',
      () => ({ startDate: '2027-01-01T00:00:00Z', endDate: '2027-01-01T00:00:00Z' }),
      '/body/endDate',
    ],
    [
      'an end before the scheduled time',
      () => ({ scheduledAt: '2027-01-02T00:00:00Z', endDate: '2027-01-01T00:00:00Z' }),
      '/body/endDate',
    ],
    ['an unknown time zone', () => ({ timezone: 'Europe/Nowhere' }), '/body/timezone'],
    ['more concurrency than the server allows', () => ({ maxConcurrency: 501 }), '/body/maxConcurrency'],
    ['an unknown agent', () => ({ agentId: 'agent_unknown' }), '/body/agentId'],
    ['a dnd list to be called', () => ({ lists: [{ id: blocked, role: 'contacts' }] }), '/body/lists/0/role'],
    [
      'a list twice',
      () => ({
        lists: [
          { id: people, role: 'contacts' },
          { id: people, role: 'dnd' },
        ],
      }),
      '/body/lists/1/id',
    ],
  ])('%s is 400', async (_, given, path) => {
    const { response, error } = await client.POST('/v1/calls/campaigns', { body: draft(given()) });
    expect(response.status).toBe(400);
    expect(error).toMatchObject({ code: 'invalid_request' });
    expect(details(error)).toEqual([path]);
  });
});

describe('list', () => {
  test('by status and text, newest first or last', async () => {
    const mark = newUuid().slice(0, 8);
    const ids = [];
    for (const name of [`a 100% ${mark}`, `b ${mark}`, `c 100x ${mark}`]) ids.push((await create({ name })).id);
    await act(ids[1]!, 'cancel');
    const list = async (query: paths['/v1/calls/campaigns']['get']['parameters']['query']) => {
      const { data } = await client.GET('/v1/calls/campaigns', { params: { query: { searchText: mark, ...query } } });
      return data!.data;
    };
    expect((await list({})).items.map(({ id }) => id)).toEqual(ids.toReversed());
    expect((await list({ order: 'asc' })).items.map(({ id }) => id)).toEqual(ids);
    expect(await list({ perPage: 2, page: 2 })).toMatchObject({
      items: [{ id: ids[0] }],
      totalCount: 3,
      page: 2,
      perPage: 2,
      searchText: mark,
    });
    expect((await list({ status: ['cancelled', 'failed'] })).items).toMatchObject([{ id: ids[1] }]);
    expect((await list({ status: 'cancelled' })).items).toMatchObject([{ id: ids[1], status: 'cancelled' }]);
    expect((await list({ searchText: `100% ${mark}`.toUpperCase() })).items).toMatchObject([{ id: ids[0] }]);
  });

  test('of another workspace is empty', async () => {
    await create();
    const other = await under.clientOf('Empty', ['*']);
    expect((await other.GET('/v1/calls/campaigns')).data!.data).toMatchObject({
      items: [],
      totalCount: 0,
      column: 'created_at',
    });
  });
});

describe('update', () => {
  const update = (id: string, body: components['schemas']['UpdateCampaign']) =>
    client.PATCH('/v1/calls/campaigns/{id}', { ...params(id), body });

  test('a draft takes every change, and null takes values away', async () => {
    const { id } = await create({
      description: 'x',
      scheduleStart: 1,
      scheduleEnd: 2,
      scheduleDays: [1],
      callsPerSecond: 1,
      targetCallCount: 5,
    });
    const { response, data } = await update(id, {
      name: 'Changed',
      description: null,
      agentId: 'agent_survey',
      lists: [
        { id: blocked, role: 'dnd' },
        { id: people, role: 'contacts' },
      ],
      scheduledAt: '2027-01-01T08:00:00.000Z',
      scheduleStart: null,
      scheduleEnd: null,
      scheduleDays: null,
      callsPerSecond: null,
      targetCallCount: null,
      maxConcurrency: 25,
    });
    expect(response.status).toBe(200);
    expect(data!.data).toMatchObject({
      name: 'Changed',
      agentId: 'agent_survey',
      maxConcurrency: 25,
      scheduledAt: '2027-01-01T08:00:00.000Z',
    });
    expect(data!.data.lists).toEqual([
      { id: blocked, role: 'dnd' },
      { id: people, role: 'contacts' },
    ]);
    for (const name of [
      'description',
      'scheduleStart',
      'scheduleEnd',
      'scheduleDays',
      'callsPerSecond',
      'targetCallCount',
    ]) {
      expect(data!.data).not.toHaveProperty(name);
    }
  });

  test('what is left out stays, and the merged window is what is checked', async () => {
    const { id } = await create({ scheduleStart: 540, scheduleEnd: 1080 });
    expect((await update(id, { scheduleEnd: 600 })).data!.data).toMatchObject({ scheduleStart: 540, scheduleEnd: 600 });
    const refused = await update(id, { scheduleEnd: 540 });
    expect(refused.response.status).toBe(400);
    expect(details(refused.error)).toEqual(['/body/scheduleEnd']);
    expect((await update(id, { scheduleEnd: null })).response.status).toBe(400);
  });

  test('windows and their short form take the place of each other; together they are 400', async () => {
    const { id } = await create({ scheduleStart: 540, scheduleEnd: 1080, scheduleDays: [1] });
    const callingWindows = [{ days: [2], start: 540, end: 60 }];
    const windows = (await update(id, { callingWindows })).data!.data;
    expect(windows).toMatchObject({ callingWindows });
    for (const name of ['scheduleStart', 'scheduleEnd', 'scheduleDays']) expect(windows).not.toHaveProperty(name);
    const both = await update(id, { callingWindows, scheduleStart: 1, scheduleEnd: 2 });
    expect(both.response.status).toBe(400);
    expect(details(both.error)).toEqual(['/body/callingWindows']);
    const short = (await update(id, { scheduleDays: [3], callingWindows: null })).data!.data;
    expect(short).toMatchObject({ scheduleDays: [3] });
    expect(short).not.toHaveProperty('callingWindows');
    await update(id, { callingWindows, scheduleDays: null });
    expect((await update(id, { name: 'y' })).data!.data).toMatchObject({ callingWindows });
    expect((await update(id, { callingWindows: null })).data!.data).not.toHaveProperty('callingWindows');
  });

  test('a number and a pool together are 400; an unknown one of either is 404', async () => {
    const { id } = await create();
    const numberPoolId = toId('pool', newUuid());
    const both = await update(id, { fromNumber, numberPoolId });
    expect(both.response.status).toBe(400);
    expect(details(both.error)).toEqual(['/body/numberPoolId']);
    expect((await update(id, { numberPoolId })).response.status).toBe(404);
    expect((await update(id, { fromNumber: '+14155559999' })).response.status).toBe(404);
    expect((await update(id, { lists: [{ id: toId('list', newUuid()), role: 'contacts' }] })).response.status).toBe(
      404,
    );
    expect((await update(id, { agentId: 'agent_unknown' })).response.status).toBe(400);
    expect((await update(unknown(), { agentId: 'agent_unknown' })).response.status).toBe(404);
  });

  test('a paused campaign changes but for what its contacts were taken by', async () => {
    const id = await inState('start', 'pause');
    expect((await update(id, { maxConcurrency: 7 })).data!.data.maxConcurrency).toBe(7);
    for (const body of [
      { lists: [{ id: people, role: 'contacts' as const }] },
      { scheduledAt: '2027-01-01T08:00:00.000Z' },
      { startDate: null },
    ]) {
      const { response, error } = await update(id, { name: 'No', ...body });
      expect(response.status).toBe(409);
      expect(error).toMatchObject({ code: 'invalid_state', error: expect.stringContaining(Object.keys(body)[0]!) });
    }
    expect((await client.GET('/v1/calls/campaigns/{id}', params(id))).data!.data.name).not.toBe('No');
  });

  test('a scheduled campaign changes as a draft does, but not to a time that has passed nor to what could not start', async () => {
    const { id } = await create({ scheduledAt: '2099-01-01T08:00:00.000Z', startDate: null });
    await act(id, 'start');
    const later = { scheduledAt: '2099-02-01T08:00:00.000Z', lists: [{ id: people, role: 'contacts' as const }] };
    expect((await update(id, { name: 'Later', ...later })).data!.data).toMatchObject({ status: 'scheduled', ...later });
    for (const body of [{ scheduledAt: null }, { scheduledAt: '2020-01-01T00:00:00.000Z' }]) {
      const { response, error } = await update(id, body);
      expect([response.status, details(error)]).toEqual([400, ['/body/scheduledAt']]);
    }
    expect((await update(id, { startDate: '2099-03-01T08:00:00.000Z', scheduledAt: null })).response.status).toBe(200);
    const nobody = await update(id, { lists: [{ id: blocked, role: 'dnd' }] });
    expect([nobody.response.status, nobody.error!.code]).toEqual([409, 'campaign_not_startable']);
    const unscheduled = await act(id, 'unschedule');
    expect(unscheduled.data!.data).toMatchObject({ status: 'draft', startDate: '2099-03-01T08:00:00.000Z' });
    expect((await update(id, { startDate: null })).response.status).toBe(200);
    expect((await client.DELETE('/v1/calls/campaigns/{id}', params(id))).response.status).toBe(200);
  });

  test('tags are given, changed and searched by, and null is as nothing where a campaign is made', async () => {
    const nothing = { description: null, scheduledAt: null, endDate: null, callsPerSecond: null, callingWindows: null };
    const made = await create({ tags: ['oakland', 'reminders'], ...nothing });
    expect(made.tags).toEqual(['oakland', 'reminders']);
    for (const name of Object.keys(nothing)) expect(made).not.toHaveProperty(name);
    const tagged = async (tag: string) =>
      (await client.GET('/v1/calls/campaigns', { params: { query: { tag } } })).data!.data.items.map(({ id }) => id);
    expect(await tagged('oakland')).toEqual([made.id]);
    expect((await update(made.id, { tags: ['berkeley'] })).data!.data.tags).toEqual(['berkeley']);
    expect([await tagged('oakland'), await tagged('berkeley')]).toEqual([[], [made.id]]);
    expect((await update(made.id, { tags: [] })).data!.data).not.toHaveProperty('tags');
    const twice = await client.POST('/v1/calls/campaigns', { body: under.draft({ tags: ['a', 'a'] }) });
    expect([twice.response.status, details(twice.error)]).toEqual([400, ['/body/tags']]);
  });

  test('new hours of a paused campaign have its windows computed anew', async () => {
    const id = await inState('start', 'pause');
    const { database } = under;
    await expect.poll(async () => (await campaignRow(database, fromId(id))).contacts_added).toBe(true);
    const closes = async (sent: components['schemas']['UpdateCampaign']) => {
      const lanes = (db: Kysely<Schema>) => db.updateTable('campaign_lanes').where('campaign_id', '=', fromId(id));
      const tomorrow = new Date(Date.now() + 86_400_000);
      await database.inEngine(({ db }) => lanes(db).set({ closes_at: tomorrow }).execute());
      await update(id, sent);
      const { closes_at } = await database.inEngine(({ db }) =>
        db
          .selectFrom('campaign_lanes')
          .select('closes_at')
          .where('campaign_id', '=', fromId(id))
          .executeTakeFirstOrThrow(),
      );
      return closes_at.getTime();
    };
    expect(await closes({ name: 'Same hours' })).toBeGreaterThan(Date.now());
    expect(await closes({ scheduleStart: 0, scheduleEnd: 60 })).toBe(0);
    expect(await closes({ scheduleDays: [7] })).toBe(0);
    expect(await closes({ timezone: 'Europe/Berlin' })).toBe(0);
    expect(await closes({ callingWindows: [{ days: [1], start: 0, end: 60 }] })).toBe(0);
    expect(await closes({ holidays: ['2026-12-25'] })).toBe(0);
  });

  test('whose clock counts can be changed while paused: contacts get other lanes, but for those with a zone of their own', async () => {
    const id = await inState('start', 'pause');
    const lanes = async () => {
      await expect.poll(async () => (await campaignRow(under.database, fromId(id))).contacts_added).toBe(true);
      const { rows } = await under.database.inEngine(({ db }) =>
        sql<{ timezones: string[] }>`select distinct l.timezones from campaign_contacts c
          join campaign_lanes l on l.campaign_id = c.campaign_id and l.lane = c.lane
          where c.campaign_id = ${fromId(id)} and c.state = 'pending' order by 1`.execute(db),
      );
      return rows.map(({ timezones }) => timezones);
    };
    const strictest = await lanes();
    expect(strictest).toContainEqual(['America/Los_Angeles']);
    expect((await update(id, { calleeTimeZone: 'campaign' })).data!.data.calleeTimeZone).toBe('campaign');
    expect(await lanes()).toEqual([[]]);
    await update(id, { calleeTimeZone: 'strictest' });
    expect(await lanes()).toEqual(strictest);
  });

  test.each([
    ['running', ['start']],
    ['stopped', ['start', 'stop']],
    ['cancelled', ['cancel']],
  ] as const)('a %s campaign is refused', async (status, names) => {
    const { response, error } = await update(await inState(...names), { name: 'x' });
    expect(response.status).toBe(409);
    expect(error).toMatchObject({ code: 'invalid_state', error: expect.stringContaining(status) });
  });
});

describe('delete', () => {
  const remove = (id: string) => client.DELETE('/v1/calls/campaigns/{id}', params(id));

  test('a draft and an ended campaign go', async () => {
    for (const id of [await inState(), await inState('start', 'stop'), await inState('cancel')]) {
      const { response, data } = await remove(id);
      expect(response.status).toBe(200);
      expect(data).toEqual({ success: true, data: { id, deleted: true } });
      expect((await remove(id)).response.status).toBe(404);
    }
  });

  test('of many contacts some go with their campaign, and the others after it', async () => {
    const campaign = await inState('cancel');
    const { database, workspaceId } = under;
    await database.inEngine(({ db }) =>
      sql`
        insert into campaign_contacts (workspace_id, campaign_id, id, list_id, phone_number, "values", lane, state,
          next_attempt_at)
        select ${workspaceId}, ${fromId(campaign)}, gen_random_uuid(), gen_random_uuid(), 14155560000 + i, '{}', 1,
          'done', 'epoch' from generate_series(1, 10100) as i`.execute(db),
    );
    const left = async () => {
      const { rows } = await database.inEngine(({ db }) =>
        sql`select from campaign_contacts where campaign_id = ${fromId(campaign)}`.execute(db),
      );
      return rows.length;
    };
    expect((await remove(campaign)).response.status).toBe(200);
    expect((await client.GET('/v1/calls/campaigns/{id}/contacts', params(campaign))).response.status).toBe(404);
    expect(await left()).toBeLessThan(5101);
    await until(async () => (await left()) === 0);
  });

  test('an active campaign, or one whose last calls are up, stays', async () => {
    const scheduled = (await create({ scheduledAt: '2099-01-01T00:00:00.000Z' })).id;
    await act(scheduled, 'start');
    const lastCalls = await inState('start', 'stop');
    await under.database.inEngine(({ db }) =>
      sql`update campaigns set in_flight = 1 where id = ${fromId(lastCalls)}`.execute(db),
    );
    for (const id of [scheduled, await inState('start'), await inState('start', 'pause'), lastCalls]) {
      const { response, error } = await remove(id);
      expect(response.status).toBe(409);
      expect(error).toMatchObject({ code: 'invalid_state' });
    }
    await under.database.inEngine(({ db }) =>
      sql`update campaigns set in_flight = 0 where id = ${fromId(lastCalls)}`.execute(db),
    );
  });
});
