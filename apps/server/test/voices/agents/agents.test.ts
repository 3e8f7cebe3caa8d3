import { afterAll, beforeAll, expect, test } from 'vitest';
import { fromId, newUuid } from '../../../src/foundation/values/ids.ts';
import { lockAgentRoom } from '../../../src/voices/agents/agent-room.ts';
import { seedRow } from '../../seed/rows.ts';
import { startTestServer, type TestServer } from '../../server.ts';
import { until } from '../../until.ts';
import { addFiles, bases } from '../knowledge-bases/documents.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const url = 'wss://agents.example.com/reception';
const agents = '/v1/agents';
const one = '/v1/agents/{agentId}';
const at = (agentId: string) => ({ params: { path: { agentId } } });

async function makeAgent(name = 'Reception', more: { knowledgeBaseIds?: string[] } = {}): Promise<string> {
  const { data } = await server.client.POST(agents, { body: { name, connection: { type: 'stream', url }, ...more } });
  return data!.data.agent.id;
}

const conflict = (code: string, error: string) => expect.objectContaining({ code, error });

test('an agent is made, read, changed, listed and deleted; its secret is shown once, its headers never', async () => {
  const connection = { type: 'stream' as const, url, headers: { Authorization: 'Bearer sesame' } };
  const made = await server.client.POST(agents, { body: { name: 'Anna', connection, maxConcurrentCalls: 2 } });
  expect(made.response.status).toBe(201);
  const { agent, secret } = made.data!.data;
  expect(agent.id).toMatch(/^agent_[0-9a-f]{32}$/);
  expect(secret).toMatch(/^ags_[\w-]{43}$/);
  expect(agent).toEqual({
    id: agent.id,
    name: 'Anna',
    connection: {
      type: 'stream',
      url,
      headerNames: ['Authorization'],
      connectAt: 'answered',
      connectTimeoutSeconds: 2,
      reconnect: false,
    },
    maxConcurrentCalls: 2,
    silenceSeconds: 30,
    knowledgeBaseIds: [],
    recording: false,
    createdAt: expect.any(String),
    updatedAt: agent.createdAt,
  });
  expect((await server.client.GET(one, at(agent.id))).data!.data).toEqual(agent);

  const change = {
    name: 'Berta',
    connection: { headers: {}, secret: 'a secret of our own', connectAt: 'ringing' as const },
    maxConcurrentCalls: null,
    maxCallSeconds: 600,
    recording: true,
  };
  const changed = await server.client.PATCH(one, { ...at(agent.id), body: { ...change } });
  expect(changed.response.status).toBe(400);
  change.connection.secret = 'a-secret-of-our-own';
  const { data } = await server.client.PATCH(one, { ...at(agent.id), body: change });
  expect(data!.data).toMatchObject({ name: 'Berta', maxCallSeconds: 600, recording: true });
  expect(data!.data).not.toHaveProperty('maxConcurrentCalls');
  expect(data!.data.connection).toEqual({ ...agent.connection, headerNames: [], connectAt: 'ringing' });
  expect((await server.client.PATCH(one, { ...at(agent.id), body: {} })).data).toEqual(data);

  const rows = await server.database.inEngine((tx) => tx.db.selectFrom('agents').selectAll().execute());
  expect(JSON.stringify(rows)).not.toMatch(/sesame|secret-of-our-own/);
  const listed = await server.client.GET(agents, { params: { query: { searchText: 'BERT' } } });
  expect(listed.data!.data).toMatchObject({ items: [data!.data], totalCount: 1 });

  expect((await server.client.DELETE(one, at(agent.id))).data!.data).toEqual({ id: agent.id, deleted: true });
  expect((await server.client.GET(one, at(agent.id))).response.status).toBe(404);
  expect((await server.client.PATCH(one, { ...at(agent.id), body: {} })).response.status).toBe(404);
  expect((await server.client.DELETE(one, at(agent.id))).response.status).toBe(404);
  expect((await server.client.GET(one, at('agent_elsewhere'))).response.status).toBe(400);
});

test('the headers and the secret of an agent go to another address only if they are given again', async () => {
  const connection = { type: 'stream' as const, url, headers: { Authorization: 'Bearer sesame' } };
  const made = await server.client.POST(agents, { body: { name: 'Moved', connection } });
  const move = (change: object) =>
    server.client.PATCH(one, { ...at(made.data!.data.agent.id), body: { connection: change } });
  const places = async (change: object) => (await move(change)).error!.details!.map(({ path }) => path);

  expect((await move({ url: 'wss://agents.example.com:443/elsewhere' })).response.status).toBe(200);
  const [secret, headers] = ['a-secret-of-our-own', { Authorization: 'Bearer other' }];
  for (const other of [
    'wss://agents.example.org/',
    'https://agents.example.com/',
    'wss://agents.example.com:8443/',
    'wss://www.agents.example.com/',
  ]) {
    expect(await places({ url: other })).toEqual(['/body/connection/headers', '/body/connection/secret']);
    expect(await places({ url: other, secret })).toEqual(['/body/connection/headers']);
    expect(await places({ url: other, headers })).toEqual(['/body/connection/secret']);
  }
  const { data } = await move({ url: 'wss://agents.example.org/', headers: {}, secret });
  expect(data!.data.connection).toMatchObject({ url: 'wss://agents.example.org/', headerNames: [] });
  expect((await move({ url, secret })).response.status).toBe(200);
});

test('calls that are up when an agent gets its limit count', async () => {
  const id = await makeAgent();
  const { workspace_id } = await server.database.inEngine(({ db }) =>
    db.selectFrom('agents').select('workspace_id').where('id', '=', fromId(id)).executeTakeFirstOrThrow(),
  );
  await seedRow(server.database, 'calls', { workspace_id, phone_number_id: newUuid(), to_number: 1, agent_id: id });
  const room = () => server.database.inEngine((tx) => lockAgentRoom(tx, workspace_id, id));
  expect(await room()).toBeUndefined();
  await server.client.PATCH(one, { ...at(id), body: { maxConcurrentCalls: 3 } });
  expect(await room()).toEqual({ limitedAgentId: fromId(id), left: 2 });
});

test.each([
  ['ws://agents.example.com', {}, 'connection.url must be a wss URL, unless OUTBOUND_ALLOWED_ADDRESSES names it.'],
  [
    'wss://10.0.0.7/',
    {},
    'connection.url must not lead into the network of the server, unless OUTBOUND_ALLOWED_ADDRESSES names it.',
  ],
  ['wss://me:secret@agents.example.com/', {}, 'connection.url must hold no user name and no password.'],
  [
    'http://agents.example.com/calls',
    {},
    'connection.url must be an https URL, unless OUTBOUND_ALLOWED_ADDRESSES names it.',
  ],
  [url, { Host: 'x' }, 'connection.headers.Host is written by the server itself: leave it out.'],
  [
    url,
    { 'X-Trunkline-Signature': 'x' },
    'connection.headers.X-Trunkline-Signature is written by the server itself: leave it out.',
  ],
  [url, { A: '1', a: '2' }, 'connection.headers.a is there twice, in another case.'],
])('a connection to %s with the headers %j is refused', async (bad, headers, error) => {
  const connection = { type: 'stream' as const, url: bad, headers };
  const made = await server.client.POST(agents, { body: { name: 'A', connection } });
  expect([made.response.status, made.error]).toEqual([
    400,
    expect.objectContaining({ code: 'invalid_request', error }),
  ]);
  const id = await makeAgent();
  const changed = await server.client.PATCH(one, { ...at(id), body: { connection: { url: bad, headers } } });
  expect(changed.error).toEqual(made.error);
});

test('only a knowledge base that is ready can be attached, and one that is erased is detached', async () => {
  const base = async (name: string) => (await server.client.POST(bases, { body: { name } })).data!.data.id;
  const [ready, empty] = [await base('Prices'), await base('Nothing yet')];
  await addFiles(server, ready, { 'prices.txt': 'All is free.' });
  const of = (kbId: string) => ({ params: { path: { kbId } } });
  await until(async () => {
    const { data } = await server.client.GET('/v1/knowledge-bases/{kbId}', of(ready));
    return data!.data.status === 'ready';
  });
  const body = { name: 'A', connection: { type: 'stream' as const, url }, knowledgeBaseIds: [ready, empty] };
  const message = 'The knowledge base "Nothing yet" is empty. Attach it once it is ready.';
  const refused = await server.client.POST(agents, { body });
  expect(refused.response.status).toBe(409);
  expect(refused.error).toEqual({
    code: 'knowledge_base_not_ready',
    error: message,
    details: [{ path: '/body/knowledgeBaseIds/1', message }],
  });
  const nowhere = `kb_${'0'.repeat(32)}`;
  const missing = await server.client.POST(agents, { body: { ...body, knowledgeBaseIds: [nowhere] } });
  expect(missing.response.status).toBe(404);

  const id = await makeAgent('Sells', { knowledgeBaseIds: [ready] });
  const attach = (knowledgeBaseIds: string[]) => server.client.PATCH(one, { ...at(id), body: { knowledgeBaseIds } });
  expect((await attach([empty])).response.status).toBe(409);
  expect((await attach([nowhere])).response.status).toBe(404);
  expect((await server.client.GET(one, at(id))).data!.data.knowledgeBaseIds).toEqual([ready]);
  // What was attached while it was ready stays so while documents are added to it.
  await addFiles(server, ready, { 'more.txt': 'Nothing costs more.' });
  expect((await attach([ready])).response.status).toBe(200);
  await server.client.DELETE('/v1/knowledge-bases/{kbId}', of(ready));
  await until(async () => (await server.client.GET(one, at(id))).data!.data.knowledgeBaseIds.length === 0);
});

test('an agent that is used is not deleted, and the refusal names who uses it', async () => {
  const id = await makeAgent('Anna');
  const remove = () => server.client.DELETE(one, at(id));
  const phoneNumber = '+14155550111';
  const bought = await server.client.POST('/v1/telephony/phone-numbers/buy', {
    body: { phoneNumber, provider: 'simulator' },
  });
  const number = { params: { path: { id: bought.data!.id } } };
  const bind = (agentId: string | null) =>
    server.client.PATCH('/v1/telephony/phone-numbers/{id}', { ...number, body: { inboundAgentId: agentId } });
  expect((await bind(`agent_${'0'.repeat(32)}`)).response.status).toBe(400);
  expect((await bind(id)).data).toMatchObject({ inboundAgentPublicId: id, inboundAgentName: 'Anna' });
  expect((await remove()).error).toEqual(
    conflict('agent_in_use', `The number ${phoneNumber} is bound to this agent. Bind another one first.`),
  );
  await server.client.PATCH(one, { ...at(id), body: { name: 'Berta' } });
  const read = await server.client.GET('/v1/telephony/phone-numbers/{id}', number);
  expect(read.data).toMatchObject({ inboundAgentName: 'Berta' });
  await bind(null);

  const scheduledAt = new Date(server.clock.now().getTime() + 3_600_000).toISOString();
  const batch = await server.client.POST('/v1/calls/batch', {
    body: { agentId: id, fromNumber: phoneNumber, recipients: [{ phoneNumber: '+14155550122' }], scheduledAt },
  });
  expect((await remove()).error).toEqual({
    code: 'agent_in_use',
    error: 'A batch uses this agent. Cancel it first.',
    details: [{ path: '/path/id', message: `is used by the batch (${batch.data!.batchId})` }],
  });
  await server.client.POST('/v1/calls/batch/{batchId}/cancel', { params: { path: { batchId: batch.data!.batchId } } });

  const workflow = await server.client.POST('/v1/workflows', {
    body: {
      name: 'Calls back',
      startNodeId: 'call',
      nodes: [
        {
          id: 'call',
          type: 'call',
          title: 'Call',
          agentId: id,
          fromNumber: phoneNumber,
          to: '+14155550122',
          next: 'done',
        },
        { id: 'done', type: 'end', title: 'Done', status: 'completed' },
      ],
    },
  });
  expect(workflow.error).toBeUndefined();
  const ofWorkflow = { params: { path: { workflowId: workflow.data!.data.id } } };
  expect((await server.client.POST('/v1/workflows/{workflowId}/publish', ofWorkflow)).error).toBeUndefined();
  expect((await remove()).error).toEqual(
    conflict('agent_in_use', 'The workflow "Calls back" uses this agent. Publish it with another one first.'),
  );
  await server.client.DELETE('/v1/workflows/{workflowId}', ofWorkflow);
  expect((await remove()).response.status).toBe(200);
});
