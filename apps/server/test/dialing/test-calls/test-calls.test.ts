import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { startTestCall } from '../../../src/dialing/test-calls/start-test-call.ts';
import { fromId, newUuid, toId } from '../../../src/foundation/values/ids.ts';
import { noOperatorLimits } from '../../../src/platform/workspace/operator-limits.ts';
import { byTest } from '../../by-test.ts';
import { keyWith } from '../../platform/api-keys/keys.ts';
import { insertRows, seedRow } from '../../seed/rows.ts';
import { seedTrunk } from '../../seed/trunk.ts';
import { seedNumber } from '../../seed/workspace.ts';
import { startTestServer, type TestServer } from '../../server.ts';
import { until } from '../../until.ts';

const ANSWERS = '+14155550101';
const TALKS_ON = '+14155550102';
const start = '/v1/telephony/phone-numbers/{id}/test-call';

let server: TestServer;
let client: TestServer['client'];
let workspaceId: string;
let phoneNumberId: string;
let fromNumber: string;

let numbers = 0;
/** A number is active in one workspace of a server. */
function newNumber(): string {
  numbers += 1;
  return `+1${2_125_550_200 + numbers}`;
}

beforeAll(async () => {
  server = await startTestServer({ config: { simulatorSpeed: 50 } });
});
afterAll(() => server.stop());
beforeEach(async () => {
  client = server.clientOf(await keyWith(server, { permissions: ['*'], workspace: newUuid() }));
  workspaceId = fromId((await client.GET('/v1/workspace')).data!.data.id);
  fromNumber = newNumber();
  phoneNumberId = toId('pn', await seedNumber(server.database, workspaceId, fromNumber));
});

const ring = (toNumber: string, { id = phoneNumberId, key }: { id?: string; key?: string } = {}) =>
  client.POST(start, {
    params: { path: { id }, ...(key !== undefined && { header: { 'Idempotency-Key': key } }) },
    body: { toNumber },
  });
const read = async (roomId: string) =>
  (await client.GET('/v1/telephony/test-calls/{roomId}', { params: { path: { roomId } } })).data!;
const over = async (roomId: string) => {
  await until(async () => (await read(roomId)).endedAt !== undefined);
  return read(roomId);
};
/** What a refused request says. */
const refusal = async (toNumber: string, given: { id?: string; key?: string } = {}) => {
  const { response, error } = await ring(toNumber, given);
  return { status: response.status, ...error };
};

test('a phone is rung once, and the report says that it was none', async () => {
  const { response, data } = await ring(ANSWERS, { key: 'once' });
  expect(response.status).toBe(202);
  expect(data).toEqual({
    roomId: expect.stringMatching(/^room_/),
    phoneNumberId,
    fromNumber,
    toNumber: ANSWERS,
    simulated: true,
    status: 'queued',
    queuedAt: expect.any(String),
  });
  const report = await over(data!.roomId);
  expect(report).toMatchObject({ status: 'completed', outcome: 'answered', verdict: 'inconclusive' });
  expect(report.findings!.map(({ code }) => code)).toEqual(['simulated', 'ok']);
  const call = await client.GET('/v1/calls/{roomId}', { params: { path: { roomId: data!.roomId } } });
  expect(call.data).toMatchObject({ outcome: 'answered', direction: 'outbound', attempt: 1 });
  expect(call.data).not.toHaveProperty('agentId');

  const again = await ring(ANSWERS, { key: 'once' });
  expect(again.response.headers.get('Idempotent-Replayed')).toBe('true');
  expect(again.data).toEqual(report);
  expect(await refusal(TALKS_ON, { key: 'once' })).toMatchObject({ status: 409, code: 'idempotency_key_reused' });
  expect((await client.GET('/v1/calls')).data!.items).toHaveLength(1);
});

test('a server that can place nothing now still answers what it has taken on', async () => {
  const { data } = await ring(ANSWERS, { key: 'taken' });
  const place = () => {
    throw new Error('nothing is to be placed');
  };
  const ask = (idempotencyKey: string, { free = 0, mayPlace = false }) => {
    const switchboard = { place, free: () => free, mayPlace: async () => mayPlace, isSimulated: () => true };
    const { database, clock } = server;
    const deps = {
      database,
      clock,
      lease: { serverId: newUuid },
      switchboard,
      providers: [],
      operator: noOperatorLimits,
    };
    const auditOf = (_action: string, _type: string, resourceId: string) => byTest(resourceId);
    const order = { workspaceId, phoneNumberId: fromId(phoneNumberId), toNumber: ANSWERS, idempotencyKey, auditOf };
    return startTestCall(deps, order);
  };
  const again = await ask('taken', {});
  expect([toId('room', again.row.room_id), again.replayed]).toEqual([data!.roomId, true]);
  await expect(ask('new', { mayPlace: true })).rejects.toMatchObject({ code: 'unavailable' });
  await expect(ask('new', { free: 1 })).rejects.toMatchObject({ code: 'call_refused' });
});

test("what the trunk said stands in the report, and the number's trunk says why it does not call", async () => {
  const trunkId = await seedTrunk(server.database, workspaceId);
  const trunk = { provider: 'sip', trunk_id: trunkId } as const;
  const id = toId('pn', await seedNumber(server.database, workspaceId, newNumber(), trunk));
  const { data } = await ring('+14155550154', { id });
  const report = await over(data!.roomId);
  expect(report).toMatchObject({ outcome: 'trunk_error', sipStatus: 403, verdict: 'fault' });
  expect(report.findings![1]).toMatchObject({ code: 'forbidden', message: expect.stringContaining('403 ') });
  await until(async () => {
    const { code, error } = await refusal(ANSWERS, { id });
    expect([code, error]).toEqual(['call_refused', expect.stringContaining('is paused (forbidden)')]);
  });
});

test('what holds for every call holds for a test call', async () => {
  await client.POST('/v1/calls/do-not-call', { body: { phoneNumbers: ['+14155550120'] } });
  const limited = { limits: { allowedCountries: ['US'] } };
  await client.PATCH('/v1/workspace', { body: limited });
  const cases: [string, number, string, RegExp][] = [
    ['+14155550120', 409, 'call_refused', /do-not-call list/],
    ['+442071838750', 409, 'call_refused', /allowedCountries/],
    ['+19005550199', 409, 'call_refused', /premium-rate/],
    ['+1911000', 400, 'invalid_request', /numbering plan/],
    [fromNumber, 400, 'invalid_request', /another number/],
  ];
  for (const [number, status, code, error] of cases) {
    expect(await refusal(number), number).toMatchObject({ status, code, error: expect.stringMatching(error) });
  }
  expect((await refusal('+14155550120')).details?.[0]?.reason).toBe('do_not_call');
  await client.POST('/v1/workspace/pause-dialing');
  expect(await refusal(ANSWERS)).toMatchObject({
    status: 409,
    code: 'call_refused',
    error: expect.stringMatching(/paused/),
  });
  await client.POST('/v1/workspace/resume-dialing');
  await client.PATCH('/v1/workspace', { body: { limits: { maxConcurrentCalls: 1 } } });
  await seedRow(server.database, 'calls', { workspace_id: workspaceId, to_number: 1, place_before: new Date(4e12) });
  expect(await refusal(ANSWERS)).toMatchObject({ status: 409, code: 'limit_reached' });
});

test('a number that places no calls says why', async () => {
  const cases: [object, RegExp][] = [
    [{ status: 'suspended' }, /is suspended/],
    [{ provider: 'twilio' }, /no trunk/],
    [{ provider: 'sip' }, /no trunk/],
  ];
  for (const [given, error] of cases) {
    const id = toId('pn', await seedNumber(server.database, workspaceId, newNumber(), given));
    expect(await refusal(ANSWERS, { id })).toMatchObject({ code: 'call_refused', error: expect.stringMatching(error) });
  }
  expect(await refusal(ANSWERS, { id: toId('pn', newUuid()) })).toMatchObject({ status: 404 });
});

test('of several that are asked for at once one rings, and the next one when it is over', async () => {
  const asked = await Promise.all([TALKS_ON, '+14155560102', '+14155570102'].map((number) => ring(number)));
  const [accepted, ...more] = asked.filter(({ data }) => data);
  expect(more).toEqual([]);
  const refused = asked.flatMap(({ error }) => error ?? []);
  expect(refused.map(({ code }) => code)).toEqual(['limit_reached', 'limit_reached']);
  const { roomId } = accepted!.data!;
  await client.POST('/v1/calls/{roomId}/end', { params: { path: { roomId } } });
  const report = await over(roomId);
  expect(report.verdict).toBe('inconclusive');
  expect((await ring(ANSWERS)).response.status).toBe(202);
});

test('a workspace makes twenty test calls in an hour, those that were taken back not counted', async () => {
  const now = server.clock.now();
  const ended = Array.from({ length: 20 }, (_, index) => ({ room: newUuid(), number: 14155560000 + index }));
  await server.database.inEngine(async ({ db }) => {
    const of = { workspace_id: workspaceId };
    const at = { status: 'completed', outcome: 'answered', ended_at: now } as const;
    await insertRows(
      db,
      'calls',
      ended.map(({ room, number }) => ({ ...of, ...at, id: room, to_number: number })),
    );
    const rows = ended.map(({ room }, index) => ({
      ...of,
      room_id: room,
      requested_at: now,
      returned_at: index === 0 ? now : null,
    }));
    await insertRows(db, 'test_calls', rows);
  });
  const { data } = await ring(ANSWERS);
  await over(data!.roomId);
  expect(await refusal(ANSWERS)).toMatchObject({
    status: 409,
    code: 'limit_reached',
    error: expect.stringMatching(/20/),
  });
  server.clock.advance(3_600_001);
  expect((await ring(ANSWERS)).response.status).toBe(202);
});

test('what a lost server has left is told as it is, and is not placed again', async () => {
  const lost = newUuid();
  const left = async (status: 'queued' | 'dialing', to_number: number) => {
    const of = { workspace_id: workspaceId, phone_number_id: fromId(phoneNumberId), to_number };
    const id = newUuid();
    await seedRow(server.database, 'calls', {
      ...of,
      ...{ id, owner_kind: 'test_call', owner_id: id },
      status,
      agent_id: null,
      server_id: lost,
      place_before: new Date(0),
    });
    await seedRow(server.database, 'test_calls', { ...of, room_id: id });
    return toId('room', id);
  };
  const queued = await left('queued', 14155550101);
  const dialing = await left('dialing', 14155560101);
  // Last: a lost server is forgotten once its calls are taken over.
  await server.database.inEngine(({ db }) =>
    db
      .insertInto('servers')
      .values({ id: lost, lease_until: new Date(0) })
      .execute(),
  );
  for (const roomId of [queued, dialing]) {
    const report = await over(roomId);
    expect(report).toMatchObject({
      status: 'cancelled',
      outcome: 'cancelled',
      endedBy: 'error',
      verdict: 'inconclusive',
    });
    expect(report.findings!.map(({ code }) => code)).toEqual(['simulated', 'not_placed']);
  }
  expect((await client.GET('/v1/calls', { params: { query: { status: 'completed' } } })).data!.items).toEqual([]);
});
