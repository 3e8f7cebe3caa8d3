import type { components } from '@trunkline/client/schema';
import { sql } from 'kysely';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startBatch } from '../../../src/dialing/batches/start-batch.ts';
import { openDatabase } from '../../../src/foundation/database/database.ts';
import { systemClock } from '../../../src/foundation/values/clock.ts';
import { fromId, toId } from '../../../src/foundation/values/ids.ts';
import { providers } from '../../../src/lines/phone-numbers/phone-number.ts';
import type { CallRequest } from '../../../src/lines/telephony/call-gateway.ts';
import { noOperatorLimits } from '../../../src/platform/workspace/operator-limits.ts';
import { anyAgent } from '../../../src/voices/agents/directory.ts';
import { byTest } from '../../by-test.ts';
import { freshDatabase } from '../../database.ts';
import { seedNumber, seedWorkspace } from '../../seed/workspace.ts';
import { startTestServer, type TestServer } from '../../server.ts';
import { until } from '../../until.ts';
import { dialersTurn, startTestDialer } from '../dialing.ts';

type StartBatch = components['schemas']['StartBatchFromNumber'];

const fromNumber = '+14155550100';
const HOUR_MS = 3_600_000;
let server: TestServer;
let client: TestServer['client'];
let workspaceId: string;
let numberId: string;

beforeAll(async () => {
  // A call that nobody ends is up for 36 s.
  server = await startTestServer({ config: { simulatorSpeed: 100 } });
  client = server.client;
  const { rows } = await server.database.inEngine(({ db }) =>
    sql<{ id: string }>`select id from workspaces`.execute(db),
  );
  workspaceId = rows[0]!.id;
  numberId = await seedNumber(server.database, workspaceId, fromNumber);
});
afterAll(() => server.stop());

const path = '/v1/calls/batch';
const at = (batchId: string) => ({ params: { path: { batchId } } });
const read = async (batchId: string) => (await client.GET(`${path}/{batchId}`, at(batchId))).data!;
const start = async (given: Partial<StartBatch>) => {
  const body = { agentId: 'agent_delivery', fromNumber, recipients: [], ...given };
  const { data, error } = await client.POST(path, { body });
  if (!data) throw new Error(JSON.stringify(error));
  return data;
};
const callsOf = async (query: { batchId?: string; campaignId?: string; contactId?: string }) =>
  (await client.GET('/v1/calls', { params: { query: { order: 'asc', ...query } } })).data!.items;
const eventsOf = async (batchId: string) => {
  const { rows } = await server.database.inEngine(({ db }) =>
    sql<{ type: string; data: object }>`
      select type, data from events where resource_id = ${fromId(batchId)} order by revision`.execute(db),
  );
  return rows;
};
const untilStatus = (batchId: string, status: string) => until(async () => (await read(batchId)).status === status);

test('every recipient is called, each call carries its metadata, and the end is told', async () => {
  const { batchId, acceptedRecipients } = await start({
    name: 'Deliveries',
    metadata: { depot: 'Oakland', orderId: 'none' },
    recipients: [
      { phoneNumber: '+14155550101', name: 'Ada', metadata: { orderId: '7781' } },
      { phoneNumber: '+14155550103', externalId: 'order-7782' },
      { phoneNumber: '+14155550186', metadata: { depot: 'Berkeley' } },
    ],
  });
  await untilStatus(batchId, 'completed');

  const calls = await callsOf({ batchId });
  expect(calls.map(({ toNumber, outcome, metadata }) => [toNumber, outcome, metadata])).toEqual(
    expect.arrayContaining([
      ['+14155550101', 'answered', { depot: 'Oakland', orderId: '7781' }],
      ['+14155550103', 'declined', { depot: 'Oakland', orderId: 'none' }],
      ['+14155550186', 'busy', { depot: 'Berkeley', orderId: 'none' }],
    ]),
  );
  expect(calls).toHaveLength(3);
  expect(calls.map((call) => [call.batchId, call.campaignId])).toEqual(calls.map(() => [batchId, undefined]));
  const [ada] = await callsOf({ contactId: acceptedRecipients[0]!.contactId });
  expect(ada).toMatchObject({ toNumber: '+14155550101', batchId, variables: { name: 'Ada' } });
  const { data } = await client.GET('/v1/calls/{roomId}', { params: { path: { roomId: ada!.roomId } } });
  expect(data).toEqual(ada);
  expect(await callsOf({ campaignId: toId('cmp', fromId(batchId)) })).toEqual([]);

  expect(calls.find(({ toNumber }) => toNumber === '+14155550103')!.externalId).toBe('order-7782');
  const listed = (await client.GET(`${path}/{batchId}/recipients`, at(batchId))).data!.items;
  expect(listed.map(({ state, lastOutcome, attempts }) => [state, lastOutcome, attempts])).toEqual([
    ['done', 'answered', 1],
    ['done', 'declined', 1],
    ['done', 'busy', 1],
  ]);
  expect(listed[2]).toMatchObject({ index: 2, reason: 'retries_exhausted', contactId: expect.any(String) });
  expect(listed[0]!.roomIds).toEqual([ada!.roomId]);

  const batch = await read(batchId);
  expect(batch.stats).toMatchObject({
    totalContacts: 3,
    done: 3,
    pending: 0,
    attempts: 3,
    outcomes: { answered: 1, declined: 1, busy: 1 },
  });
  const { callsPerSecond: _, ...stats } = batch.stats;
  expect(await eventsOf(batchId)).toEqual([
    { type: 'batch.completed', data: { ...batch, stats: { ...stats, callsPerSecond: expect.any(Number) } } },
  ]);
});

test('a paused batch calls nobody until it is resumed, and a deleted one leaves its calls', async () => {
  const recipients = Array.from({ length: 3 }, (_, i) => ({ phoneNumber: `+1415555010${4 + i}` }));
  const { batchId } = await start({ recipients, maxConcurrency: 1 });
  await client.POST(`${path}/{batchId}/pause`, at(batchId));
  await until(async () => (await read(batchId)).stats.dialing === 0);
  await dialersTurn(server.database);
  expect(await read(batchId)).toMatchObject({ status: 'paused', stats: { dialing: 0 } });
  expect((await read(batchId)).stats.pending).toBeGreaterThan(1);
  await client.POST(`${path}/{batchId}/resume`, at(batchId));
  await untilStatus(batchId, 'completed');
  expect((await client.DELETE(`${path}/{batchId}`, at(batchId))).response.status).toBe(200);
  const calls = await callsOf({ batchId });
  expect(calls.map((call) => [call.batchId, call.campaignId])).toEqual(calls.map(() => [batchId, undefined]));
  expect(calls.map(({ toNumber }) => toNumber).toSorted()).toEqual(recipients.map(({ phoneNumber }) => phoneNumber));
});

test('a batch calls from the numbers of a pool', async () => {
  const second = await seedNumber(server.database, workspaceId, '+14155550110');
  const phoneNumberIds = [numberId, second].map((id) => toId('pn', id));
  const pool = await client.POST('/v1/number-pools', { body: { name: 'Depots', phoneNumberIds } });
  const recipients = [{ phoneNumber: '+14155550101' }, { phoneNumber: '+14155550103' }];
  const { data } = await client.POST(path, {
    body: { agentId: 'agent_delivery', numberPoolId: pool.data!.data.id, recipients },
  });
  await untilStatus(data!.batchId, 'completed');
  const calls = await callsOf({ batchId: data!.batchId });
  expect(calls.map(({ fromNumber: from }) => from).toSorted()).toEqual([fromNumber, '+14155550110']);
});

test('a busy recipient is tried again as the retry policy says', async () => {
  const { batchId } = await start({ recipients: [{ phoneNumber: '+14155550172' }], retryPolicy: [30] });
  await until(async () => (await read(batchId)).stats.waiting === 1);
  server.clock.advance(31 * 60_000);
  await untilStatus(batchId, 'completed');
  const calls = await callsOf({ batchId });
  expect(calls.map(({ attempt, outcome }) => [attempt, outcome])).toEqual([
    [1, 'busy'],
    [2, 'answered'],
  ]);
});

test('a scheduled batch calls nobody before its time, and nobody who has opted out meanwhile', async () => {
  const scheduledAt = new Date(server.clock.now().getTime() + HOUR_MS).toISOString();
  const recipients = [{ phoneNumber: '+14155550101' }, { phoneNumber: '+14155550104' }];
  const { batchId, status } = await start({ recipients, scheduledAt });
  expect(status).toBe('scheduled');
  await client.POST('/v1/calls/do-not-call', { body: { phoneNumbers: ['+14155550104'] } });
  expect((await read(batchId)).stats).toMatchObject({ pending: 2, attempts: 0 });
  server.clock.advance(HOUR_MS);
  await untilStatus(batchId, 'completed');
  const { stats } = await read(batchId);
  expect(stats).toMatchObject({ totalContacts: 2, done: 1, skipped: 1, attempts: 1, startedAt: expect.any(String) });
  expect(Date.parse((await callsOf({ batchId }))[0]!.queuedAt)).toBeGreaterThanOrEqual(Date.parse(scheduledAt));
});

test('recipients are called within the daily window, each in its own time zone', async () => {
  const hour = (zone: string) =>
    Number(
      new Intl.DateTimeFormat('en', { timeZone: zone, hour: 'numeric', hourCycle: 'h23' }).format(server.clock.now()),
    );
  // The hours that are now in Tokyo, and half a day away in New York.
  const from = hour('Asia/Tokyo');
  const { batchId, acceptedRecipients } = await start({
    recipients: [
      { phoneNumber: '+14155550101', timezone: 'Asia/Tokyo' },
      { phoneNumber: '+14155550103', timezone: 'America/New_York' },
    ],
    scheduleStart: Math.max(0, from - 1) * 60,
    scheduleEnd: Math.min(24, from + 2) * 60,
  });
  await until(async () => (await read(batchId)).stats.done === 1);
  expect(await callsOf({ contactId: acceptedRecipients[1]!.contactId })).toEqual([]);
  expect(await read(batchId)).toMatchObject({ status: 'running', stats: { pending: 1 } });
  await client.POST(`${path}/{batchId}/cancel`, at(batchId));
});

test('a scheduled batch whose number is gone at its time has failed', async () => {
  const scheduledAt = new Date(server.clock.now().getTime() + HOUR_MS).toISOString();
  const { batchId } = await start({ recipients: [{ phoneNumber: '+14155550101' }], scheduledAt });
  const setStatus = (status: string) =>
    server.database.inEngine(({ db }) =>
      sql`update phone_numbers set status = ${status} where id = ${numberId}`.execute(db),
    );
  await setStatus('suspended');
  server.clock.advance(HOUR_MS);
  await untilStatus(batchId, 'failed');
  await setStatus('active');
  expect(await read(batchId)).toMatchObject({ meta: { failure: { reason: 'no_outbound_number' } } });
  expect(await callsOf({ batchId })).toEqual([]);
  expect(await eventsOf(batchId)).toEqual([]);
});

test('a batch that is cancelled calls nobody more; the call that is up finishes', async () => {
  const { batchId } = await start({
    recipients: [{ phoneNumber: '+14155550102' }, { phoneNumber: '+14155550101' }],
    maxConcurrency: 1,
  });
  await until(async () => (await callsOf({ batchId })).some(({ status }) => status === 'in_progress'));
  const { data } = await client.POST(`${path}/{batchId}/cancel`, at(batchId));
  expect(data).toMatchObject({ status: 'cancelled', stats: { dialing: 1, pending: 1 } });
  const [call] = await callsOf({ batchId });
  expect(call).toMatchObject({ status: 'in_progress' });
  await client.POST('/v1/calls/{roomId}/end', { params: { path: { roomId: call!.roomId } } });
  await until(async () => (await read(batchId)).stats.dialing === 0);
  await dialersTurn(server.database);
  expect(await callsOf({ batchId })).toHaveLength(1);
  expect(await read(batchId)).toMatchObject({ status: 'cancelled', stats: { pending: 1, attempts: 1 } });
  expect(await eventsOf(batchId)).toEqual([]);
});

test('the provider is told the metadata of each call', async () => {
  const fresh = await freshDatabase();
  const database = openDatabase({ connection: fresh.connection, poolSize: 4, log: pino({ level: 'silent' }) });
  const workspace = await seedWorkspace(database);
  await seedNumber(database, workspace, fromNumber);
  const placed: CallRequest[] = [];
  const dialer = await startTestDialer(database, {
    gateway: (simulator) => ({
      ...simulator,
      placeCall: (request) => {
        placed.push(request);
        return simulator.placeCall(request);
      },
    }),
  });
  const deps = {
    database,
    agents: anyAgent,
    clock: systemClock,
    maxConcurrency: 10,
    providers,
    operator: noOperatorLimits,
    isSimulated: () => true,
    nudge: () => undefined,
    guard: { tell: async () => {}, doubts: () => 0 },
  };
  await startBatch(deps, {
    workspaceId: workspace,
    idempotencyKey: undefined,
    auditEntryOf: byTest,
    input: {
      agentId: 'a',
      fromNumber,
      metadata: { depot: 'Oakland', quoted: '"\\{}' },
      recipients: [
        { phoneNumber: '+14155550101', metadata: { depot: 'a, "b" \\ {c}' } },
        { phoneNumber: '+14155550103', name: 'Ada' },
      ],
    },
  });
  await until(async () => placed.length === 2);
  expect(placed.map(({ to, metadata, variables }) => [to, metadata, variables]).sort()).toEqual([
    ['+14155550101', { depot: 'a, "b" \\ {c}', quoted: '"\\{}' }, {}],
    ['+14155550103', { depot: 'Oakland', quoted: '"\\{}' }, { name: 'Ada' }],
  ]);
  await dialer.stop();
  await database.close();
  await fresh.drop();
});
