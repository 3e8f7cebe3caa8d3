import type { TrunklineClient } from '@trunkline/client';
import type { components, paths } from '@trunkline/client/schema';
import { sql } from 'kysely';
import createClient from 'openapi-fetch';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { CallStatus } from '../../../src/foundation/database/schema.ts';
import { systemClock } from '../../../src/foundation/values/clock.ts';
import { fromId, newUuid, toId } from '../../../src/foundation/values/ids.ts';
import { eraseOldMessages } from '../../../src/lines/telephony/kept-messages.ts';
import { postgresCallStore } from '../../../src/lines/telephony/sip/call-store.ts';
import { createKey } from '../../../src/platform/api-keys/first-key.ts';
import { seedList } from '../../seed/list.ts';
import { seedRow } from '../../seed/rows.ts';
import { seedNumber } from '../../seed/workspace.ts';
import { startTestServer, type TestServer } from '../../server.ts';
import { unguarded } from '../../unguarded.ts';

let server: TestServer;
let client: TestServer['client'];
let workspaceId: string;
let phoneNumberId: string;
const from = 14155550100;

beforeAll(async () => {
  server = await startTestServer({ config: { simulatorSpeed: 10 } });
  client = server.client;
  const { rows } = await server.database.inEngine(({ db }) =>
    sql<{ id: string }>`select id from workspaces`.execute(db),
  );
  workspaceId = rows[0]!.id;
  phoneNumberId = await seedNumber(server.database, workspaceId, `+${from}`);
});
afterAll(() => server.stop());

const params = (roomId: string) => ({ params: { path: { roomId } } });
const read = async (roomId: string) => (await client.GET('/v1/calls/{roomId}', params(roomId))).data!;
const end = (roomId: string) => client.POST('/v1/calls/{roomId}/end', params(roomId));
const unknown = () => toId('room', newUuid());
const clientOf = async (workspace: string, permissions: string[]) => {
  const apiKey = await createKey(server.database, systemClock, { workspace, name: 'Test', permissions });
  return server.clientOf(apiKey);
};

let callees = 14155551000;
interface Given {
  direction?: 'inbound' | 'outbound';
  status?: CallStatus;
  outcome?: string;
  to?: number;
  from?: number;
  queuedAt?: string;
  answeredAt?: string;
  endedAt?: string;
  campaignId?: string;
  contactId?: string;
}
/** A call as the dialer leaves it. */
async function seedCall(given: Given = {}): Promise<string> {
  const queuedAt = new Date(given.queuedAt ?? Date.now());
  const { id } = await seedRow(server.database, 'calls', {
    workspace_id: workspaceId,
    status: given.status ?? 'completed',
    outcome: given.outcome ?? (given.endedAt ? 'answered' : null),
    from_number: given.from ?? from,
    to_number: given.to ?? callees++,
    direction: given.direction ?? 'outbound',
    agent_id: 'agent_reception',
    phone_number_id: phoneNumberId,
    campaign_id: given.campaignId ?? null,
    ...(given.contactId && { owner_kind: 'contact', owner_id: given.contactId }),
    queued_at: queuedAt,
    answered_at: given.answeredAt ? new Date(given.answeredAt) : null,
    ended_at: given.endedAt ? new Date(given.endedAt) : null,
  });
  return toId('room', id);
}
const over = { answeredAt: '2026-11-20T10:00:00.000Z', endedAt: '2026-11-20T10:01:30.000Z' };

/** A campaign that runs; nobody is due in it. */
async function runningCampaign(): Promise<string> {
  const campaign = { workspace_id: workspaceId, phone_number_id: phoneNumberId, contacts_added: true };
  return (await seedRow(server.database, 'campaigns', { ...campaign, status: 'paused', max_concurrency: 5 })).id;
}
const campaignRow = async (id: string) => {
  const { rows } = await server.database.inEngine(({ db }) =>
    sql<Record<string, number>>`select * from campaigns where id = ${id}`.execute(db),
  );
  return rows[0]!;
};

describe('list and read', () => {
  test('filters narrow each other, newest first or last', async () => {
    const campaignId = await runningCampaign();
    const contactId = newUuid();
    const first = await seedCall({ ...over, campaignId, queuedAt: '2026-11-20T10:00:00.000Z', to: 14155552001 });
    const second = await seedCall({
      endedAt: over.endedAt,
      outcome: 'busy',
      status: 'failed',
      campaignId,
      contactId,
      queuedAt: '2026-11-20T11:00:00.000Z',
    });
    const arrived = { direction: 'inbound' as const, from: 14155552001, to: from };
    const third = await seedCall({ ...over, ...arrived, campaignId, queuedAt: '2026-11-20T12:00:00.000Z' });
    const list = async (query: NonNullable<paths['/v1/calls']['get']['parameters']['query']>) => {
      const { data, error } = await client.GET('/v1/calls', {
        params: { query: { campaignId: toId('cmp', campaignId), ...query } },
      });
      if (!data) throw new Error(JSON.stringify(error));
      return data.items.map(({ roomId }) => roomId);
    };
    expect(await list({})).toEqual([third, second, first]);
    expect(await list({ order: 'asc', perPage: 2 })).toEqual([first, second]);
    expect(await list({ order: 'asc', perPage: 2, page: 2 })).toEqual([third]);
    expect(await list({ status: 'failed' })).toEqual([second]);
    expect(await list({ outcome: 'answered' })).toEqual([third, first]);
    expect(await list({ outcome: 'answered', status: 'failed' })).toEqual([]);
    expect(await list({ contactId: toId('cc', contactId) })).toEqual([second]);
    expect(await list({ phoneNumber: '+14155552001' })).toEqual([third, first]);
    expect(await list({ phoneNumber: `+${from}` })).toEqual([third, second, first]);
    expect(await list({ queuedAfter: '2026-11-20T11:00:00.000Z' })).toEqual([third, second]);
    expect(await list({ queuedBefore: '2026-11-20T11:00:00.000Z' })).toEqual([first]);
    expect(await list({ campaignId: toId('cmp', newUuid()) })).toEqual([]);
    expect(await list({ batchId: toId('bat', newUuid()) })).toEqual([]);
    expect(await list({ workflowRunId: toId('run', newUuid()) })).toEqual([]);
    const { data } = await client.GET('/v1/calls', {
      params: { query: { campaignId: toId('cmp', campaignId), perPage: 1, includeTotal: true } },
    });
    expect(data).toMatchObject({ totalCount: 3, page: 1, perPage: 1, column: 'created_at', order: 'desc' });
    expect(await read(first)).toMatchObject({
      roomId: first,
      status: 'completed',
      outcome: 'answered',
      durationSeconds: 90,
      toNumber: '+14155552001',
    });
  });
});

describe('result', () => {
  const record = (roomId: string, body: components['schemas']['RecordCallResult']) =>
    client.POST('/v1/calls/{roomId}/result', { ...params(roomId), body });

  test('what is sent replaces, the rest stays, and the same again changes nothing', async () => {
    const roomId = await seedCall(over);
    const first = await record(roomId, { summary: 'One', data: { a: 1, b: 2 } });
    expect(first.response.status).toBe(200);
    expect(first.data!.result).toEqual({ summary: 'One', data: { a: 1, b: 2 }, recordedAt: expect.any(String) });
    server.clock.advance(1000);
    expect((await record(roomId, { summary: 'One' })).data!.result).toEqual(first.data!.result);
    const second = await record(roomId, { converted: false, data: { c: 3 } });
    expect(second.data!.result).toEqual({
      converted: false,
      summary: 'One',
      data: { c: 3 },
      recordedAt: expect.any(String),
    });
    expect(second.data!.result!.recordedAt > first.data!.result!.recordedAt).toBe(true);
    expect(await read(roomId)).toEqual(second.data);
  });

  test('a conversion counts once a call, however often and however many at once report it', async () => {
    const campaignId = await runningCampaign();
    const [one, two] = [await seedCall({ ...over, campaignId }), await seedCall({ ...over, campaignId })];
    await Promise.all([one, one, one, two, two].map((roomId) => record(roomId, { converted: true })));
    expect((await campaignRow(campaignId))['conversions']).toBe(2);
    await record(two, { summary: 'x' });
    expect((await campaignRow(campaignId))['conversions']).toBe(2);
    await record(two, { converted: false });
    expect((await campaignRow(campaignId))['conversions']).toBe(1);
  });

  test('an opt-out puts the person on the do-not-call list, and nothing here takes it off', async () => {
    const roomId = await seedCall({ ...over, to: 14155553001 });
    const listed = () =>
      server.database.inEngine(
        async ({ db }) => (await sql`select from do_not_call where phone_number = 14155553001`.execute(db)).rows.length,
      );
    await record(roomId, { optOut: false });
    expect(await listed()).toBe(0);
    await record(roomId, { optOut: true });
    await record(roomId, { optOut: true });
    expect(await listed()).toBe(1);
    expect((await record(roomId, { optOut: false })).data!.result!.optOut).toBe(false);
    expect(await listed()).toBe(1);
  });
});

describe('end', () => {
  test('a call that is up is hung up, and its contact is done', async () => {
    const list = await seedList(
      server.database,
      workspaceId,
      [{ phone_number: 14155550102, name: 'Ada', values: ['Berlin'] }],
      { columns: ['city'] },
    );
    const created = await client.POST('/v1/calls/campaigns', {
      body: {
        name: 'x',
        agentId: 'agent_reception',
        fromNumber: `+${from}`,
        lists: [{ id: toId('list', list), role: 'contacts' }],
      },
    });
    const { id } = created.data!.data;
    await client.POST('/v1/calls/campaigns/{id}/start', { params: { path: { id } } });
    const live = async () =>
      (await client.GET('/v1/calls', { params: { query: { campaignId: id, status: 'in_progress' } } })).data!.items[0];
    await expect.poll(live, { interval: 50 }).toBeDefined();
    const { roomId, variables } = (await live())!;
    expect(variables).toEqual({ name: 'Ada', city: 'Berlin' });
    const { response, data } = await end(roomId);
    expect(response.status).toBe(200);
    expect(data).toEqual({ roomId, status: 'completed', endedAt: expect.any(String) });
    expect(await read(roomId)).toMatchObject({ status: 'completed', outcome: 'answered', endedBy: 'service' });
    const again = await end(roomId);
    expect(again.response.status).toBe(409);
    expect(again.error).toMatchObject({ code: 'call_not_active' });
    const stats = async () =>
      (await client.GET('/v1/calls/campaigns/{id}/stats', { params: { path: { id } } })).data!.data;
    await expect
      .poll(stats)
      .toMatchObject({ totalContacts: 1, done: 1, dialing: 0, attempts: 1, outcomes: { answered: 1 }, answerRate: 1 });
    const contacts = await client.GET('/v1/calls/campaigns/{id}/contacts', { params: { path: { id } } });
    expect(contacts.data!.data.items).toMatchObject([
      { state: 'done', roomIds: [roomId], variables: { city: 'Berlin' } },
    ]);
    expect((await client.GET('/v1/calls/campaigns/{id}', { params: { path: { id } } })).data!.data.status).toBe(
      'completed',
    );
  });

  test('a queued call is taken back, with its contact and the counters; of many who ask, one does', async () => {
    const campaignId = await runningCampaign();
    const contactId = newUuid();
    const roomId = await seedCall({ status: 'queued', campaignId, contactId });
    await seedRow(server.database, 'campaign_contacts', {
      workspace_id: workspaceId,
      campaign_id: campaignId,
      id: contactId,
      phone_number: 1,
      state: 'dialing',
      attempt: 1,
    });
    await server.database.inEngine(({ db }) =>
      sql`update campaigns set total_contacts = 1, in_flight = 1, attempts = 1 where id = ${campaignId}`.execute(db),
    );
    const asked = await Promise.all([end(roomId), end(roomId), end(roomId)]);
    expect(asked.map(({ response }) => response.status).toSorted()).toEqual([200, 409, 409]);
    expect(asked.find(({ data }) => data)!.data).toEqual({ roomId, status: 'cancelled', endedAt: expect.any(String) });
    expect(await campaignRow(campaignId)).toMatchObject({
      in_flight: 0,
      done: 1,
      cancelled: 1,
      pending: 0,
      waiting: 0,
    });
    expect(await read(roomId)).toMatchObject({ status: 'cancelled', outcome: 'cancelled', endedBy: 'service' });
  });

  test('a call of which the provider has no word yet is answered for with its status', async () => {
    const roomId = await seedCall({ status: 'dialing' });
    const { response, data } = await end(roomId);
    expect(response.status).toBe(200);
    expect(data!.roomId).toBe(roomId);
    expect(['dialing', 'failed', 'cancelled']).toContain(data!.status);
  });

  test.each(['completed', 'failed', 'cancelled'] as const)('a call that is %s is refused', async (status) => {
    const { response, error } = await end(await seedCall({ ...over, status }));
    expect(response.status).toBe(409);
    expect(error).toEqual({ code: 'call_not_active', error: 'The call has ended already.' });
  });
});

describe('every operation', () => {
  const statuses = async (c: TrunklineClient, roomId: string) => {
    const asked = await Promise.all([
      c.GET('/v1/calls/{roomId}', params(roomId)),
      c.POST('/v1/calls/{roomId}/end', params(roomId)),
      c.POST('/v1/calls/{roomId}/result', { ...params(roomId), body: { converted: true } }),
    ]);
    return asked.map(({ response }) => response.status);
  };

  test('is 401 without a key and 403 with one that lacks the permission', async () => {
    const stranger = createClient<paths>({ baseUrl: server.url }) as unknown as TrunklineClient;
    const weak = await clientOf('Default', ['campaigns:read']);
    expect(await statuses(stranger, unknown())).toEqual([401, 401, 401]);
    expect(await statuses(weak, unknown())).toEqual([403, 403, 403]);
    expect((await stranger.GET('/v1/calls')).response.status).toBe(401);
    expect((await weak.GET('/v1/calls')).response.status).toBe(403);
  });

  test('is 404 for a call that another workspace has, and 400 for what the contract does not know', async () => {
    const roomId = await seedCall(over);
    const other = await clientOf('Other', ['*']);
    expect(await statuses(other, roomId)).toEqual([404, 404, 404]);
    expect(await statuses(client, unknown())).toEqual([404, 404, 404]);
    expect(await statuses(client, 'room_1')).toEqual([400, 400, 400]);
    expect((await other.GET('/v1/calls')).data).toMatchObject({ items: [] });
    expect((await client.GET('/v1/calls', { params: { query: { status: 'odd' as 'queued' } } })).response.status).toBe(
      400,
    );
    expect((await client.POST('/v1/calls/{roomId}/result', { ...params(roomId), body: {} })).response.status).toBe(400);
  });

  test('that changes something is in the audit log', async () => {
    const roomId = await seedCall(over);
    await client.POST('/v1/calls/{roomId}/result', { ...params(roomId), body: { converted: true } });
    const { rows } = await server.database.inEngine(({ db }) =>
      sql<{ action: string }>`select action from audit_log where resource_id = ${roomId}`.execute(db),
    );
    expect(rows).toEqual([{ action: 'call.result_recorded' }]);
  });
});

test("a call's SIP messages are read once it is over, and erased after seven days; one of no trunk has none", async () => {
  const sip = (roomId: string) => client.GET('/v1/calls/{roomId}/sip', params(roomId));
  const simulated = await seedCall(over);
  expect((await sip(simulated)).response.status).toBe(404);

  const store = postgresCallStore(server.database, unguarded(server.database));
  const roomId = await seedCall(over);
  const room = fromId(roomId);
  const at = new Date('2026-11-20T10:00:00.000Z');
  await store.begin({ roomId: room, attempt: 1, workspaceId, serverId: newUuid(), at });
  expect((await sip(roomId)).data).toEqual({ roomId, messages: [] });
  const message = { direction: 'sent', transport: 'udp', peer: '203.0.113.7:5060' } as const;
  const told = { ...message, summary: 'BYE sip:a@b SIP/2.0', text: 'BYE sip:a@b SIP/2.0\r\n\r\n' };
  await store.end({ roomId: room, type: 'ended', at, outcome: 'answered', endedBy: 'callee' });
  await store.keepMessages(room, [{ at: at.getTime(), ...told }]);
  const kept = { roomId, messages: [{ at: at.toISOString(), ...told }] };
  expect((await sip(roomId)).data).toEqual(kept);
  const other = await clientOf('Others', ['calls:read']);
  expect((await other.GET('/v1/calls/{roomId}/sip', params(roomId))).response.status).toBe(404);

  const day = 24 * 3600 * 1000;
  await eraseOldMessages(server.database, new Date(at.getTime() + 7 * day));
  expect((await sip(roomId)).data).toEqual(kept);
  await eraseOldMessages(server.database, new Date(at.getTime() + 7 * day + 1));
  expect((await sip(roomId)).data).toEqual({ roomId, messages: [] });
});
