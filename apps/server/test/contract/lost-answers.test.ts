import { randomBytes } from 'node:crypto';
import { createClient } from '@trunkline/client';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadContract } from '../../src/foundation/http/app.ts';
import { operationsOf, resolve, type Schema } from '../../src/foundation/http/contract.ts';
import { forValidator } from '../../src/foundation/http/validator-contract.ts';
import { fromId, toId } from '../../src/foundation/values/ids.ts';
import { chances } from '../chances.ts';
import { seedCampaign } from '../seed/campaign.ts';
import { seedList } from '../seed/list.ts';
import { seedRow } from '../seed/rows.ts';
import { seedNumber } from '../seed/workspace.ts';
import { startTestServer, type TestServer } from '../server.ts';
import { formOf } from '../voices/knowledge-bases/documents.ts';
import { formWith } from '../voices/sounds/sounds.ts';
import { toneFile } from '../voices/sounds/wav-files.ts';

/** The POSTs that take no Idempotency-Key, and why none of them does harm if it is sent again. */
const makesNothing = {
  cancelBatch: 'leads to a state',
  cancelCampaign: 'leads to a state',
  cancelRun: 'leads to a state',
  cancelWorkflowRun: 'leads to a state',
  completeCall: 'leads to a state',
  confirmContactListUpload: 'leads to a state',
  endCall: 'leads to a state',
  moveNumberPoolMember: 'leads to a state',
  pauseBatch: 'leads to a state',
  pauseCampaign: 'leads to a state',
  pauseDialing: 'leads to a state',
  pauseTrunk: 'leads to a state',
  publishWorkflow: 'leads to a state: a draft that equals the latest version makes no other',
  recordCallResult: 'leads to a state',
  resumeBatch: 'leads to a state',
  resumeCampaign: 'leads to a state',
  resumeDialing: 'leads to a state',
  resumeTrunk: 'leads to a state',
  skipCampaignContact: 'leads to a state',
  startCampaign: 'leads to a state',
  stopCampaign: 'leads to a state',
  unscheduleCampaign: 'leads to a state',
  wakeWorkflowRuns: 'leads to a state: a run that was woken is not woken again',
  addDoNotCall: 'a number is on the list or not: adding it again changes nothing',
  previewCampaign: 'only reads',
  searchKnowledgeBase: 'only reads',
  startSignIn: 'is a URL of which nothing is kept',
  createSession: 'begins a session, and one whose cookie is lost ends by itself',
  testAgent: 'is a try, which may be made as often as one likes',
  listenToCall: 'is a URL of which nothing is kept, and which opens once',
  talkToAgent: 'is a URL of which nothing is kept, and which opens once',
  testWebhook: 'is a try, which may be made as often as one likes',
};

interface Making {
  operation: string;
  path: string;
  body?: object | FormData;
  /** Another request, which its key is refused for; where there is none, only another API key can be. */
  other?: { path?: string; body?: object | FormData };
  showsSecret?: true;
}

const document = forValidator(loadContract());
const operations = operationsOf(document).filter(({ method }) => method === 'POST');
const takesKey = ({ parameters }: (typeof operations)[number]) =>
  parameters.some(({ name }) => name === 'Idempotency-Key');

let servers: [TestServer, TestServer];
let makings: Making[];
const [FROM, CALLEE] = ['+14155550199', '+14155550118'];
const dataOf = ({ data }: { data?: unknown }): { id: string } => (data as { data?: never }).data ?? (data as never);

beforeAll(async () => {
  const config = { encryptionKey: randomBytes(32) };
  const first = await startTestServer({ config });
  const { connectionString, apiKey } = first;
  servers = [first, await startTestServer({ config, connectionString, apiKey })];
  makings = await makingsOf(first);
});
afterAll(async () => {
  await servers[1].stop();
  await servers[0].stop();
});

const tone = (seconds: number) => toneFile({ rate: 8000, kind: 'pcm16', seconds });

/** A request of each operation that makes something, and what it needs. */
async function makingsOf({ client, database }: TestServer): Promise<Making[]> {
  const workspaceId = fromId((await client.GET('/v1/workspace')).data!.data.id);
  const numberId = toId('pn', await seedNumber(database, workspaceId, FROM));
  const listId = toId('list', await seedList(database, workspaceId, [{ phone_number: 14155550100 }]));
  const kbId = dataOf(await client.POST('/v1/knowledge-bases', { body: { name: 'Handbook' } })).id;
  const hook = { url: 'https://hooks.invalid/calls', eventTypes: ['call.ended' as const] };
  const made = async () => dataOf(await client.POST('/v1/webhooks', { body: hook })).id;
  const [webhookId, otherWebhookId] = [await made(), await made()];
  const test = async () =>
    dataOf(await client.POST('/v1/webhooks/{webhookId}/test', { params: { path: { webhookId } } })).id;
  const [deliveryId, otherDeliveryId] = [await test(), await test()];
  const nodes = [{ id: 'end', type: 'end' as const, title: 'End', status: 'completed' as const }];
  const workflow = { name: 'One', startNodeId: 'end', nodes };
  const workflowId = dataOf(await client.POST('/v1/workflows', { body: workflow })).id;
  await client.POST('/v1/workflows/{workflowId}/publish', { params: { path: { workflowId } } });

  const { campaignId } = await seedCampaign(database, { contacts: 0, workspaceId, campaign: { status: 'completed' } });
  await seedRow(database, 'campaign_contacts', {
    ...{ workspace_id: workspaceId, campaign_id: campaignId, phone_number: 14155550121 },
    ...{ state: 'done', last_outcome: 'busy' },
  });
  const up = { status: 'in_progress' as const, answered_at: new Date(), to_number: 14155550122 };
  const room = toId('room', (await seedRow(database, 'calls', { workspace_id: workspaceId, ...up })).id);
  const real = { ...up, workspace_id: workspaceId, simulated: false, to_number: 14155550123 };
  const handedOn = toId('room', (await seedRow(database, 'calls', real)).id);
  const calling = { agentId: 'agent_reception', fromNumber: FROM };
  const connection = { type: 'stream', url: 'wss://agents.example.com', secret: `ags_${'a'.repeat(32)}` };
  const shown = { showsSecret: true as const };
  const stream = (id: string) => ({ path: `/v1/calls/campaigns/cmp_${id.repeat(32)}/events` });
  const people = (name: string) => ({ entries: [{ phoneNumber: CALLEE, name }, { phoneNumber: '123' }] });
  const imported = ['+14155550177', '+14155550178', '+14155550178', '911'];
  const byShort = { terminationUrl: 'import.sim', username: 'ada', password: 'a password' };
  const replays = (id: string) => `/v1/webhooks/${webhookId}/deliveries/${id}/replay`;
  const rotates = (id: string) => `/v1/webhooks/${id}/rotate-secret`;
  const makes = (operation: string, path: string, body: object, changed: object): Making => ({
    ...{ operation, path, body },
    other: { body: { ...body, ...changed } },
  });
  const soon = new Date(Date.now() + 86_400_000).toISOString();
  return [
    makes(
      'buyPhoneNumber',
      '/v1/telephony/phone-numbers/buy',
      { phoneNumber: '+12125550100', provider: 'simulator' },
      { phoneNumber: '+12125550101' },
    ),
    makes('createCall', '/v1/calls', { ...calling, toNumber: CALLEE, scheduledAt: soon }, { metadata: { a: 'b' } }),
    makes(
      'createCampaign',
      '/v1/calls/campaigns',
      { ...calling, name: 'One', lists: [{ id: listId, role: 'contacts' }] },
      { name: 'Two' },
    ),
    makes('createContactList', '/v1/calls/contact-lists', { name: 'One', fileName: 'a.csv' }, { name: 'Two' }),
    makes(
      'createContactListUpload',
      `/v1/calls/contact-lists/${listId}/uploads`,
      { fileName: 'a.csv' },
      { fileName: 'b.csv' },
    ),
    makes('sendCallDtmf', `/v1/calls/${room}/dtmf`, { digits: '12' }, { digits: '13' }),
    makes('transferCall', `/v1/calls/${handedOn}/transfer`, { to: '+14155550124' }, { timeoutSeconds: 20 }),
    makes('createErasure', '/v1/erasures', { phoneNumber: '+14155550111' }, { phoneNumber: '+14155550112' }),
    makes(
      'createExport',
      '/v1/exports',
      { type: 'calls', filter: { direction: 'inbound', phoneNumber: FROM } },
      { filter: { direction: 'outbound' } },
    ),
    makes('createKnowledgeBase', '/v1/knowledge-bases', { name: 'One', description: 'Kept' }, { name: 'Two' }),
    makes(
      'redialCampaignContacts',
      `/v1/calls/campaigns/${toId('cmp', campaignId)}/contacts/redial`,
      { outcomes: ['busy'] },
      { outcomes: ['unknown'] },
    ),
    makes('createMember', '/v1/members', { email: 'ada@example.com', role: 'viewer' }, { role: 'admin' }),
    makes('createNumberPool', '/v1/number-pools', { name: 'One' }, { name: 'Two' }),
    makes('createWorkflow', '/v1/workflows', workflow, { name: 'Two' }),
    makes(
      'startBatch',
      '/v1/calls/batch',
      { ...calling, name: 'One', recipients: [{ phoneNumber: CALLEE, variables: { a: 'b', c: 'd' } }] },
      { name: 'Two' },
    ),
    makes(
      'startTestCall',
      `/v1/telephony/phone-numbers/${numberId}/test-call`,
      { toNumber: '+14155550119' },
      { toNumber: '+14155550120' },
    ),
    makes('startWorkflowRun', `/v1/workflows/${workflowId}/run`, { context: { a: 1, b: 2 } }, { context: { a: 2 } }),
    makes(
      'importPhoneNumbers',
      '/v1/telephony/phone-numbers/import/manual',
      { phoneNumbers: imported, sipConfig: byShort },
      { label: 'Other' },
    ),
    makes(
      'createTrunk',
      '/v1/telephony/trunks',
      { terminationUrl: 'ok.sim', username: 'ada', password: 'a password' },
      { password: 'another' },
    ),
    makes('addContactListEntries', `/v1/calls/contact-lists/${listId}/entries`, people('Ann'), people('Bea')),
    {
      operation: 'addKnowledgeBaseDocuments',
      path: `/v1/knowledge-bases/${kbId}/documents`,
      body: formOf({ 'hours.txt': 'We are open.', 'prices.txt': 'It is free.' }),
      other: { body: formOf({ 'hours.txt': 'We are open.', 'prices.txt': 'It is dear.' }) },
    },
    {
      operation: 'createSound',
      path: '/v1/sounds',
      body: formWith({ 'a.wav': tone(0.1) }),
      other: { body: formWith({ 'a.wav': tone(0.2) }) },
    },
    { operation: 'replayWebhookDelivery', path: replays(deliveryId), other: { path: replays(otherDeliveryId) } },
    { ...makes('createAgent', '/v1/agents', { name: 'One', connection }, { name: 'Two' }), ...shown },
    { ...makes('createApiKey', '/v1/api-keys', { name: 'One', permissions: ['*'] }, { name: 'Two' }), ...shown },
    { ...makes('createStreamToken', '/v1/stream-tokens', stream('0'), stream('1')), ...shown },
    { ...makes('createWebhook', '/v1/webhooks', hook, { description: 'Two' }), ...shown },
    {
      ...{ operation: 'rotateWebhookSecret', path: rotates(webhookId), other: { path: rotates(otherWebhookId) } },
      ...shown,
    },
    { operation: 'rotateInboundSecret', path: '/v1/workspace/rotate-inbound-secret', ...shown },
  ];
}

test('each POST takes an Idempotency-Key, or makes nothing', () => {
  const without = operations.filter((operation) => !takesKey(operation)).map(({ id }) => id);
  expect(without.sort()).toEqual(Object.keys(makesNothing).sort());
  const taking = operations.filter(takesKey).map(({ id }) => id);
  expect(makings.map(({ operation }) => operation).sort()).toEqual(taking.sort());
});

function shuffled(value: unknown, chance: () => number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => shuffled(item, chance));
  const entries = Object.entries(value).map(([name, item]) => ({ at: chance(), name, item: shuffled(item, chance) }));
  return Object.fromEntries(entries.sort((a, b) => a.at - b.at).map(({ name, item }) => [name, item]));
}

/** What a request is carried out by whose answer is then lost: the first time, and in three of ten times after it. */
function losing(seed: number, answers: unknown[]) {
  const chance = chances(seed);
  return async (request: Request): Promise<Response> => {
    const { url } = servers[answers.length % 2]!;
    const isJson = request.headers.get('Content-Type')?.startsWith('application/json');
    const body = isJson ? JSON.stringify(shuffled(await request.json(), chance)) : await request.arrayBuffer();
    const { method, headers } = request;
    const sent = request.body === null ? {} : { body };
    const response = await fetch(url + new URL(request.url).pathname, { method, headers, ...sent });
    const text = await response.text();
    answers.push(JSON.parse(text));
    if (answers.length === 1 || chance() < 0.3) throw new TypeError('The connection was lost.');
    return new Response(text, response);
  };
}

/** What names what was made, and what can't be read again. */
function identityOf(answer: unknown): string[] {
  if (typeof answer !== 'object' || answer === null) return [];
  return Object.entries(answer).flatMap(([name, value]) => {
    if (typeof value !== 'string') return identityOf(value);
    return /^(id|\w+Id|secret|key|token)$/.test(name) && name !== 'requestId' ? [`${name} ${value}`] : [];
  });
}

/** What the contract fills in where a body says nothing. */
function defaultsOf({ operation, body }: Making): Record<string, unknown> {
  const { body: asked } = operations.find(({ id }) => id === operation)!;
  const whole = (schema: Schema) => resolve(document, schema);
  const shapes = asked?.schema ? [asked.schema, ...(whole(asked.schema).oneOf ?? [])].map(whole) : [];
  const shape = shapes.find(({ required = [], properties }) => properties && required.every((name) => name in body!));
  const filled = Object.entries(shape?.properties ?? {}).map(([name, property]) => [
    name,
    (property as { default?: unknown }).default ?? (whole(property) as { default?: unknown }).default,
  ]);
  return Object.fromEntries(filled.filter(([, value]) => value !== undefined));
}

const keyOf = ({ operation }: Making) => `lost answers of ${operation}`;

async function countsOf({ database }: TestServer): Promise<Record<string, number>> {
  const { rows } = await database.inEngine(({ db }) =>
    sql<{ action: string; count: number }>`select action, count(*) as count from audit_log group by action`.execute(db),
  );
  return Object.fromEntries(rows.map(({ action, count }) => [action, count]));
}

/** By the audit log; a token of a stream stands nowhere. */
const whatIsMade = {
  ...{ 'agent.created': 1, 'api_key.created': 1, 'batch.started': 1, 'call.created': 1, 'call.test_started': 1 },
  ...{ 'call.dtmf_sent': 1, 'call.transfer_requested': 1 },
  ...{
    'campaign.created': 1,
    'campaign.redialled': 1,
    'contact_list.created': 1,
    'contact_list.entries_added': 1,
    'document.added': 2,
  },
  ...{
    'erasure.created': 1,
    'export.created': 1,
    'knowledge_base.created': 1,
    'member.created': 1,
    'number_pool.created': 1,
  },
  ...{ 'phone_number.bought': 1, 'phone_number.imported': 2, 'trunk.created': 1, 'upload.created': 1 },
  ...{
    'sound.created': 1,
    'webhook.created': 1,
    'webhook.secret_rotated': 1,
    'webhook_delivery.replayed': 1,
    'workflow.created': 1,
  },
  ...{ 'workflow_run.started': 1, 'workspace.inbound_secret_rotated': 1 },
};

describe('requests whose answers get lost', () => {
  const firsts = new Map<string, string[]>();

  test('make one thing each, by whichever server, and its secret is shown again', async () => {
    const [first] = servers;
    const before = await countsOf(first);
    const made = await Promise.all(
      makings.map(async (making, at) => {
        const answers: unknown[] = [];
        const { url, apiKey } = first;
        const client = createClient({ baseUrl: url, apiKey, fetch: losing(at, answers), maxRetries: 9 });
        const { path, body } = making;
        const params = { header: { 'Idempotency-Key': keyOf(making) } };
        const { data, response } = await client.POST(path as never, { params, body } as never);
        return { making, answers, data, response: response as Response };
      }),
    );
    for (const { making, answers, data, response } of made) {
      const { operation } = making;
      const identities = answers.map(identityOf);
      expect.soft({ operation, ok: response.ok, replayed: response.headers.get('idempotent-replayed'), data }).toEqual({
        ...{ operation, ok: true, replayed: 'true', data: expect.anything() },
      });
      expect.soft(new Set(identities.map(String)).size, operation).toBe(1);
      firsts.set(operation, identities[0]!);
    }
    const after = await countsOf(first);
    const audited = Object.entries(after).map(([action, count]) => [action, count - (before[action] ?? 0)]);
    expect(Object.fromEntries(audited.filter(([, count]) => count !== 0))).toEqual(whatIsMade);
  });

  test('make one thing also if they come at once', async () => {
    const [path, params] = [
      '/v1/workspace/rotate-inbound-secret',
      { header: { 'Idempotency-Key': 'at once' } },
    ] as const;
    const rotate = ({ client }: TestServer) => client.POST(path, { params });
    const answers = await Promise.all([...servers, ...servers].map(rotate));
    expect(new Set(answers.map(({ data }) => data!.data.secret)).size).toBe(1);
    const replayed = answers.filter(({ response }) => response.headers.get('idempotent-replayed') === 'true');
    expect(replayed).toHaveLength(3);
  });

  test('are refused to another request', async () => {
    const [{ url, apiKey }] = servers;
    const client = createClient({ baseUrl: url, apiKey, maxRetries: 0 });
    for (const making of makings.filter(({ other }) => other)) {
      const { path, body } = { ...making, ...making.other };
      const params = { header: { 'Idempotency-Key': keyOf(making) } };
      const { error, response } = await client.POST(path as never, { params, body } as never);
      const { operation } = making;
      const got = {
        operation,
        status: (response as Response).status,
        code: (error as unknown as { code?: string })?.code,
      };
      expect.soft(got).toEqual({ operation, status: 409, code: 'idempotency_key_reused' });
    }
  });

  test('are told apart as they were sent, not as the defaults fill them in', async () => {
    const [{ client }] = servers;
    const withDefaults = makings.flatMap((making) => {
      const defaults = defaultsOf(making);
      const left = Object.entries(defaults).filter(([name]) => !(name in (making.body ?? {})));
      return left.length > 0 ? [{ ...making, body: { ...making.body, ...Object.fromEntries(left) } }] : [];
    });
    expect(withDefaults.map(({ operation }) => operation).sort()).toEqual([
      ...['createAgent', 'createCall', 'createCampaign', 'createContactList', 'createTrunk', 'redialCampaignContacts'],
      'startBatch',
    ]);
    for (const making of withDefaults) {
      const { path, body, operation } = making;
      const params = { header: { 'Idempotency-Key': keyOf(making) } };
      const { error } = await client.POST(path as never, { params, body } as never);
      expect.soft({ operation, error }).toMatchObject({ operation, error: { code: 'idempotency_key_reused' } });
    }
  });

  test('are answered as at first, whatever their list says by now', async () => {
    const [{ client, database }] = servers;
    const id = (await client.POST('/v1/calls/contact-lists', { body: { name: 'National' } })).data!.id;
    const params = { path: { id }, header: { 'Idempotency-Key': 'national' } };
    const body = { entries: [{ phoneNumber: '(415) 555-0123' }, { phoneNumber: '+14155550124' }] };
    const send = () => client.POST('/v1/calls/contact-lists/{id}/entries', { params, body });
    const { data } = await send();
    expect(data).toMatchObject({ added: 1, rejected: [{ index: 0, code: 'default_country_needed' }] });
    await database.inEngine(({ db }) =>
      sql`update contact_lists set default_country = 'US' where id = ${fromId(id)}`.execute(db),
    );
    expect((await send()).data).toEqual(data);
  });

  test('are answered to another API key, if the answer shows no secret', async () => {
    const [, { url, client }] = servers;
    const body = { name: 'Other', permissions: ['*' as const] };
    const apiKey = (await client.POST('/v1/api-keys', { body })).data!.data.key;
    const other = createClient({ baseUrl: url, apiKey, maxRetries: 0 });
    for (const making of makings) {
      const { path, body, operation, showsSecret } = making;
      const params = { header: { 'Idempotency-Key': keyOf(making) } };
      const { data, error, response } = await other.POST(path as never, { params, body } as never);
      if (!showsSecret) {
        expect.soft({ operation, made: identityOf(data) }).toEqual({ operation, made: firsts.get(operation) });
        continue;
      }
      const message = expect.stringMatching(/^was used by another API key at \d{4}-.*Z$/);
      const details = [{ path: '/headers/Idempotency-Key', message }];
      expect.soft((response as Response).status, operation).toBe(409);
      expect.soft(error, operation).toMatchObject({ code: 'idempotency_key_reused', details });
    }
  });

  test('are kept encrypted', async () => {
    const { rows } = await servers[0].database.inEngine(({ db }) =>
      sql<{ operation: string; answer: string; fingerprint: string }>`
        select operation, answer, encode(fingerprint, 'hex') as fingerprint from idempotency_keys
        where answer is not null`.execute(db),
    );
    expect(rows.map(({ operation }) => operation)).toEqual(
      expect.arrayContaining([
        'createErasure',
        ...makings.filter(({ showsSecret }) => showsSecret).map(({ operation }) => operation),
      ]),
    );
    for (const { answer, fingerprint } of rows) expect([answer.slice(0, 3), fingerprint]).toEqual(['v1.', '']);
  });
});
