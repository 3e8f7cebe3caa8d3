import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newUuid } from '../../../src/foundation/values/ids.ts';
import { confirm, createWithFile, importFile, validated } from '../../audience/contact-lists/contact-files.ts';
import { startTestServer, type TestServer } from '../../server.ts';
import { until } from '../../until.ts';
import { keyWith } from '../api-keys/keys.ts';
import { createEndpoint, type Receiver, sendsToLoopback, startReceiver } from './receiver.ts';
import { breachesOf, describedTypes } from './webhook-contract.ts';

let server: TestServer;
let receiver: Receiver;
beforeAll(async () => {
  server = await startTestServer({ config: { simulatorSpeed: 100, ...sendsToLoopback } });
  const body = { phoneNumber: '+14155550177', provider: 'simulator' as const };
  await server.client.POST('/v1/telephony/phone-numbers/buy', { body });
});
afterAll(() => server.stop());
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(async () => {
  const { data } = await server.client.GET('/v1/webhooks');
  for (const { id: webhookId } of data!.data.items)
    await server.client.DELETE('/v1/webhooks/{webhookId}', { params: { path: { webhookId } } });
  await receiver.stop();
});

const at = (id: string) => ({ params: { path: { id } } });

/** Starts a campaign that calls these numbers. */
async function callPeople(numbers: string[]): Promise<string> {
  const ids = await createWithFile(server, `phone,first_name\n${numbers.map((each) => `${each},Ada\n`).join('')}`);
  await validated(server, ids);
  await confirm(server, ids);
  const body = {
    name: 'Reminders',
    agentId: 'agent_reception',
    fromNumber: '+14155550177',
    lists: [{ id: ids.id, role: 'contacts' as const }],
  };
  const { data } = await server.client.POST('/v1/calls/campaigns', { body });
  const started = await server.client.POST('/v1/calls/campaigns/{id}/start', at(data!.data.id));
  if (started.error) throw new Error(JSON.stringify(started.error));
  return data!.data.id;
}

const untilCompleted = (campaignId: string) =>
  until(async () => {
    const { data } = await server.client.GET('/v1/calls/campaigns/{id}', at(campaignId));
    expect(data!.data.status).toBe('completed');
  });
const typesOf = (room: string) =>
  receiver.received.filter(({ data }) => data['roomId'] === room).map(({ type }) => type);

test('the contract describes every type that can be subscribed to', async () => {
  expect(describedTypes).toEqual(expect.arrayContaining(['call.started', 'webhook.test', 'call.inbound']));
  const { id } = await createEndpoint(server, receiver.url, ['call.ended']);
  const subscribable = describedTypes.filter((type) => type !== 'webhook.test' && type !== 'call.inbound');
  const body = { eventTypes: subscribable as ['call.ended'] };
  const changed = await server.client.PATCH('/v1/webhooks/{webhookId}', { params: { path: { webhookId: id } }, body });
  expect(changed.data!.data.eventTypes).toHaveLength(37);
});

test('a campaign, its calls, its file and its number tell what becomes of them, as the contract says', async () => {
  const every = describedTypes.filter((type) => type !== 'webhook.test' && type !== 'call.inbound');
  await createEndpoint(server, receiver.url, every as ['call.ended']);
  const number = (await server.client.GET('/v1/telephony/phone-numbers')).data!.items[0]!;
  const change = { label: 'Clinic', inboundWebhookUrl: 'https://crm.example.com/inbound' };
  await server.client.PATCH('/v1/telephony/phone-numbers/{id}', { ...at(number.id), body: change });
  const campaignId = await callPeople(['+14155550101', '+14155550186', '+14155550104']);
  await untilCompleted(campaignId);
  const calls = (await server.client.GET('/v1/calls', { params: { query: { campaignId } } })).data!.items;
  expect(calls.map((call) => call.outcome)).toEqual(expect.arrayContaining(['answered', 'busy', 'invalid_number']));
  await until(() => {
    const ended = receiver.ofType('call.ended').map(({ data }) => data['roomId']);
    expect(ended.sort()).toEqual(calls.map((call) => call.roomId).sort());
    expect(receiver.ofType('campaign.completed')).toHaveLength(1);
  });
  for (const { roomId, outcome } of calls) {
    const answered = outcome === 'answered' ? ['call.answered'] : [];
    expect(typesOf(roomId)).toEqual(['call.started', ...answered, 'call.ended']);
    const sent = receiver.ofType('call.ended').find(({ data }) => data['roomId'] === roomId)!;
    const { data: call } = await server.client.GET('/v1/calls/{roomId}', { params: { path: { roomId } } });
    expect(sent.data).toEqual(call);
    expect(sent.timestamp).toBe(call!.endedAt);
  }
  const [answer] = receiver.ofType('call.answered');
  expect(answer!.data).toMatchObject({ status: 'in_progress', variables: { first_name: 'Ada' } });
  expect(answer!.timestamp).toBe(answer!.data['answeredAt']);
  for (const key of ['outcome', 'endedAt', 'endedBy', 'durationSeconds']) expect(answer!.data).not.toHaveProperty(key);
  const [started] = receiver.ofType('call.started');
  expect(started!.data).toMatchObject({ status: 'dialing', campaignId });
  expect(started!.timestamp).toBe(started!.data['dialedAt']);
  const ofCampaign = receiver.received.filter(({ data }) => data['id'] === campaignId).map(({ type }) => type);
  expect(ofCampaign).toEqual(['campaign.draft', 'campaign.running', 'campaign.completed']);
  const uploads = receiver.received.filter(({ type }) => type.startsWith('upload.')).map(({ type }) => type.slice(7));
  expect(uploads).toEqual(['pending', 'uploaded', 'validating', 'validated', 'processing', 'processed']);
  expect(receiver.ofType('phone_number.updated')[0]!.data).toMatchObject(change);
  expect(receiver.received.flatMap(({ body }) => breachesOf(body))).toEqual([]);
  expect(receiver.received.length).toBeGreaterThanOrEqual(3 + 1 + 3 + 3 + 6 + 1);
  expect(new Set(receiver.received.map((each) => each.id)).size).toBe(receiver.received.length);
});

test('an endpoint of some campaigns, batches or tags is told of these and their calls, of call.* each type', async () => {
  const body = { agentId: 'agent_reception', fromNumber: '+14155550177' };
  const people = await createWithFile(server, 'phone\n+14175550101\n');
  await validated(server, people);
  await confirm(server, people);
  const lists = [{ id: people.id, role: 'contacts' as const }];
  const campaign = async (name: string, tags: string[]) =>
    (await server.client.POST('/v1/calls/campaigns', { body: { ...body, name, lists, tags } })).data!.data.id;
  const wanted = await campaign('Wanted', []);
  const tagged = await campaign('Tagged', ['oakland', 'x']);
  const other = await campaign('Other', ['y']);
  const start = async (number: string, tags: string[]) => {
    const sent = { ...body, recipients: [{ phoneNumber: number }], scheduledAt: '2099-01-01T00:00:00.000Z', tags };
    return (await server.client.POST('/v1/calls/batch', { body: sent })).data!.batchId;
  };
  const batchId = await start('+14185550101', []);
  const endpoint = { url: receiver.url, eventTypes: ['call.*', 'campaign.*', 'batch.*', 'upload.*'] as const };
  const filters = { campaignIds: [wanted], batchIds: [batchId], tags: ['oakland'] };
  const made = await server.client.POST('/v1/webhooks', {
    body: { ...endpoint, eventTypes: [...endpoint.eventTypes], ...filters },
  });
  expect(made.data!.data).toMatchObject(filters);
  await importFile(server, 'phone\n+14175550102\n');
  for (const id of [other, wanted, tagged]) {
    await server.client.POST('/v1/calls/campaigns/{id}/start', at(id));
    await untilCompleted(id);
  }
  const told = () => [...new Set(receiver.received.map(({ data }) => data['campaignId'] ?? data['id']))].toSorted();
  await until(() => expect(receiver.ofType('campaign.completed')).toHaveLength(2));
  await until(() => expect(receiver.ofType('call.ended')).toHaveLength(2));
  expect(told()).toEqual([wanted, tagged].toSorted());
  expect(receiver.ofType('call.started').map(({ data }) => data['tags'])).toEqual(
    expect.arrayContaining([undefined, ['oakland', 'x']]),
  );
  expect(new Set(receiver.received.map(({ type }) => type))).toContain('call.answered');
  server.clock.advance(Date.parse('2099-01-02T00:00:00.000Z') - server.clock.now().getTime());
  await until(() => expect(receiver.ofType('batch.completed')).toMatchObject([{ data: { batchId } }]));
  const path = { params: { path: { webhookId: made.data!.data.id } } };
  const all = { campaignIds: null, batchIds: null, tags: null };
  const opened = (await server.client.PATCH('/v1/webhooks/{webhookId}', { ...path, body: all })).data!.data;
  for (const name of Object.keys(all)) expect(opened).not.toHaveProperty(name);
  const unknown = `cmp_${'0'.repeat(32)}`;
  const missing = await server.client.PATCH('/v1/webhooks/{webhookId}', {
    ...path,
    body: { campaignIds: [wanted, unknown] },
  });
  expect([missing.response.status, missing.error!.details![0]!.path]).toEqual([404, '/body/campaignIds/1']);
  const wrong = { url: receiver.url, eventTypes: ['call.ended' as const], batchIds: [`bat_${'0'.repeat(32)}`] };
  expect((await server.client.POST('/v1/webhooks', { body: wrong })).response.status).toBe(404);
});

describe('calls', () => {
  test('that no endpoint wants write no events', async () => {
    await createEndpoint(server, receiver.url, ['campaign.completed']);
    const before = await callEvents();
    await untilCompleted(await callPeople(['+14165550101']));
    expect(await callEvents()).toBe(before);
  });

  test('that are ended tell so, once', async () => {
    await createEndpoint(server, receiver.url, ['call.answered', 'call.ended']);
    const campaignId = await callPeople(['+14165550102']);
    await until(() => expect(receiver.ofType('call.answered')).toHaveLength(1));
    const roomId = receiver.received[0]!.data['roomId'] as string;
    const { error } = await server.client.POST('/v1/calls/{roomId}/end', { params: { path: { roomId } } });
    expect(error).toBeUndefined();
    await untilCompleted(campaignId);
    await until(() => expect(typesOf(roomId)).toEqual(['call.answered', 'call.ended']));
    expect(receiver.ofType('call.ended')[0]!.data).toMatchObject({ status: 'completed', endedBy: 'service' });
  });
});

test('a number that calls back reaches the agent of the number that it calls, and webhooks are told', async () => {
  await createEndpoint(server, receiver.url, ['call.started', 'call.answered', 'call.ended']);
  const number = (await server.client.GET('/v1/telephony/phone-numbers')).data!.items[0]!;
  const body = { inboundAgentId: 'agent_desk' };
  await server.client.PATCH('/v1/telephony/phone-numbers/{id}', { ...at(number.id), body });
  // Another workspace that has the number too, from a time when each had its own carrier, is not asked.
  await keyWith(server, { permissions: ['*'], workspace: 'Twin' });
  await server.database.inEngine(({ db }) =>
    sql`
      insert into phone_numbers (workspace_id, id, phone_number, status, provider, shared, created_at, updated_at)
      select id, ${newUuid()}, ${number.phoneNumber}, 'active', 'sip', false, created_at, created_at
      from workspaces where name = 'Twin'`.execute(db),
  );
  await callPeople(['+14155550190']);
  await until(() => expect(receiver.received.map(({ data }) => data['direction'])).toContain('inbound'));
  const arrived = () => receiver.received.filter(({ data }) => data['direction'] === 'inbound');
  await until(() => {
    expect(arrived().map(({ type }) => type)).toEqual(['call.started', 'call.answered', 'call.ended']);
  });
  const roomId = arrived()[0]!.data['roomId'] as string;
  const { data: call } = await server.client.GET('/v1/calls/{roomId}', { params: { path: { roomId } } });
  expect(call).toMatchObject({
    fromNumber: '+14155550190',
    toNumber: number.phoneNumber,
    agentId: 'agent_desk',
    status: 'completed',
    endedBy: 'caller',
  });
  expect(arrived()[2]!.data).toEqual(call);
  expect(arrived().flatMap((each) => breachesOf(each.body))).toEqual([]);
});

const callEvents = async () =>
  (
    await server.database.inEngine((tx) =>
      tx.db.selectFrom('events').select('id').where('type', 'like', 'call.%').execute(),
    )
  ).length;
