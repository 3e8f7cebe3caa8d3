import type { components, paths } from '@trunkline/client/schema';
import { sql } from 'kysely';
import createClient from 'openapi-fetch';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fromId, newUuid, toId } from '../src/ids.ts';
import { seedList, seedNumber } from './campaign-seed.ts';
import { startCampaignServer } from './campaign-server.ts';

type CreateCampaign = components['schemas']['CreateCampaignFromNumber'];

let under: Awaited<ReturnType<typeof startCampaignServer>>;
let client: typeof under.client;
let people: string;
let blocked: string;
const fromNumber = '+14155550100';

beforeAll(async () => {
  under = await startCampaignServer();
  client = under.client;
  await seedNumber(under.database, under.workspaceId, fromNumber);
  people = toId(
    'list',
    await seedList(under.database, under.workspaceId, [{ phone_number: 14155550101 }, { phone_number: 14155550102 }]),
  );
  blocked = toId(
    'list',
    await seedList(under.database, under.workspaceId, [{ phone_number: 14155550102 }], { type: 'dnd' }),
  );
});
afterAll(() => under.stop());

const draft = (given: Partial<CreateCampaign> = {}): CreateCampaign => ({
  name: 'November reminders',
  agentId: 'agent_reception',
  fromNumber,
  lists: [{ id: people, role: 'contacts' }],
  ...given,
});
const create = async (given: Partial<CreateCampaign> = {}) => {
  const { data, error } = await client.POST('/v1/calls/campaigns', { body: draft(given) });
  if (!data) throw new Error(JSON.stringify(error));
  return data.data;
};
const params = (id: string) => ({ params: { path: { id } } });
const acts = ['start', 'pause', 'resume', 'stop', 'cancel'] as const;
type Act = (typeof acts)[number];
const act = (id: string, name: Act) => client.POST(`/v1/calls/campaigns/{id}/${name}`, params(id));
const inState = async (...names: Act[]) => {
  const { id } = await create();
  for (const name of names) expect((await act(id, name)).response.status).toBe(200);
  return id;
};
const unknown = () => toId('cmp', newUuid());
const setStatus = (id: string, status: string) =>
  under.database.inEngine(({ db }) =>
    sql`update campaigns set status = ${status}, scheduled_at = '2099-01-01' where id = ${fromId(id)}`.execute(db),
  );
const details = (error: unknown) => (error as components['schemas']['Error']).details?.map(({ path }) => path);

describe('create', () => {
  test('a campaign begins as a draft with the defaults', async () => {
    const { response, data } = await client.POST('/v1/calls/campaigns', { body: draft() });
    expect(response.status).toBe(201);
    expect(data!.data).toEqual({
      id: expect.stringMatching(/^cmp_/),
      name: 'November reminders',
      agentId: 'agent_reception',
      direction: 'outbound',
      fromNumber,
      status: 'draft',
      timezone: 'UTC',
      lists: [{ id: people, role: 'contacts' }],
      maxConcurrency: 10,
      retryPolicy: [],
      ringTimeoutSeconds: 30,
      maxCallSeconds: 3600,
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
      targetCallCount: 500,
      targetConversionRate: 0.2,
      ringTimeoutSeconds: 20,
      maxCallSeconds: 600,
    };
    expect(await create(given)).toMatchObject(given);
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
    for (const { response, error } of await Promise.all(faults)) {
      expect(response.status).toBe(404);
      expect(error).toMatchObject({ code: 'not_found' });
    }
  });

  test.each<[string, () => Partial<CreateCampaign>, string]>([
    ['half a window', () => ({ scheduleStart: 540 }), '/body/scheduleEnd'],
    ['the other half', () => ({ scheduleEnd: 540 }), '/body/scheduleStart'],
    ['a window that ends at its start', () => ({ scheduleStart: 540, scheduleEnd: 540 }), '/body/scheduleEnd'],
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

  test('new hours of a paused campaign have its windows computed anew', async () => {
    const id = await inState('start', 'pause');
    const closes = (sent: components['schemas']['UpdateCampaign']) =>
      under.database
        .inEngine(async ({ db }) => {
          await sql`delete from campaign_lanes where campaign_id = ${fromId(id)}`.execute(db);
          await sql`insert into campaign_lanes values (${under.workspaceId}, ${fromId(id)}, 1, 'UTC', now(), now() + interval '1 day')`.execute(
            db,
          );
          return async () => {
            await update(id, sent);
            const { rows } = await under.database.inEngine((tx) =>
              sql<{ closes_at: Date }>`select closes_at from campaign_lanes where campaign_id = ${fromId(id)}`.execute(
                tx.db,
              ),
            );
            return rows[0]!.closes_at.getTime();
          };
        })
        .then((run) => run());
    expect(await closes({ name: 'Same hours' })).toBeGreaterThan(Date.now());
    expect(await closes({ scheduleStart: 0, scheduleEnd: 60 })).toBe(0);
    expect(await closes({ scheduleDays: [7] })).toBe(0);
    expect(await closes({ timezone: 'Europe/Berlin' })).toBe(0);
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

describe('start', () => {
  test('runs at once, or is scheduled for the later of its two times', async () => {
    const { id } = await create();
    const { data } = await act(id, 'start');
    expect(data!.data.status).toBe('running');
    const ahead = '2099-01-01T00:00:00.000Z';
    for (const given of [
      { scheduledAt: ahead },
      { startDate: ahead },
      { startDate: ahead, scheduledAt: '2020-01-01T00:00:00.000Z' },
    ]) {
      const campaign = await create(given);
      expect((await act(campaign.id, 'start')).data!.data.status).toBe('scheduled');
    }
    const past = await create({ scheduledAt: '2020-01-01T00:00:00.000Z' });
    expect((await act(past.id, 'start')).data!.data.status).toBe('running');
  });

  test.each<[string, () => Promise<string>, string]>([
    ['was started before', () => inState('start'), 'Only a draft can be started; this campaign is running.'],
    [
      'has an agent that is gone',
      async () => {
        const { id } = await create();
        await under.database.inEngine(({ db }) =>
          sql`update campaigns set agent_id = 'agent_unknown' where id = ${fromId(id)}`.execute(db),
        );
        return id;
      },
      'There is no agent agent_unknown.',
    ],
    [
      'has a suspended number',
      async () => {
        await seedNumber(under.database, under.workspaceId, '+14155550110', { status: 'suspended' });
        return (await create({ fromNumber: '+14155550110' })).id;
      },
      'The number +14155550110 is suspended, and can not place calls.',
    ],
    [
      'has a trunk that failed its check',
      async () => {
        await seedNumber(under.database, under.workspaceId, '+14155550111', { provider: 'sip', trunk_valid: false });
        return (await create({ fromNumber: '+14155550111' })).id;
      },
      'The trunk of +14155550111 did not pass its last check.',
    ],
    [
      'has nobody who may be called',
      async () => {
        const list = await seedList(under.database, under.workspaceId, [{ phone_number: 14155550102 }]);
        return (await create({ lists: [{ id: toId('list', list), role: 'contacts' }] })).id;
      },
      'No contact of the lists can be called: all 1 are on the do-not-call list.',
    ],
    [
      'has nobody at all',
      async () => (await create({ lists: [{ id: blocked, role: 'dnd' }] })).id,
      'No contact of the lists can be called: there is none.',
    ],
    [
      'would end before it begins',
      async () => (await create({ endDate: '2020-01-01T00:00:00.000Z' })).id,
      'The endDate of the campaign has passed.',
    ],
  ])('a campaign that %s is refused', async (_, make, message) => {
    const { response, error } = await act(await make(), 'start');
    expect(response.status).toBe(409);
    expect(error).toEqual({ code: 'campaign_not_startable', error: message });
    expect(response.headers.get('x-should-retry')).toBe('false');
  });

  test('a list that is not imported yet is named', async () => {
    const list = toId('list', await seedList(under.database, under.workspaceId, [], { status: 'draft' }));
    const { id } = await create({
      lists: [
        { id: people, role: 'contacts' },
        { id: list, role: 'contacts' },
      ],
    });
    expect((await act(id, 'start')).error).toEqual({
      code: 'campaign_not_startable',
      error: `The contact list ${list} is not ready. Confirm its upload first.`,
    });
  });
});

describe('pause, resume, stop and cancel', () => {
  test('stamp their times', async () => {
    const id = await inState('start');
    expect((await act(id, 'pause')).data!.data).toMatchObject({ status: 'paused', pausedAt: expect.any(String) });
    expect((await act(id, 'resume')).data!.data).toMatchObject({ status: 'running', resumedAt: expect.any(String) });
    expect((await act(id, 'stop')).data!.data).toMatchObject({ status: 'stopped', stoppedAt: expect.any(String) });
    expect((await act(await inState(), 'cancel')).data!.data).toMatchObject({
      status: 'cancelled',
      cancelledAt: expect.any(String),
    });
  });

  const allowed: Record<Act, string[]> = {
    start: ['draft'],
    pause: ['running'],
    resume: ['paused'],
    stop: ['running', 'paused'],
    cancel: ['draft', 'scheduled'],
  };
  test.each(acts)('%s is refused in every other status', async (name) => {
    for (const status of ['draft', 'scheduled', 'running', 'paused', 'completed', 'stopped', 'cancelled', 'failed']) {
      const { id } = await create();
      await setStatus(id, status);
      const { response, error } = await act(id, name);
      expect([status, response.status]).toEqual([status, allowed[name].includes(status) ? 200 : 409]);
      if (error) expect(error).toMatchObject({ code: name === 'start' ? 'campaign_not_startable' : 'invalid_state' });
      await setStatus(id, 'cancelled');
    }
  });

  test('a refusal says what would be right', async () => {
    expect((await act(await inState('start'), 'cancel')).error).toMatchObject({
      error: 'Only a draft or a scheduled campaign can be cancelled; this one is running. Stop it instead.',
    });
    expect((await act(await inState(), 'pause')).error).toMatchObject({
      error: 'Only a running campaign can be paused; this one is a draft.',
    });
  });

  test('each is an event of its revision, and an audit entry of the key', async () => {
    const id = await inState('start', 'pause', 'resume', 'stop');
    const { rows } = await under.database.inEngine(({ db }) =>
      sql<{ type: string; revision: number; data: { status: string } }>`
        select type, revision, data from events where resource_id = ${fromId(id)} order by revision`.execute(db),
    );
    expect(rows.map(({ type }) => type)).toEqual(
      ['draft', 'running', 'paused', 'running', 'stopped'].map((s) => `campaign.${s}`),
    );
    expect(rows.map(({ data }) => `campaign.${data.status}`)).toEqual(rows.map(({ type }) => type));
    const audited = await under.database.inEngine(({ db }) =>
      sql<{ action: string }>`select action from audit_log where resource_id = ${id} order by created_at, id`.execute(
        db,
      ),
    );
    expect(audited.rows.map(({ action }) => action)).toEqual(
      ['created', 'started', 'paused', 'resumed', 'stopped'].map((done) => `campaign.${done}`),
    );
  });
});

describe('events', () => {
  const events = (id: string, headers: Record<string, string> = {}) =>
    fetch(`${under.server.url}/v1/calls/campaigns/${id}/events`, {
      headers: { 'X-API-Key': under.server.apiKey, ...headers },
    });

  test('of an ended campaign are its last state, and nothing for who has seen it', async () => {
    const id = await inState('cancel');
    const response = await events(id);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const lines = (await response.text()).trimEnd().split('\n');
    expect(lines.slice(0, 2)).toEqual(['id: 2', 'event: campaign.cancelled']);
    expect(JSON.parse(lines[2]!.slice('data: '.length))).toMatchObject({
      eventId: '2',
      eventType: 'campaign.cancelled',
      data: { campaign: { id, status: 'cancelled' }, stats: { totalContacts: 0, outcomes: {} } },
    });
    expect(lines).toHaveLength(3);
    const again = await events(id, { 'Last-Event-ID': '2' });
    expect([again.status, await again.text()]).toEqual([204, '']);
  });
});

describe('every operation', () => {
  const calls = (c: ReturnType<typeof createClient<paths>>, id: string) => ({
    listCampaigns: () => c.GET('/v1/calls/campaigns'),
    createCampaign: () => c.POST('/v1/calls/campaigns', { body: draft() }),
    getCampaign: () => c.GET('/v1/calls/campaigns/{id}', params(id)),
    updateCampaign: () => c.PATCH('/v1/calls/campaigns/{id}', { ...params(id), body: { name: 'x' } }),
    deleteCampaign: () => c.DELETE('/v1/calls/campaigns/{id}', params(id)),
    startCampaign: () => c.POST('/v1/calls/campaigns/{id}/start', params(id)),
    pauseCampaign: () => c.POST('/v1/calls/campaigns/{id}/pause', params(id)),
    resumeCampaign: () => c.POST('/v1/calls/campaigns/{id}/resume', params(id)),
    stopCampaign: () => c.POST('/v1/calls/campaigns/{id}/stop', params(id)),
    cancelCampaign: () => c.POST('/v1/calls/campaigns/{id}/cancel', params(id)),
    previewCampaign: () => c.POST('/v1/calls/campaigns/{id}/preview', params(id)),
    listCampaignContacts: () => c.GET('/v1/calls/campaigns/{id}/contacts', params(id)),
    getCampaignStats: () => c.GET('/v1/calls/campaigns/{id}/stats', params(id)),
    streamCampaignEvents: () => c.GET('/v1/calls/campaigns/{id}/events', params(id)),
  });
  const statuses = async (c: ReturnType<typeof createClient<paths>>, id: string) => {
    const entries = Object.entries(calls(c, id)).map(async ([name, call]) => [name, (await call()).response.status]);
    return Object.fromEntries(await Promise.all(entries)) as Record<string, number>;
  };

  test('is 401 without a key and 403 with one that lacks the permission', async () => {
    const stranger = createClient<paths>({ baseUrl: under.server.url });
    const weak = await under.clientOf('Default', ['calls:read']);
    expect(new Set(Object.values(await statuses(stranger, unknown())))).toEqual(new Set([401]));
    expect(new Set(Object.values(await statuses(weak, unknown())))).toEqual(new Set([403]));
  });

  test('is 404 for a campaign that another workspace has, and 400 for what is no ID', async () => {
    const { id } = await create();
    const other = await under.clientOf('Other', ['*']);
    for (const [c, of, status] of [
      [other, id, 404],
      [client, unknown(), 404],
      [client, 'cmp_1', 400],
    ] as const) {
      const { listCampaigns: _list, createCampaign: _create, ...named } = await statuses(c, of);
      expect(new Set(Object.values(named))).toEqual(new Set([status]));
    }
  });

  test('refuses what the contract does not know', async () => {
    const { id } = await create();
    const odd = { wrong: 1 } as never;
    const asked = await Promise.all([
      client.GET('/v1/calls/campaigns', { params: { query: odd } }),
      client.GET('/v1/calls/campaigns', { params: { query: { perPage: 101 } } }),
      client.POST('/v1/calls/campaigns', { body: { ...draft(), wrong: 1 } as never }),
      client.PATCH('/v1/calls/campaigns/{id}', { ...params(id), body: odd }),
      client.POST('/v1/calls/campaigns/{id}/preview', { ...params(id), body: { sampleSize: 101 } }),
      client.GET('/v1/calls/campaigns/{id}/contacts', { params: { path: { id }, query: odd } }),
    ]);
    expect(asked.map(({ response }) => response.status)).toEqual(asked.map(() => 400));
  });

  test('that reads a draft has something to say', async () => {
    const { id } = await create();
    expect((await client.GET('/v1/calls/campaigns/{id}/stats', params(id))).data!.data).toMatchObject({
      totalContacts: 0,
      callsPerSecond: 0,
    });
    expect((await client.GET('/v1/calls/campaigns/{id}/contacts', params(id))).data!.data).toMatchObject({
      items: [],
      totalCount: 0,
    });
    expect((await client.POST('/v1/calls/campaigns/{id}/preview', params(id))).data!.data).toMatchObject({
      callable: 1,
      leftOut: { do_not_call: 1 },
    });
  });
});
