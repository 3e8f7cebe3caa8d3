import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { checkDefinition } from '../../../src/dialing/workflows/definitions/check-definition.ts';
import type { Definition, Node } from '../../../src/dialing/workflows/definitions/definition.ts';
import { edgesOf } from '../../../src/dialing/workflows/definitions/definition-graph.ts';
import { fromId, newUuid, toId } from '../../../src/foundation/values/ids.ts';
import { keyWith } from '../../platform/api-keys/keys.ts';
import { startTestServer, type TestServer } from '../../server.ts';

let server: TestServer;
let client: TestServer['client'];
let stranger: TestServer['client'];
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'trunkline-agents-'));
  const agentsFile = path.join(folder, 'agents.yaml');
  const names = ['reception', 'sales', 'advisor', 'assistant', 'reminder', 'confirmation', 'survey', 'opt_out'];
  const agents = names.map((name) => ({ id: `agent_${name}`, name }));
  await writeFile(agentsFile, JSON.stringify({ agents }));
  server = await startTestServer({ config: { agentsFile } });
  client = server.client;
  stranger = server.clientOf(await keyWith(server, { permissions: ['*'], workspace: 'Other' }));
  const body = { phoneNumber: '+14155550100', provider: 'simulator' } as const;
  await client.POST('/v1/telephony/phone-numbers/buy', { body });
});
afterAll(async () => {
  await server.stop();
  await rm(folder, { recursive: true });
});

const workflows = '/v1/workflows';
const one = `${workflows}/{workflowId}` as const;
const at = (workflowId: string) => ({ params: { path: { workflowId } } });
const unknown = () => toId('wf', newUuid());

const types = 'call, wait, branch, set, http, workflow, end';
const end: Node = { id: 'done', type: 'end', title: 'Done', status: 'completed' };
const simple = (given: Partial<Definition> = {}): Definition => ({
  name: 'Simple',
  startNodeId: 'done',
  nodes: [end],
  ...given,
});
const send = (body: Definition) => client.POST(workflows, { body });
const create = async (given: Partial<Definition> = {}) => (await send(simple(given))).data!.data;
const replace = (id: string, body: Definition & { draftRevision?: number }) => client.PUT(one, { ...at(id), body });
const publish = (id: string) => client.POST(`${one}/publish`, at(id));
const published = async (given: Partial<Definition> = {}) => {
  const { id } = await create(given);
  await publish(id);
  return id;
};
const versions = (id: string, query = {}) =>
  client.GET(`${one}/versions`, { params: { path: { workflowId: id }, query } });

describe('drafts', () => {
  test('a definition is kept as it was written, with its keys in that order', async () => {
    const set: Node = {
      id: 'mark',
      type: 'set',
      title: 'Mark',
      values: { zebra: 1, a: { long_key: null, b: [1.5] } },
      next: 'done',
    };
    const definition = simple({ name: 'Kept', startNodeId: 'mark', nodes: [set, end] });
    const { data, response } = await send(definition);
    expect(response.status).toBe(201);
    const { id, createdAt } = data!.data;
    const draft = { id, name: 'Kept', status: 'draft', draftRevision: 1, definition, createdAt, updatedAt: createdAt };
    expect(data).toEqual({ success: true, data: draft });
    const read = await client.GET(one, at(id));
    expect(read.data).toEqual(data);
    expect(JSON.stringify(read.data!.data.definition)).toBe(JSON.stringify(definition));
  });

  test('a draft is replaced, its revision rises, and a stale change is refused', async () => {
    const { id } = await create();
    const { data } = await replace(id, { ...simple({ name: 'Second' }), draftRevision: 1 });
    expect(data!.data).toMatchObject({ name: 'Second', draftRevision: 2, definition: simple({ name: 'Second' }) });
    expect(data!.data.definition).not.toHaveProperty('draftRevision');
    const stale = await replace(id, { ...simple(), draftRevision: 1 });
    expect(stale.response.status).toBe(409);
    expect(stale.error).toEqual({
      code: 'invalid_state',
      error: 'The draft has revision 2 by now. Read it again, and repeat the change.',
    });
    expect((await replace(id, simple())).data!.data.draftRevision).toBe(3);
    const changes = await Promise.all(Array.from({ length: 8 }, () => replace(id, { ...simple(), draftRevision: 3 })));
    expect(changes.filter(({ data: done }) => done)).toHaveLength(1);
  });

  test('a draft may be half done, but is bounded', async () => {
    expect((await send(simple({ startNodeId: 'nowhere' }))).response.status).toBe(201);
    const large = simple({ nodes: [{ ...end, output: { text: 'x'.repeat(262_144) } } as Node] });
    const { error, response } = await send(large);
    expect([response.status, error]).toEqual([
      400,
      {
        code: 'invalid_request',
        error: 'body must be at most 256 KiB as JSON',
        details: [{ path: '/body', message: 'must be at most 256 KiB as JSON' }],
      },
    ]);
    expect((await send(simple({ nodes: Array(201).fill(end) }))).response.status).toBe(400);
    const { id } = await create();
    expect((await replace(id, large)).response.status).toBe(400);
  });

  test('a node of a wrong shape is named, with the faults of the shape that its type says', async () => {
    const nodes = [
      { ...end, id: 'bad-end', next: 'done', status: 'cancelled' },
      { id: 'ring', type: 'call', title: 'Ring', agentId: 'agent_sales', to: 7 },
      { id: 'say', type: 'speak', title: 'Say' },
      { id: 'none', title: 'None' },
      'text',
      end,
    ];
    const { error, response } = await send({ ...simple(), nodes } as never);
    expect(response.status).toBe(400);
    expect(error!.details).toEqual(
      [
        ['bad-end', '0/next', 'is not a known property'],
        ['bad-end', '0/status', 'must be equal to one of the allowed values: completed, failed'],
        ['ring', '1/next', 'is required'],
        ['ring', '1/to', 'must be string'],
        ['say', '2/type', `must be equal to one of the allowed values: ${types}`],
        ['none', '3/type', 'is required'],
        [undefined, '4', 'must be object'],
      ].map(([nodeId, place, message]) => ({
        path: `/body/nodes/${place}`,
        message,
        ...(nodeId !== undefined && { nodeId }),
      })),
    );
    expect(error!.error).toContain('body/nodes/1/next (node ring) is required');
    const { id } = await create();
    expect((await replace(id, { ...simple(), nodes } as never)).error!.details).toEqual(error!.details);
  });

  test('lists come in pages, by name', async () => {
    const { id } = await create({ name: '100% Listed' });
    const second = await published({ name: 'Not listed, 100%' });
    const query = { searchText: '100%', order: 'asc' as const };
    const { data } = await client.GET(workflows, { params: { query } });
    expect(data!.data).toMatchObject({ page: 1, perPage: 20, totalCount: 2, column: 'created_at', ...query });
    expect(data!.data.items.map((item) => [item.id, item.status, item.version])).toEqual([
      [id, 'draft', undefined],
      [second, 'published', 1],
    ]);
    expect(data!.data.items[0]).not.toHaveProperty('definition');
    const last = await client.GET(workflows, { params: { query: { ...query, perPage: 1, page: 2 } } });
    expect(last.data!.data.items.map((item) => item.id)).toEqual([second]);
    const newest = await client.GET(workflows, { params: { query: { searchText: '100%' } } });
    expect(newest.data!.data.items.map((item) => item.id)).toEqual([second, id]);
  });

  test('a workflow can not be deleted while runs of it are active', async () => {
    const wait: Node = { id: 'later', type: 'wait', title: 'Later', seconds: 3600, next: 'done' };
    const id = await published({ startNodeId: 'later', nodes: [wait, end] });
    const start = async (key: string) => {
      const params = { path: { workflowId: id }, header: { 'Idempotency-Key': key } };
      return (await client.POST(`${one}/run`, { params, body: {} })).data!.data.id;
    };
    const cancel = (runId: string) =>
      client.POST(`${one}/runs/{runId}/cancel`, { params: { path: { workflowId: id, runId } } });
    const refusal = async () => {
      const { response, error } = await client.DELETE(one, at(id));
      return [response.status, error];
    };
    const [first, second] = [await start('delete-1'), await start('delete-2')];
    const error = 'The workflow has 2 active runs. Cancel them first, or wait for their end.';
    expect(await refusal()).toEqual([409, { code: 'invalid_state', error }]);
    expect((await cancel(first)).response.status).toBe(200);
    const last = 'The workflow has 1 active run. Cancel it first, or wait for its end.';
    expect(await refusal()).toEqual([409, { code: 'invalid_state', error: last }]);
    await cancel(second);
    expect((await client.DELETE(one, at(id))).data).toEqual({ success: true, data: { id, deleted: true } });
    expect((await client.GET(one, at(id))).response.status).toBe(404);
    const left = await server.database.inEngine(({ db }) =>
      sql`
        select from workflow_versions where workflow_id = ${fromId(id)}
        union all select from workflow_runs where workflow_id = ${fromId(id)}
        union all select from workflow_run_steps where run_id in (${fromId(first)}, ${fromId(second)})`.execute(db),
    );
    expect(left.rows).toEqual([]);
  });
});

describe('publish', () => {
  test('makes the next version, which stays as it is', async () => {
    const { id } = await create({ name: 'First' });
    const first = await publish(id);
    expect(first.response.status).toBe(200);
    const { createdAt } = first.data!.data;
    expect(first.data!.data).toEqual({ workflowId: id, version: 1, definition: simple({ name: 'First' }), createdAt });
    await replace(id, simple({ name: 'Second' }));
    const between = (await client.GET(one, at(id))).data!.data;
    expect(between).toMatchObject({ status: 'published', version: 1, publishedAt: createdAt, name: 'Second' });
    expect((await publish(id)).data!.data).toMatchObject({ version: 2, definition: { name: 'Second' } });
    const { data } = await versions(id);
    expect(data!.data.items.map((item) => [item.version, item.definition.name])).toEqual([
      [2, 'Second'],
      [1, 'First'],
    ]);
    const found = await versions(id, { searchText: 'FIR', order: 'asc', perPage: 1 });
    expect(found.data!.data).toMatchObject({ totalCount: 1, items: [{ version: 1 }] });
  });

  test('an unchanged draft makes no new version, also where two publish at once', async () => {
    const { id } = await create();
    const all = await Promise.all(Array.from({ length: 6 }, () => publish(id)));
    expect(all.map(({ data }) => data!.data.version)).toEqual(Array(6).fill(1));
    await replace(id, simple());
    expect((await publish(id)).data!.data.version).toBe(1);
    expect((await versions(id)).data!.data.totalCount).toBe(1);
    const entries = await client.GET('/v1/audit-log', { params: { query: { searchText: id } } });
    expect(entries.data!.data.items.map(({ action }) => action)).toEqual([
      'workflow.updated',
      'workflow.published',
      'workflow.created',
    ]);
  });

  test('a draft with faults is refused with all of them, by node, and the version stays', async () => {
    const id = await published();
    const draftOnly = (await create()).id;
    const theirs = (await stranger.POST(workflows, { body: simple() })).data!.data.id;
    await stranger.POST(`${one}/publish`, at(theirs));
    const pool = toId('pool', newUuid());
    const call = { type: 'call', title: 'Ring', agentId: 'agent_sales', to: '{{phone}}' } as const;
    const child = { type: 'workflow', title: 'Child' } as const;
    const nodes: Node[] = [
      { id: 'a', ...call, fromNumber: '+14155550199', numberPoolId: pool, next: 'b' },
      { id: 'b', ...call, agentId: 'agent_gone', numberPoolId: pool, next: 'nowhere' },
      { id: 'c', ...child, workflowId: draftOnly, next: 'd' },
      { id: 'd', ...child, workflowId: theirs, next: 'e' },
      { id: 'e', ...child, workflowId: id, next: 'done' },
      end,
    ];
    await replace(id, simple({ startNodeId: 'a', requiredContext: [], nodes }));
    const { error, response } = await publish(id);
    expect(response.status).toBe(400);
    expect(error!.code).toBe('invalid_request');
    expect(error!.error).toBe('The draft has 14 faults. See details.');
    expect(error!.details!.map((each) => `${each.nodeId} ${each.path} ${each.message}`)).toEqual([
      'a /body/nodes/0/fromNumber Give exactly one of fromNumber and numberPoolId.',
      'a /body/nodes/0/to No path to this node sets phone. Set it before, or add it to requiredContext.',
      'a /body/nodes/0/fromNumber There is no phone number +14155550199.',
      `a /body/nodes/0/numberPoolId There is no number pool ${pool}.`,
      'b /body/nodes/1/next There is no node nowhere.',
      'b /body/nodes/1/to No path to this node sets phone. Set it before, or add it to requiredContext.',
      'b /body/nodes/1/agentId There is no agent agent_gone.',
      `b /body/nodes/1/numberPoolId There is no number pool ${pool}.`,
      'c /body/nodes/2 No path leads to this node.',
      `c /body/nodes/2/workflowId The workflow ${draftOnly} is a draft. Publish it first.`,
      'd /body/nodes/3 No path leads to this node.',
      `d /body/nodes/3/workflowId There is no workflow ${theirs}.`,
      'e /body/nodes/4 No path leads to this node.',
      'done /body/nodes/5 No path leads to this node.',
    ]);
    expect((await client.GET(one, at(id))).data!.data.version).toBe(1);
  });
});

test('a workflow of another workspace, and one that never was, are the same 404', async () => {
  const id = await published();
  const answers = await Promise.all(
    [id, unknown()].flatMap((wanted) => [
      stranger.GET(one, at(wanted)),
      stranger.PUT(one, { ...at(wanted), body: simple() }),
      stranger.DELETE(one, at(wanted)),
      stranger.POST(`${one}/publish`, at(wanted)),
      stranger.GET(`${one}/versions`, at(wanted)),
    ]),
  );
  for (const { response, error } of answers) {
    expect(response.status).toBe(404);
    expect(error).toEqual({ code: 'not_found', error: 'There is no such resource in this workspace.' });
  }
  const theirs = await stranger.GET(workflows, { params: { query: { perPage: 100 } } });
  expect(theirs.data!.data.items.map((item) => item.id)).not.toContain(id);
});

const library = path.join(import.meta.dirname, '../../../../../docs/workflows');

test.each(readdirSync(library))('%s of the library is taken and can be published', async (file) => {
  const definition = JSON.parse(readFileSync(path.join(library, file), 'utf8')) as Definition;
  const { data, error } = await send(definition);
  expect(error).toBeUndefined();
  expect((await publish(data!.data.id)).error).toBeUndefined();
});

const page = readFileSync(path.join(library, '../workflows.md'), 'utf8');
const examples = [...page.matchAll(/```json\n(.*?)```/gs)].map(([, text]) => JSON.parse(text!) as Node | Definition);

test.each(examples.map((example) => ['type' in example ? example.type : 'definition', example] as const))(
  'the example of a %s in docs/workflows.md is right',
  async (_, example) => {
    const definition = 'nodes' in example ? example : around(example);
    expect((await send(definition)).error).toBeUndefined();
    expect(checkDefinition(definition)).toEqual([]);
  },
);

/** A definition that begins with a node, and ends wherever it leads. */
function around(node: Node): Definition {
  const targets = [...new Set(edgesOf(node).map(({ to }) => to))];
  return simple({ startNodeId: node.id, nodes: [node, ...targets.map((id): Node => ({ ...end, id }))] });
}
