import { hash } from 'node:crypto';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fromId, newUuid, toId } from '../../src/foundation/values/ids.ts';
import { seedList } from '../seed/list.ts';
import { seedNumber } from '../seed/workspace.ts';
import { startTestServer, type TestServer } from '../server.ts';
import { until } from '../until.ts';

let server: TestServer;
let listId: string;
/** Which no campaign uses. */
let ownListId: string;

beforeAll(async () => {
  server = await startTestServer();
  const { database } = server;
  const { rows } = await database.inEngine(({ db }) => sql<{ id: string }>`select id from workspaces`.execute(db));
  await seedNumber(database, rows[0]!.id, '+14155550199');
  const list = async () => toId('list', await seedList(database, rows[0]!.id, [{ phone_number: 14155550100 }]));
  [listId, ownListId] = [await list(), await list()];
});
afterAll(() => server.stop());

interface Sent {
  method?: string;
  body?: object;
  key?: string;
}

async function ask(path: string, { method = 'POST', body, key }: Sent = {}) {
  const headers = {
    'X-API-Key': server.apiKey,
    ...(body && { 'Content-Type': 'application/json' }),
    ...(key && { 'Idempotency-Key': key }),
  };
  const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
  const response = await fetch(server.url + path, init);
  const answer = JSON.parse(await response.text());
  const { status } = response;
  const made = answer.data?.agent ?? answer.data ?? answer;
  return { status, replayed: response.headers.get('idempotent-replayed'), answer, made };
}

const end = { id: 'end', type: 'end', title: 'End', status: 'completed' };
const campaign = (): object => ({
  agentId: 'a',
  fromNumber: '+14155550199',
  lists: [{ id: listId, role: 'contacts' }],
});
const stream = { type: 'stream', url: 'wss://agents.example.com/' };
const hook = { url: 'https://hooks.invalid/', eventTypes: ['call.ended'] };
const uploads = (): string => `/v1/calls/contact-lists/${ownListId}/uploads`;

const creates: [operation: string, path: () => string, body: () => object, changed: string][] = [
  ['createCampaign', () => '/v1/calls/campaigns', () => ({ name: 'One', ...campaign() }), 'name'],
  ['createContactList', () => '/v1/calls/contact-lists', () => ({ name: 'One', fileName: 'a.csv' }), 'name'],
  ['createContactListUpload', uploads, () => ({ fileName: 'One' }), 'fileName'],
  ['createNumberPool', () => '/v1/number-pools', () => ({ name: 'One' }), 'name'],
  ['createKnowledgeBase', () => '/v1/knowledge-bases', () => ({ name: 'One' }), 'name'],
  ['createAgent', () => '/v1/agents', () => ({ name: 'One', connection: stream }), 'name'],
  ['createApiKey', () => '/v1/api-keys', () => ({ name: 'One', permissions: ['calls:read'] }), 'name'],
  ['createWebhook', () => '/v1/webhooks', () => ({ ...hook, description: 'One' }), 'description'],
  ['createWorkflow', () => '/v1/workflows', () => ({ name: 'One', startNodeId: 'end', nodes: [end] }), 'name'],
];

describe.each(creates)('%s', (operation, path, bodyOf, changed) => {
  test('makes one thing for a key, answers it again as it is now, and 404 once it is deleted', async () => {
    const [body, key] = [bodyOf(), `${operation} 1`];
    const trail = async () =>
      (await server.client.GET('/v1/audit-log', { params: { query: { includeTotal: true } } })).data!.data.totalCount!;
    const first = await ask(path(), { body, key });
    expect(first).toMatchObject({ status: 201, replayed: null });
    const before = await trail();
    server.clock.advance(60_000);
    const again = await ask(path(), { body, key });
    expect(again).toMatchObject({ status: 201, replayed: 'true', made: { id: first.made.id } });
    expect(await trail()).toBe(before);
    const other = await ask(path(), { body, key: `${operation} 2` });
    expect(other).toMatchObject({ status: 201, replayed: null });
    expect(other.made.id).not.toBe(first.made.id);

    const reused = await ask(path(), { body: { ...body, [changed]: 'Two' }, key });
    const message = expect.stringMatching(`^made ${first.made.id} at \\d{4}-.*Z$`);
    const details = [{ path: '/headers/Idempotency-Key', message }];
    expect(reused).toMatchObject({ status: 409, answer: { code: 'idempotency_key_reused', details } });

    const isUpload = operation === 'createContactListUpload';
    const gone = isUpload ? `/v1/calls/contact-lists/${ownListId}` : `${path()}/${first.made.id}`;
    expect((await ask(gone, { method: 'DELETE' })).status).toBe(200);
    expect(await ask(path(), { body, key })).toMatchObject({ status: 404, answer: { code: 'not_found' } });
  });
});

test('the keys of a request that is sent again may stand in another order', async () => {
  const path = '/v1/workflows';
  const node = { id: 'end', type: 'end', title: 'End', status: 'completed' };
  const first = await ask(path, { body: { name: 'Kept', startNodeId: 'end', nodes: [node] }, key: 'kept' });
  const turned = { status: 'completed', title: 'End', type: 'end', id: 'end' };
  const sent = { body: { nodes: [turned], startNodeId: 'end', name: 'Kept' }, key: 'kept' };
  expect(await ask(path, sent)).toMatchObject({ status: 201, replayed: 'true', made: { id: first.made.id } });
  // The order of a list means something.
  const two = [{ ...node, id: 'other' }, turned];
  await ask(path, { body: { name: 'Two', startNodeId: 'end', nodes: two }, key: 'two' });
  const back = { body: { name: 'Two', startNodeId: 'end', nodes: two.toReversed() }, key: 'two' };
  expect(await ask(path, back)).toMatchObject({ status: 409, answer: { code: 'idempotency_key_reused' } });
});

test('a trunk that was deleted is not made again', async () => {
  const sent = { body: { terminationUrl: 'ok.sim', username: 'ada', password: 'One' }, key: 'trunk' };
  const { made } = await ask('/v1/telephony/trunks', sent);
  expect(await ask('/v1/telephony/trunks', sent)).toMatchObject({ status: 201, replayed: 'true', made });
  await ask(`/v1/telephony/trunks/${made.id}`, { method: 'DELETE' });
  expect(await ask('/v1/telephony/trunks', sent)).toMatchObject({ status: 404, answer: { code: 'not_found' } });
});

test('of many things those that are still there are answered', async () => {
  const path = '/v1/telephony/phone-numbers';
  const body = { phoneNumbers: ['+14155550188', '+14155550189', '911'], sipConfig: { terminationUrl: 'ok.sim' } };
  const sent = { body, key: 'many' };
  const { made } = await ask(`${path}/import/manual`, sent);
  expect(await ask(`${path}/import/manual`, sent)).toMatchObject({ status: 201, replayed: 'true', made });
  await ask(`${path}/${made.imported[0].id}`, { method: 'DELETE' });
  const { answer } = await ask(`${path}/import/manual`, sent);
  expect(answer).toEqual({ imported: [made.imported[1]], rejected: made.rejected });
});

test('a secret that was replaced since is shown again, and replaces nothing', async () => {
  const path = '/v1/workspace/rotate-inbound-secret';
  const first = await ask(path, { key: 'first' });
  const second = await ask(path, { key: 'second' });
  expect(second.made.secret).not.toBe(first.made.secret);
  expect(await ask(path, { key: 'first' })).toMatchObject({ status: 200, replayed: 'true', made: first.made });
  expect(await ask(path, { key: 'second' })).toMatchObject({ status: 200, replayed: 'true', made: second.made });
});

test('a key that a server of before 0.2.0 has taken is known', async () => {
  const sent = { body: { name: 'Of before', description: 'Kept' }, key: 'before' };
  const { made } = await ask('/v1/number-pools', sent);
  const old = hash('sha256', JSON.stringify(sent.body), 'buffer');
  await server.database.inEngine(({ db }) =>
    sql`update idempotency_keys set fingerprint = ${old} where key = 'before'`.execute(db),
  );
  expect(await ask('/v1/number-pools', sent)).toMatchObject({ replayed: 'true', made: { id: made.id } });
});

test('requests of one key at once make one thing', async () => {
  const sent = { body: { name: 'Raced' }, key: 'raced' };
  const answers = await Promise.all([1, 2, 3, 4].map(() => ask('/v1/number-pools', sent)));
  expect(new Set(answers.map(({ made }) => made.id)).size).toBe(1);
  expect(answers.filter(({ replayed }) => replayed === null)).toHaveLength(1);
});

test('a request that was refused leaves its key free', async () => {
  const path = '/v1/number-pools';
  const body = { name: 'Refused', phoneNumberIds: [toId('pn', newUuid())] };
  expect(await ask(path, { body, key: 'refused' })).toMatchObject({ status: 404 });
  expect(await ask(path, { body: { name: 'Right' }, key: 'refused' })).toMatchObject({ status: 201, replayed: null });
});

test('a list that is made again has a URL that opens for its file, which is waited for as long', async () => {
  const sent = { body: { name: 'Late', fileName: 'late.csv' }, key: 'late' };
  const { made } = await ask('/v1/calls/contact-lists', sent);
  server.clock.advance(14 * 60_000);
  const { made: again } = await ask('/v1/calls/contact-lists', sent);
  expect(again.uploadDetails).toMatchObject({ id: made.uploadDetails.id, status: 'pending' });
  expect(again.uploadUrl).not.toBe(made.uploadUrl);
  server.clock.advance(14 * 60_000);
  const stored = await fetch(again.uploadUrl, {
    method: 'PUT',
    headers: again.uploadHeaders,
    body: 'phone\n+14155550101\n',
  });
  expect(stored.ok).toBe(true);
  const { id, uploadDetails } = again;
  await until(
    async () =>
      (await ask(`/v1/calls/contact-lists/${id}`, { method: 'GET' })).made.uploadDetails.status === 'validated',
  );
  expect(await ask('/v1/calls/contact-lists', sent)).toMatchObject({
    status: 201,
    made: { uploadDetails: { id: uploadDetails.id, status: 'validated' } },
  });
});

test('a campaign is answered again when its agent is gone', async () => {
  const agent = (await ask('/v1/agents', { body: { name: 'A', connection: stream } })).made;
  const sent = { body: { name: 'Kept', ...campaign(), agentId: agent.id }, key: 'kept' };
  const { made } = await ask('/v1/calls/campaigns', sent);
  const path = `/v1/agents/${agent.id}`;
  await server.database.inEngine(({ db }) => sql`delete from agents where id = ${fromId(agent.id)}`.execute(db));
  expect((await ask(path, { method: 'GET' })).status).toBe(404);
  expect(await ask('/v1/calls/campaigns', sent)).toMatchObject({
    status: 201,
    replayed: 'true',
    made: { id: made.id },
  });
});
