import type { TrunklineClient } from '@trunkline/client';
import type { paths } from '@trunkline/client/schema';
import { sql } from 'kysely';
import createClient from 'openapi-fetch';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fromId, newUuid, toId } from '../../../src/foundation/values/ids.ts';
import { seedList } from '../../seed/list.ts';
import { seedNumber } from '../../seed/workspace.ts';
import {
  type Act,
  acts,
  type CampaignServer,
  type CreateCampaign,
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
const setStatus = (id: string, status: string) =>
  under.database.inEngine(({ db }) =>
    sql`update campaigns set status = ${status}, scheduled_at = '2099-01-01' where id = ${fromId(id)}`.execute(db),
  );

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
        await seedNumber(under.database, under.workspaceId, '+14155550111', {
          trunk: { status: 'paused', reason: 'unreachable' },
        });
        return (await create({ fromNumber: '+14155550111' })).id;
      },
      'The trunk of +14155550111 is paused (unreachable). Validate it, and resume it.',
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
    unschedule: ['scheduled'],
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
  const calls = (c: TrunklineClient, id: string) => ({
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
    redialCampaignContacts: () => c.POST('/v1/calls/campaigns/{id}/contacts/redial', params(id)),
    skipCampaignContact: () =>
      c.POST('/v1/calls/campaigns/{id}/contacts/{contactId}/skip', {
        params: { path: { id, contactId: toId('cc', '00000000-0000-0000-0000-000000000000') } },
      }),
    getCampaignStats: () => c.GET('/v1/calls/campaigns/{id}/stats', params(id)),
    streamCampaignEvents: () => c.GET('/v1/calls/campaigns/{id}/events', params(id)),
  });
  const statuses = async (c: TrunklineClient, id: string) => {
    const entries = Object.entries(calls(c, id)).map(async ([name, call]) => [name, (await call()).response.status]);
    return Object.fromEntries(await Promise.all(entries)) as Record<string, number>;
  };

  test('is 401 without a key and 403 with one that lacks the permission', async () => {
    const stranger = createClient<paths>({ baseUrl: under.server.url }) as unknown as TrunklineClient;
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
    expect((await client.GET('/v1/calls/campaigns/{id}/contacts', params(id))).data!.data.items).toEqual([]);
    expect((await client.POST('/v1/calls/campaigns/{id}/preview', params(id))).data!.data).toMatchObject({
      callable: 1,
      leftOut: { do_not_call: 1 },
    });
  });
});
