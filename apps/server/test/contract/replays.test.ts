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
  return { status, replayed: response.headers.get('idempotent-replayed'), answer, made: answer.data ?? answer };
}

const end = { id: 'end', type: 'end', title: 'End', status: 'completed' };
const campaign = (): object => ({
  agentId: 'a',
  fromNumber: '+14155550199',
  lists: [{ id: listId, role: 'contacts' }],
});
const uploads = (): string => `/v1/calls/contact-lists/${ownListId}/uploads`;

const creates: [operation: string, path: () => string, body: () => object, changed: string][] = [
  ['createCampaign', () => '/v1/calls/campaigns', () => ({ name: 'One', ...campaign() }), 'name'],
  ['createContactList', () => '/v1/calls/contact-lists', () => ({ name: 'One', fileName: 'a.csv' }), 'name'],
  ['createContactListUpload', uploads, () => ({ fileName: 'One' }), 'fileName'],
  ['createNumberPool', () => '/v1/number-pools', () => ({ name: 'One' }), 'name'],
  ['createKnowledgeBase', () => '/v1/knowledge-bases', () => ({ name: 'One' }), 'name'],
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
  const connection = { type: 'stream', url: 'wss://agents.example.com/' };
  const agent = (await ask('/v1/agents', { body: { name: 'A', connection } })).made.agent;
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
