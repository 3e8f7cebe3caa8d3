import type { components } from '@trunkline/client/schema';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { confirmRestore } from '../../../src/commands/confirm-restore.ts';
import { openWitnesses } from '../../../src/compose-adapters.ts';
import { loadConfig } from '../../../src/config.ts';
import { callBack } from '../../../src/dialing/call-intents/call-back.ts';
import { fromId, newUuid, toId } from '../../../src/foundation/values/ids.ts';
import { operatorLimits } from '../../../src/platform/workspace/operator-limits.ts';
import { seedNumber } from '../../seed/workspace.ts';
import { startTestServer, type TestServer } from '../../server.ts';
import { until } from '../../until.ts';

type CreateCall = components['schemas']['CreateCallFromNumber'];

const fromNumber = '+14155550100';
const DAY_MS = 24 * 3_600_000;
let server: TestServer;
let client: TestServer['client'];
let workspaceId: string;
let numberId: string;

const noWitness = () => openWitnesses({ ...loadConfig({}), dataDir: '/nowhere' }, newUuid());

beforeAll(async () => {
  // A call that nobody ends is up for 36 s.
  server = await startTestServer({ config: { simulatorSpeed: 100 } });
  // At eleven in the morning where the callees are.
  const noon = server.clock.now().setUTCHours(19, 0, 0, 0);
  server.clock.set(new Date(noon < server.clock.now().getTime() ? noon + DAY_MS : noon));
  client = server.client;
  const { rows } = await server.database.inEngine(({ db }) =>
    sql<{ id: string }>`select id from workspaces`.execute(db),
  );
  workspaceId = rows[0]!.id;
  numberId = await seedNumber(server.database, workspaceId, fromNumber);
});
afterAll(() => server.stop());

let callees = 14155553000;
/** A callee of the simulator's who is called by no other test. */
const someone = () => `+${callees++}`;
const inDays = (days: number) => new Date(server.clock.now().getTime() + days * DAY_MS).toISOString();
const post = (given: Partial<CreateCall>, headers?: { 'Idempotency-Key': string }) =>
  client.POST('/v1/calls', {
    params: { header: headers ?? {} },
    body: { agentId: 'agent_reception', fromNumber, toNumber: someone(), ...given },
  });
const create = async (given: Partial<CreateCall> = {}) => {
  const { data, error } = await post(given);
  if (!data) throw new Error(JSON.stringify(error));
  return data;
};
const at = (roomId: string) => ({ params: { path: { roomId } } });
const read = async (roomId: string) => (await client.GET('/v1/calls/{roomId}', at(roomId))).data!;
const end = (roomId: string) => client.POST('/v1/calls/{roomId}/end', at(roomId));
const untilOver = async (roomId: string) => {
  await until(async () => (await read(roomId)).endedAt !== undefined);
  return read(roomId);
};
const intents = async () => {
  const { rows } = await server.database.inEngine(({ db }) =>
    sql<{ count: number }>`select count(*) as count from call_intents`.execute(db),
  );
  return rows[0]!.count;
};
const changeWorkspace = (fields: object) =>
  server.database.inEngine(({ db }) =>
    db
      .updateTable('workspaces')
      .set({ ...fields, updated_at: server.clock.now() })
      .where('id', '=', workspaceId)
      .execute(),
  );

test('a call is placed at once, once, and carries what it was given', async () => {
  const given = { variables: { first_name: 'Ada' }, metadata: { orderId: '7781' }, externalId: 'order-7781' };
  const call = await create({ toNumber: '+14155550101', tags: ['deliveries'], ...given });
  expect(call).toMatchObject({ status: 'queued', toNumber: '+14155550101', fromNumber, simulated: true, attempt: 1 });
  expect(call).toMatchObject({ phoneNumberId: toId('pn', numberId), agentId: 'agent_reception', ...given });
  const over = await untilOver(call.roomId);
  expect(over).toMatchObject({ status: 'completed', outcome: 'answered', tags: ['deliveries'], attempt: 1, ...given });
  for (const gone of ['nextAttemptAt', 'expiresAt', 'reason', 'campaignId']) expect(over).not.toHaveProperty(gone);
  expect(await intents()).toBe(0);
});

test('who is asked to be called again by two at once is called again once, within the same hours, and both hear when', async () => {
  const callingWindows = [{ days: [1, 2, 3, 4, 5, 6, 7], start: 0, end: 1440 }];
  const hours = { callingWindows, timezone: 'Europe/Berlin', calleeTimeZone: 'campaign' as const };
  const { roomId } = await create(hours);
  await untilOver(roomId);
  const deps = {
    ...{ database: server.database, clock: server.clock, providers: ['simulator'] as const, nudge: () => {} },
    ...{ operator: operatorLimits(loadConfig({})), isSimulated: () => true },
  };
  const before = await intents();
  const call = { workspaceId, roomId: fromId(roomId), agentId: 'agent_reception' };
  const asked = await Promise.all([1, 2, 3].map(() => callBack(deps, call, { inMinutes: 600 })));
  expect(new Set(asked.map((when) => when.getTime())).size).toBe(1);
  expect(await intents()).toBe(before + 1);
  // The first call has left nothing but its own row: its hours stand there.
  const { rows } = await server.database.inEngine(({ db }) =>
    sql<object>`select call_back_terms as terms, calling_windows, timezone from call_intents`.execute(db),
  );
  expect(rows).toEqual([{ terms: { ...hours, times: 1 }, calling_windows: callingWindows, timezone: 'Europe/Berlin' }]);
  const { data } = await client.GET('/v1/calls', { params: { query: { status: 'queued' } } });
  await end(data!.items[0]!.roomId);
});

test('a number as people write it is read with its country', async () => {
  const { toNumber, roomId } = await create({ toNumber: '(415) 555-0103', defaultCountry: 'US' });
  expect(toNumber).toBe('+14155550103');
  expect(await untilOver(roomId)).toMatchObject({ status: 'failed', outcome: 'declined' });
});

test('a call for tomorrow waits outside of the calls, is listed, and is taken back by its end', async () => {
  const call = await create({ scheduledAt: inDays(1), externalId: 'tomorrow' });
  expect(call).toMatchObject({ status: 'queued', reason: 'scheduled' });
  expect(Date.parse(call.expiresAt!) - Date.parse(call.nextAttemptAt!)).toBe(DAY_MS);
  const listed = await client.GET('/v1/calls', { params: { query: { status: 'queued' } } });
  expect(listed.data!.items).toEqual([call]);
  const { data } = await end(call.roomId);
  expect(data).toMatchObject({ roomId: call.roomId, status: 'cancelled', endedAt: expect.any(String) });
  expect(await read(call.roomId)).toMatchObject({ status: 'cancelled', outcome: 'cancelled', endedBy: 'service' });
  expect((await end(call.roomId)).error).toMatchObject({ code: 'call_not_active' });
  expect(await intents()).toBe(0);
});

test('a call outside of its hours says so, and is placed when they open', async () => {
  const open = new Date(server.clock.now().getTime() + DAY_MS / 2);
  const day = ((open.getUTCDay() + 6) % 7) + 1;
  const hours = { start: open.getUTCHours() * 60, end: open.getUTCHours() * 60 + 60 };
  // Nothing but +883 has no zone of its own, and it costs as much as a premium-rate number.
  await changeWorkspace({ premium_rate_allowed: true });
  const call = await create({ toNumber: '+883510001234', callingWindows: [{ days: [day], ...hours }] });
  expect(call).toMatchObject({ status: 'queued', reason: 'outside_window' });
  const next = Date.parse(call.nextAttemptAt!);
  expect(open.getTime() - next).toBeGreaterThanOrEqual(0);
  server.clock.set(new Date(next + 1000));
  expect((await untilOver(call.roomId)).dialedAt).toBeDefined();
  await changeWorkspace({ premium_rate_allowed: false });
});

test('a call that could not be placed in time is given up, and says why', async () => {
  await changeWorkspace({ dialing_paused_at: server.clock.now() });
  const call = await create({ expiresAt: inDays(0.5) });
  await until(async () => (await read(call.roomId)).reason === 'dialing_paused');
  server.clock.advance(DAY_MS / 2);
  expect(await untilOver(call.roomId)).toMatchObject({
    status: 'cancelled',
    outcome: 'cancelled',
    endedBy: 'service',
    reason: 'dialing_paused',
  });
  await changeWorkspace({ dialing_paused_at: null });
});

test('a call that waited for the workspace is placed once that lets it go', async () => {
  await changeWorkspace({ dialing_paused_at: server.clock.now() });
  const call = await create({ toNumber: '+14155550186' });
  await until(async () => (await read(call.roomId)).reason === 'dialing_paused');
  await changeWorkspace({ dialing_paused_at: null });
  expect(await untilOver(call.roomId)).toMatchObject({ outcome: 'busy' });
});

test('a call waits for room in its workspace, and has it before long', async () => {
  await changeWorkspace({ max_concurrent_calls: 1 });
  const [first, second] = [await create({ toNumber: '+14155550101' }), await create({ toNumber: '+14155550103' })];
  const third = await create();
  await until(
    async () => (await read(third.roomId)).reason === 'limit_reached' || !!(await read(third.roomId)).dialedAt,
  );
  await Promise.all([first, second, third].map(({ roomId }) => untilOver(roomId)));
  const { rows } = await server.database.inEngine(({ db }) =>
    sql<{ overlaps: number }>`
      select count(*) as overlaps from calls a join calls b on a.id < b.id and a.dialed_at < b.ended_at and b.dialed_at < a.ended_at
      where a.id = any(${[first, second, third].map(({ roomId }) => fromId(roomId))}::uuid[])
        and b.id = any(${[first, second, third].map(({ roomId }) => fromId(roomId))}::uuid[])`.execute(db),
  );
  expect(rows).toEqual([{ overlaps: 0 }]);
  await changeWorkspace({ max_concurrent_calls: null });
});

test('a call from a pool has no number until it is placed, and is told of as the others when it is taken back', async () => {
  const phoneNumberIds = [toId('pn', await seedNumber(server.database, workspaceId, '+14155550110'))];
  const pool = (await client.POST('/v1/number-pools', { body: { name: 'Reminders', phoneNumberIds } })).data!.data;
  const from = async (given: object) => {
    const body = { agentId: 'agent_reception', numberPoolId: pool.id, toNumber: someone(), ...given };
    return (await client.POST('/v1/calls', { body })).data!;
  };
  const waiting = await from({ scheduledAt: inDays(1) });
  expect(waiting).toMatchObject({ numberPoolId: pool.id, reason: 'scheduled' });
  expect(waiting).not.toHaveProperty('fromNumber');
  const placed = await untilOver((await from({ toNumber: '+14155550186' })).roomId);
  expect(placed).toMatchObject({ fromNumber: '+14155550110', phoneNumberId: phoneNumberIds[0], outcome: 'busy' });
  const itself = await from({ toNumber: '+14155550110' });
  expect(await untilOver(itself.roomId)).toMatchObject({ status: 'failed', outcome: 'invalid_number', attempt: 1 });
  const { error } = await client.DELETE('/v1/number-pools/{id}', { params: { path: { id: pool.id } } });
  expect(error).toMatchObject({ code: 'pool_in_use' });
  await end(waiting.roomId);
  const taken = await read(waiting.roomId);
  expect(taken).toMatchObject({ status: 'cancelled', attempt: 1 });
  expect(taken).not.toHaveProperty('phoneNumberId');
  expect((await end(waiting.roomId)).error).toMatchObject({ code: 'call_not_active' });
});

test('a request that is sent again places no second call, and answers with the call as it is now', async () => {
  const key = { 'Idempotency-Key': 'order-7781' };
  const given = { toNumber: someone(), scheduledAt: inDays(1) };
  const [first, again] = [await post(given, key), await post(given, key)];
  expect(again.data).toEqual(first.data);
  expect(again.response.headers.get('Idempotent-Replayed')).toBe('true');
  expect((await post({ ...given, tags: ['other'] }, key)).error).toMatchObject({ code: 'idempotency_key_reused' });
  await end(first.data!.roomId);
  expect((await post(given, key)).data).toMatchObject({ roomId: first.data!.roomId, status: 'cancelled' });
});

test('who must not be called is refused, with the reason', async () => {
  const reasonOf = async (given: Partial<CreateCall>) => {
    const { error, response } = await post(given);
    expect([response.status, error]).toEqual([409, expect.objectContaining({ code: 'call_refused' })]);
    return error!.details![0]!.reason;
  };
  const optedOut = someone();
  await client.POST('/v1/calls/do-not-call', { body: { phoneNumbers: [optedOut] } });
  expect(await reasonOf({ toNumber: optedOut })).toBe('do_not_call');
  expect(await reasonOf({ toNumber: '415 555 0142' })).toBe('invalid_number');
  expect(await reasonOf({ toNumber: fromNumber })).toBe('invalid_number');
  expect(await reasonOf({ toNumber: '112', defaultCountry: 'DE' })).toBe('invalid_number');
  expect(await reasonOf({ toNumber: '+19002341234' })).toBe('country_not_allowed');
  const tomorrow = [{ days: [((server.clock.now().getUTCDay() + 7) % 7) + 1], start: 60, end: 61 }];
  const soon = { expiresAt: inDays(0.01), callingWindows: tomorrow };
  expect(await reasonOf(soon)).toBe('outside_window');
  const messageOf = async (given: Partial<CreateCall>) => (await post(given)).error!.error;
  expect(await messageOf(soon)).toContain('Give a later expiresAt, or other callingWindows.');
  const { quietHours = null } = (await client.GET('/v1/workspace')).data!.data;
  await client.PATCH('/v1/workspace', { body: { quietHours: { start: 0, end: 1440 } } });
  expect(await reasonOf(soon)).toBe('quiet_hours');
  expect(await messageOf(soon)).toMatch(/Give a later expiresAt, or change quietHours .* trustedNumbers/);
  await client.PATCH('/v1/workspace', { body: { quietHours } });
  // Noon in Honolulu is night in Guam; +1 888 may be anywhere.
  const hour = { callingWindows: [{ days: [1, 2, 3, 4, 5, 6, 7], start: 720, end: 721 }] };
  expect(await reasonOf({ toNumber: '+18882345678', ...hour })).toBe('no_common_hour');
});

test('what is not as it should be is named', async () => {
  const faultOf = async (given: Partial<CreateCall>) => {
    const { error, response } = await post(given);
    return [response.status, error!.code, error!.details?.[0]?.path];
  };
  expect(await faultOf({ fromNumber: '+14155550199' })).toEqual([404, 'not_found', '/body/fromNumber']);
  expect(await faultOf({ timezone: 'Mars/Olympus' })).toEqual([400, 'invalid_request', '/body/timezone']);
  expect(await faultOf({ defaultCountry: 'ZZ' })).toEqual([400, 'invalid_request', '/body/defaultCountry']);
  expect(await faultOf({ expiresAt: inDays(-1) })).toEqual([400, 'invalid_request', '/body/expiresAt']);
  expect(await faultOf({ expiresAt: inDays(31) })).toEqual([400, 'invalid_request', '/body/expiresAt']);
  for (const scheduledAt of [inDays(367), '9999-12-31T23:59:59.000Z'])
    expect(await faultOf({ scheduledAt })).toEqual([400, 'invalid_request', '/body/scheduledAt']);
  await seedNumber(server.database, workspaceId, '+14155550120', { status: 'suspended' });
  expect(await faultOf({ fromNumber: '+14155550120' })).toEqual([409, 'campaign_not_startable', undefined]);
});

test('calls are found by their own IDs, tags, metadata, agent, direction and several statuses, those that wait among them', async () => {
  const agentId = 'agent_filters';
  const metadata = { order: '7', depot: 'a=b' };
  const [waiting, over] = [
    await create({ agentId, scheduledAt: inDays(1), externalId: 'filter-1', tags: ['filters', 'one'], metadata }),
    await create({
      agentId,
      toNumber: '+14155550186',
      externalId: 'filter-2',
      tags: ['filters'],
      metadata: { order: '7' },
    }),
  ];
  await untilOver(over.roomId);
  const found = async (query: object) => {
    const { data } = await client.GET('/v1/calls', {
      params: { query: { order: 'asc', agentId, includeTotal: true, ...query } },
    });
    expect(data!.totalCount).toBe(data!.items.length);
    return data!.items.map(({ roomId }) => roomId);
  };
  const both = [waiting.roomId, over.roomId];
  expect(await found({})).toEqual(both);
  expect(await found({ status: ['queued', 'failed'], direction: 'outbound' })).toEqual(both);
  expect(await found({ status: 'queued' })).toEqual([waiting.roomId]);
  expect(await found({ outcome: ['busy', 'answered'] })).toEqual([over.roomId]);
  expect(await found({ externalId: 'filter-1' })).toEqual([waiting.roomId]);
  expect(await found({ tag: 'filters' })).toEqual(both);
  expect(await found({ tag: ['one', 'filters'] })).toEqual([waiting.roomId]);
  expect(await found({ metadata: 'order=7' })).toEqual(both);
  expect(await found({ metadata: ['order=7', 'depot=a=b'] })).toEqual([waiting.roomId]);
  for (const none of ['order=', 'order=77', 'depot=a', 'Order=7', ['order=7', 'order=8']])
    expect(await found({ metadata: none })).toEqual([]);
  expect(await found({ phoneNumber: '+14155550186' })).toEqual([over.roomId]);
  expect(await found({ direction: 'inbound' })).toEqual([]);
  await end(waiting.roomId);
});

test('what the agent knows of a call is kept, and what was said is told with that call alone', async () => {
  const { roomId } = await create({ toNumber: '+14155550186', agentId: 'agent_result' });
  await untilOver(roomId);
  const record = (body: components['schemas']['RecordCallResult']) =>
    client.POST('/v1/calls/{roomId}/result', { ...at(roomId), body });
  const turn = { at: '2026-11-20T17:30:06.040Z', role: 'person' as const, text: 'Who is it?' };
  const known = {
    disposition: 'call_back',
    answeredBy: 'screening' as const,
    cost: { amount: 0.042, currency: 'USD' },
  };
  const first = (await record({ transcript: [turn] })).data!.result!;
  expect(first).toEqual({ transcript: [turn], recordedAt: expect.any(String) });
  const { data } = await record({ ...known, transcript: [turn, { ...turn, role: 'agent', text: 'It is me.' }] });
  expect(data!.result).toMatchObject({ ...known, transcript: [turn, { text: 'It is me.' }] });
  expect(data!.outcome).toBe('busy');
  expect((await read(roomId)).result).toEqual(data!.result);
  const { transcript: _, ...listed } = data!.result!;
  const list = await client.GET('/v1/calls', { params: { query: { agentId: 'agent_result' } } });
  expect(list.data!.items[0]!.result).toEqual(listed);
  const long = { ...turn, text: 'a'.repeat(60_000) };
  const { error } = await record({ transcript: Array.from({ length: 18 }, () => long) });
  expect(error).toMatchObject({ code: 'invalid_request', details: [{ path: '/body/transcript' }] });
});

test('a call that waits has no result yet, and nothing of one is kept', async () => {
  const { roomId, toNumber } = await create({ scheduledAt: inDays(1) });
  const turn = { at: '2026-11-20T17:30:06.040Z', role: 'person' as const, text: 'Who is it?' };
  const body = { optOut: true, transcript: [turn] };
  const { error } = await client.POST('/v1/calls/{roomId}/result', { ...at(roomId), body });
  expect(error).toMatchObject({ code: 'invalid_state' });
  await end(roomId);
  await end((await create({ toNumber })).roomId);
});

test('an agent that is deleted meanwhile is not called with', async () => {
  const connection = { type: 'stream' as const, url: 'wss://voice.example.com/agent' };
  const { agent } = (await client.POST('/v1/agents', { body: { name: 'Short', connection } })).data!.data;
  const asked = await server.database.inEngine(async ({ db }) => {
    await sql`delete from agents where id = ${fromId(agent.id)}`.execute(db);
    const answer = post({ agentId: agent.id });
    await until(async () => {
      const { rows } = await server.database.inEngine((tx) =>
        sql`
          select from pg_stat_activity where wait_event_type = 'Lock' and query like '%from agents%for key share%'
            and datname = current_database()`.execute(tx.db),
      );
      return rows.length > 0;
    });
    return { answer };
  });
  expect((await asked.answer).error).toMatchObject({ code: 'not_found', details: [{ path: '/body/agentId' }] });
});

test('ten thousand calls wait in a workspace, and no more', async () => {
  const { roomId } = await create({ scheduledAt: inDays(1) });
  const columns = (id: string) => sql`
    select (jsonb_populate_record(i, jsonb_build_object('id', ${sql.raw(id)}))).*
    from call_intents i cross join generate_series(1, 9999) where i.id = ${fromId(roomId)}`;
  await server.database.inEngine(({ db }) => sql`insert into call_intents ${columns('gen_random_uuid()')}`.execute(db));
  expect((await post({})).error).toMatchObject({ code: 'limit_reached' });
  await server.database.inEngine(({ db }) => sql`delete from call_intents`.execute(db));
});

test('after a restore only calls wait whose time had not come: what may have rung since the backup is withdrawn', async () => {
  await changeWorkspace({ dialing_paused_at: server.clock.now() });
  const later = await create({ scheduledAt: inDays(1) });
  const [due, queued, dialing] = [await create(), await create(), await create()];
  const taken = { [fromId(queued.roomId)]: 'queued', [fromId(dialing.roomId)]: 'dialing' };
  await server.database.inEngine(async ({ db }) => {
    for (const [id, status] of Object.entries(taken))
      await sql`
        with i as (update call_intents set next_attempt_at = null, reason = null where id = ${id} returning *)
        insert into calls (workspace_id, id, status, direction, simulated, from_number, to_number, agent_id, phone_number_id,
          owner_kind, owner_id, attempt, server_id, start_at, place_before, ring_timeout_seconds, max_call_seconds, metadata, variables, queued_at)
        select workspace_id, id, ${status}, 'outbound', true, from_number, to_number, agent_id, phone_number_id, 'intent', id, 1,
          (select id from servers limit 1), created_at, created_at, 30, 3600, metadata, variables, created_at from i`.execute(
        db,
      );
    await sql`update installation set held_at = now(), held_reason = 'it is older'`.execute(db);
  });
  // Nobody knows of what no provider has heard: without a witness each of them may have rung.
  expect(await confirmRestore(server.database, await noWitness(), server.clock.now())).toMatchObject({ withdrawn: 1 });
  expect(await read(due.roomId)).toMatchObject({ status: 'cancelled', outcome: 'cancelled', endedBy: 'service' });
  for (const { roomId } of [queued, dialing])
    expect(await read(roomId)).toMatchObject({ status: 'failed', outcome: 'unknown' });
  expect(await read(later.roomId)).toEqual(later);
  expect(await intents()).toBe(1);
});
