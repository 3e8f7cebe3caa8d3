import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { waitingCalls } from '../../../src/dialing/call-intents/waiting-calls.ts';
import { shapeCall } from '../../../src/dialing/calls/shape-call.ts';
import { callStore } from '../../../src/dialing/calls/store.ts';
import { campaignCallDetails } from '../../../src/dialing/campaigns/own-calls.ts';
import { type Database, openDatabase } from '../../../src/foundation/database/database.ts';
import { createSecrets } from '../../../src/foundation/database/secrets.ts';
import { newUuid, toId } from '../../../src/foundation/values/ids.ts';
import { newSecret } from '../../../src/platform/webhooks/webhook.ts';
import { inboundSecretPlace } from '../../../src/platform/workspace/inbound-secret.ts';
import { sealed } from '../../../src/voices/agents/agent.ts';
import type { AgentDirectory } from '../../../src/voices/agents/directory.ts';
import { freshDatabase } from '../../database.ts';
import { type Receiver, sendsToLoopback, startReceiver, verify } from '../../platform/webhooks/receiver.ts';
import { breachesOf } from '../../platform/webhooks/webhook-contract.ts';
import { seedRow } from '../../seed/rows.ts';
import { seedWebhook } from '../../seed/webhook.ts';
import { seedNumber, seedWorkspace } from '../../seed/workspace.ts';
import { until } from '../../until.ts';
import { startTestDialer, type TestDialer } from '../dialing.ts';

const log = pino({ level: 'silent' });
const shown = callStore(campaignCallDetails, waitingCalls);
const encryptionKey = randomBytes(32);
const secrets = createSecrets(encryptionKey);
const inboundSecret = newSecret();
const caller = '+14155550101';
const ours = '+14155550177';
const agents: AgentDirectory = {
  resolve: async (id) => (id.startsWith('agent_') ? { id, name: id } : undefined),
};

let fresh: Awaited<ReturnType<typeof freshDatabase>>;
let database: Database;
let dialing: TestDialer;
let receiver: Receiver;
let workspaceId: string;
let numberId: string;

beforeAll(async () => {
  fresh = await freshDatabase();
  database = openDatabase({ connection: fresh.connection, poolSize: 6, log });
  const config = { ...sendsToLoopback, encryptionKey };
  dialing = await startTestDialer(database, { speed: 1000, maxCalls: 100, agents, config });
});
afterAll(async () => {
  await dialing.stop();
  await database.close();
  await fresh.drop();
});
beforeEach(async () => {
  receiver = await startReceiver();
  workspaceId = await seedWorkspace(database);
  numberId = await seedNumber(database, workspaceId, ours);
  await changeNumber({ inbound_agent_id: 'agent_bound' });
  const inbound_secret = secrets.encrypt(inboundSecret, inboundSecretPlace(workspaceId));
  await database.inEngine((tx) =>
    tx.db.updateTable('workspaces').set({ inbound_secret }).where('id', '=', workspaceId).execute(),
  );
});
afterEach(async () => {
  await changeNumber({ status: 'released' });
  await receiver.stop();
});

type NumberChange = {
  status?: 'released';
  inbound_agent_id?: string | null;
  inbound_webhook_url?: string;
  allowed_inbound_countries?: string[];
};
const changeNumber = (change: NumberChange) =>
  database.inEngine((tx) => tx.db.updateTable('phone_numbers').set(change).where('id', '=', numberId).execute());

/** Has a call arrive, and answers what became of it: the last of so many that have ended. */
async function ring(from: string | undefined = caller, ended = 1) {
  dialing.simulator.ring({ to: ours, ...(from !== '' && { from }) });
  let id: string | undefined;
  await until(async () => {
    const rows = await database.inEngine((tx) =>
      tx.db
        .selectFrom('calls')
        .select('id')
        .where('workspace_id', '=', workspaceId)
        .where('ended_at', 'is not', null)
        .orderBy('id')
        .execute(),
    );
    id = rows[ended - 1]?.id;
    return id !== undefined;
  });
  return shapeCall((await database.inWorkspace(workspaceId, (tx) => shown.find(tx, id!)))!);
}

const answerWith = (status: number, body?: unknown) =>
  receiver.behave((_received, _request, response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(body && JSON.stringify(body)),
  );
const counted = async (answer: string) =>
  (await dialing.metrics.getSingleMetric('trunkline_inbound_webhook_answers_total')!.get()).values.find(
    ({ labels }) => labels['answer'] === answer,
  )?.value ?? 0;

test('the agent that is bound to the number takes a call that arrives', async () => {
  expect(await ring()).toMatchObject({
    direction: 'inbound',
    status: 'completed',
    outcome: 'answered',
    endedBy: 'caller',
    fromNumber: caller,
    toNumber: ours,
    agentId: 'agent_bound',
    phoneNumberId: toId('pn', numberId),
    simulated: true,
    attempt: 1,
    answeredAt: expect.any(String),
    durationSeconds: expect.any(Number),
  });
  expect(dialing.switchboard.free(workspaceId)).toBe(100);
});

test('an agent takes no more calls than it may, whoever named it, and none for longer', async () => {
  const limits = { max_concurrent_calls: 1, max_call_seconds: 40 };
  const id = newUuid();
  const secret = sealed(secrets, workspaceId, id, { secret: 'a-secret-of-our-own' });
  await seedRow(database, 'agents', { workspace_id: workspaceId, id, ...limits, ...secret });
  const agentId = toId('agent', id);
  await changeNumber({ inbound_agent_id: agentId });
  const first = await ring();
  expect(first).toMatchObject({ outcome: 'answered', agentId });
  const { roomId } = first;
  const rows = await database.inEngine((tx) => tx.db.selectFrom('calls').selectAll().execute());
  expect(rows.find((row) => toId('room', row.id) === roomId)).toMatchObject({ max_call_seconds: 40 });
  const up = { workspace_id: workspaceId, phone_number_id: numberId, to_number: 1 };
  await seedRow(database, 'calls', { ...up, agent_id: agentId, limited_agent_id: id });
  const turnAway = vi.spyOn(dialing.simulator, 'rejectInbound');
  expect(await ring('+14155550102', 2)).toMatchObject({ outcome: 'declined', endedBy: 'service' });
  await until(() => expect(turnAway).toHaveBeenLastCalledWith(expect.anything(), 'no_room'));
  turnAway.mockRestore();
  await changeNumber({ inbound_agent_id: 'agent_bound', inbound_webhook_url: receiver.url });
  answerWith(200, { agentId });
  expect(await ring('+14155550103', 3)).toMatchObject({ outcome: 'declined', endedBy: 'service' });
});

test('of calls that arrive at once so many wait to be taken, and the others are told to come again', async () => {
  const turnAway = vi.spyOn(dialing.simulator, 'rejectInbound');
  for (let i = 0; i < 150; i += 1) dialing.simulator.ring({ to: ours, from: caller });
  await until(async () => {
    const rows = await database.inEngine((tx) =>
      tx.db.selectFrom('calls').select('ended_at').where('workspace_id', '=', workspaceId).execute(),
    );
    expect(rows.filter(({ ended_at }) => ended_at)).toHaveLength(100);
  });
  const said = turnAway.mock.calls.map(([, why]) => why);
  expect(said).toEqual(Array(50).fill('unavailable'));
  turnAway.mockRestore();
});

test('a workspace has no more calls that have arrived than whoever runs the server lets it', async () => {
  const config = { ...sendsToLoopback, encryptionKey, operatorMaxInboundCalls: 2 };
  const limited = await startTestDialer(database, { speed: 1000, maxCalls: 100, agents, config });
  const turnAway = vi.spyOn(limited.simulator, 'rejectInbound');
  const up = { workspace_id: workspaceId, phone_number_id: numberId, to_number: 1 };
  await seedRow(database, 'calls', { ...up, direction: 'inbound' });
  await seedRow(database, 'calls', { ...up, direction: 'inbound' });
  await seedRow(database, 'calls', up);
  const ringLimited = () => limited.simulator.ring({ to: ours, from: caller });
  ringLimited();
  await until(() => expect(turnAway).toHaveBeenLastCalledWith(expect.anything(), 'no_room'));
  const arrived = () =>
    database.inEngine((tx) =>
      tx.db
        .selectFrom('calls')
        .select('id')
        .where('workspace_id', '=', workspaceId)
        .where('to_number', '>', 1)
        .execute(),
    );
  expect(await arrived()).toEqual([]);
  await database.inEngine((tx) =>
    tx.db
      .updateTable('calls')
      .set({ ended_at: new Date(), status: 'completed', outcome: 'answered', ended_by: 'caller' })
      .where('workspace_id', '=', workspaceId)
      .where('direction', '=', 'inbound')
      .execute(),
  );
  ringLimited();
  await until(async () => expect(await arrived()).toHaveLength(1));
  expect(turnAway).toHaveBeenCalledTimes(1);
  await limited.stop();
});

test('several callers are up at one number, and one may withhold who it is', async () => {
  for (let i = 0; i < 3; i += 1) dialing.simulator.ring({ to: ours, from: `+1415555010${i}` });
  await ring('');
  const calls = () =>
    database.inEngine((tx) =>
      tx.db.selectFrom('calls').select(['from_number', 'status']).where('workspace_id', '=', workspaceId).execute(),
    );
  await until(async () => (await calls()).length === 4);
  expect((await calls()).map((call) => call.from_number).sort()).toEqual([14155550100, 14155550101, 14155550102, null]);
  const withheld = await database.inEngine((tx) =>
    tx.db.selectFrom('calls').select('id').where('from_number', 'is', null).executeTakeFirstOrThrow(),
  );
  const shaped = shapeCall((await database.inWorkspace(workspaceId, (tx) => shown.find(tx, withheld.id)))!);
  expect(shaped).not.toHaveProperty('fromNumber');
});

test('the webhook of the number is asked, signed with the inbound secret, and may name another agent', async () => {
  await changeNumber({ inbound_webhook_url: receiver.url });
  answerWith(200, { agentId: 'agent_billing', variables: { first_name: 'Ada' } });
  const before = await counted('accepted');
  const call = await ring();
  expect(call).toMatchObject({ status: 'completed', agentId: 'agent_billing', variables: { first_name: 'Ada' } });
  expect(await counted('accepted')).toBe(before + 1);
  const [asked] = receiver.received;
  const data = { roomId: call.roomId, phoneNumberId: toId('pn', numberId), fromNumber: caller, toNumber: ours };
  expect(verify(inboundSecret, asked!)).toMatchObject({ type: 'call.inbound', data });
  expect(breachesOf(asked!.body)).toEqual([]);
  expect(receiver.received).toHaveLength(1);
});

test('the webhook may reject the call', async () => {
  await changeNumber({ inbound_webhook_url: receiver.url });
  answerWith(200, { reject: true });
  expect(await ring()).toMatchObject({ status: 'failed', outcome: 'declined', endedBy: 'service' });
});

test.each<[string, number, unknown]>([
  ['an empty answer', 204, undefined],
  ['an empty object', 200, {}],
  ['a failure', 500, { reject: true }],
  ['another success', 201, { agentId: 'agent_billing' }],
  ['a redirect', 302, undefined],
  ['no JSON', 200, undefined],
  ['no object', 200, [1]],
  ['an unknown field', 200, { agent: 'agent_billing' }],
  ['a wrong agent ID', 200, { agentId: '../x' }],
  ['an unknown agent', 200, { agentId: 'stranger' }],
  ['variables that are no texts', 200, { agentId: 'agent_billing', variables: { age: 7 } }],
  ['reserved names', 200, JSON.parse('{"variables": {"__proto__": "x"}}')],
  ['reject: false', 200, { reject: false }],
  ['both', 200, { reject: true, agentId: 'agent_billing' }],
])('after %s the bound agent takes the call', async (_what, status, body) => {
  await changeNumber({ inbound_webhook_url: receiver.url });
  answerWith(status, body);
  const call = await ring();
  expect(call).toMatchObject({ status: 'completed', agentId: 'agent_bound' });
  expect(call).not.toHaveProperty('variables');
  expect(receiver.received).toHaveLength(1);
});

test('a webhook that does not answer in five seconds has failed, and so has one in the own network', async () => {
  const before = await counted('failed');
  await changeNumber({ inbound_webhook_url: receiver.url });
  receiver.behave(() => {});
  expect(await ring()).toMatchObject({ status: 'completed', agentId: 'agent_bound' });
  await changeNumber({ inbound_webhook_url: 'https://10.0.0.1/inbound' });
  dialing.simulator.ring({ to: ours, from: '+14155550199' });
  await until(async () => expect(await counted('failed')).toBe(before + 2));
});

test('a caller from a country that is not allowed is declined without asking, and so is one who withholds it', async () => {
  await changeNumber({ inbound_webhook_url: receiver.url, allowed_inbound_countries: ['DE'] });
  expect(await ring()).toMatchObject({ status: 'failed', outcome: 'declined', endedBy: 'service' });
  dialing.simulator.ring({ to: ours });
  const declined = () =>
    database.inEngine((tx) =>
      tx.db
        .selectFrom('calls')
        .select('id')
        .where('workspace_id', '=', workspaceId)
        .where('outcome', '=', 'declined')
        .execute(),
    );
  await until(async () => (await declined()).length === 2);
  expect(receiver.received).toEqual([]);
});

test('without an agent a call is declined', async () => {
  await changeNumber({ inbound_agent_id: null });
  const call = await ring();
  expect(call).toMatchObject({ status: 'failed', outcome: 'declined' });
  expect(call).not.toHaveProperty('agentId');
});

test('a call to a number of nobody is declined and leaves nothing, and a suspended twin takes none', async () => {
  const decline = vi.spyOn(dialing.simulator, 'rejectInbound');
  dialing.simulator.ring({ to: '+14155550999', from: caller });
  await until(() => expect(decline).toHaveBeenCalledTimes(1));
  decline.mockRestore();
  const other = await seedWorkspace(database);
  const twin = await seedNumber(database, other, '+14155550998', { status: 'suspended' });
  const declineTwin = vi.spyOn(dialing.simulator, 'rejectInbound');
  dialing.simulator.ring({ to: '+14155550998', from: caller });
  await until(() => expect(declineTwin).toHaveBeenCalledTimes(1));
  declineTwin.mockRestore();
  const calls = await database.inEngine((tx) =>
    tx.db.selectFrom('calls').select('id').where('workspace_id', 'in', [workspaceId, other]).execute(),
  );
  expect(calls).toEqual([]);
  await database.inEngine((tx) => tx.db.deleteFrom('phone_numbers').where('id', '=', twin).execute());
});

test('a call that the provider loses while it is answered is looked up, and ends', async () => {
  const answer = vi.spyOn(dialing.simulator, 'answerInbound').mockRejectedValueOnce(new Error('reset'));
  expect(await ring()).toMatchObject({ status: 'failed', outcome: 'unknown', endedBy: 'error' });
  answer.mockRestore();
});

test('an inbound call is told to webhooks like any other', async () => {
  const types = ['call.started', 'call.answered', 'call.ended'];
  await seedWebhook(database, workspaceId, types);
  const call = await ring();
  const events = await database.inEngine((tx) =>
    tx.db.selectFrom('events').selectAll().where('workspace_id', '=', workspaceId).orderBy('revision').execute(),
  );
  expect(events.map((event) => event.type)).toEqual(types);
  const dataOf = (i: number) => events[i]!.data as Record<string, unknown>;
  expect(dataOf(0)).toMatchObject({ roomId: call.roomId, status: 'ringing', direction: 'inbound' });
  expect(dataOf(2)).toEqual(call);
  for (const { type, data } of events) {
    expect(breachesOf(JSON.stringify({ type, timestamp: call.queuedAt, data }))).toEqual([]);
  }
});

test('a server that was given up meanwhile turns a call away, and keeps none that nobody would follow', async () => {
  const given = dialing.lease.serverId();
  await database.inEngine((tx) => tx.db.deleteFrom('servers').where('id', '=', given).execute());
  const decline = vi.spyOn(dialing.simulator, 'rejectInbound');
  dialing.simulator.ring({ to: ours, from: caller });
  await until(() => expect(decline).toHaveBeenCalledWith(expect.anything(), 'unavailable'));
  decline.mockRestore();
  const calls = await database.inEngine((tx) =>
    tx.db.selectFrom('calls').select('id').where('workspace_id', '=', workspaceId).execute(),
  );
  expect(calls).toEqual([]);
  await until(() => dialing.lease.serverId() !== given);
});

test('a call that fails between its first write and its answer is turned away, and is over', async () => {
  const decline = vi.spyOn(dialing.simulator, 'rejectInbound');
  // No database takes that.
  const agent = { id: 'agent_bound', name: 'agent_bound', maxCallSeconds: Number.NaN };
  const resolve = vi.spyOn(agents, 'resolve').mockResolvedValueOnce(agent);
  expect(await ring()).toMatchObject({ status: 'failed', outcome: 'unknown', endedBy: 'error' });
  expect(decline).toHaveBeenCalledWith(expect.anything(), 'unavailable');
  decline.mockRestore();
  resolve.mockRestore();
});
