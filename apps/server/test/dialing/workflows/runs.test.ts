import { sql } from 'kysely';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { deleteWorkflow } from '../../../src/dialing/workflows/definitions/delete-workflow.ts';
import { deleteRuns } from '../../../src/dialing/workflows/runs/retention.ts';
import { fromId, newUuid, toId } from '../../../src/foundation/values/ids.ts';
import type { Jobs } from '../../../src/platform/jobs/jobs.ts';
import { meanwhile } from '../../race.ts';
import { until } from '../../until.ts';
import { definitionOf, end, set, wait } from './nodes.ts';
import { type RunServer, startRunServer } from './run-server.ts';

let server: RunServer;

beforeAll(async () => {
  server = await startRunServer();
});
afterAll(() => server.stop());

test('a run goes from node to node, and can be explained', async () => {
  const definition = definitionOf([
    set('greet', { greeting: 'Hello {{name}}' }, 'choose'),
    {
      id: 'choose',
      type: 'branch',
      title: 'Ada?',
      cases: [{ when: { left: '{{name}}', operator: 'equals', right: 'Ada' }, next: 'done' }],
      next: 'other',
    },
    end('done', { output: { said: '{{greeting}}' } }),
    end('other', { status: 'failed' }),
  ]);
  const run = await server.carryOut(definition, { context: { name: 'Ada' } });
  expect(run).toMatchObject({
    automationName: 'Test',
    version: 1,
    status: 'completed',
    context: { name: 'Ada', greeting: 'Hello Ada' },
    output: { said: 'Hello Ada' },
    revision: 4,
  });
  expect(run.steps).toMatchObject([
    { id: '1', nodeId: 'greet', nodeType: 'set', status: 'completed', nextNodeId: 'choose' },
    { id: '2', nodeId: 'choose', nodeTitle: 'Ada?', status: 'completed', nextNodeId: 'done' },
    { id: '3', nodeId: 'done', status: 'completed' },
  ]);
});

test('a run waits for its time, and goes on early where it is woken', async () => {
  const workflowId = await server.publish(definitionOf([wait('later', 3600), end()]));
  const [woken, slept] = await Promise.all(
    ['woken', 'slept'].map((concurrencyKey) => server.begin(workflowId, { concurrencyKey })),
  );
  const sleeping = await server.comesTo(slept!, 'waiting_schedule');
  expect(sleeping).toMatchObject({ currentNodeId: 'later', currentNodeTitle: 'later', currentStepId: '1' });
  await server.comesTo(woken!, 'waiting_schedule');
  const wake = async (...concurrencyKeys: string[]) => {
    const params = { path: { workflowId } };
    const { data } = await server.client.POST('/v1/workflows/{workflowId}/runs/wake', {
      params,
      body: { concurrencyKeys },
    });
    return data!.data.woken;
  };
  expect(await wake('woken', 'woken', 'unknown')).toEqual(['woken']);
  expect(await wake('woken')).toEqual([]);
  await server.comesTo(woken!, 'completed');
  expect((await server.read(slept!)).status).toBe('waiting_schedule');
  server.clock.advance(3_601_000);
  await server.comesTo(slept!, 'completed');
});

test('a run is cancelled once', async () => {
  const run = await server.begin(await server.publish(definitionOf([wait('later', 60), end()])));
  await server.comesTo(run, 'waiting_schedule');
  const params = { path: { workflowId: run.automationId, runId: run.id } };
  const cancel = () => server.client.POST('/v1/workflows/{workflowId}/runs/{runId}/cancel', { params });
  expect((await cancel()).data!.data).toMatchObject({ id: run.id, status: 'cancelled' });
  expect((await cancel()).error).toMatchObject({ code: 'run_not_active', error: 'The run is cancelled already.' });
  expect((await server.read(run)).steps).toMatchObject([{ status: 'cancelled' }]);
});

test('a run of another workflow, and runs of an unknown one, are not found', async () => {
  const run = await server.begin(await server.publish(definitionOf([end()])));
  const workflowId = toId('wf', newUuid());
  const params = { path: { workflowId, runId: run.id } };
  const { client } = server;
  const answers = await Promise.all([
    client.GET('/v1/workflows/{workflowId}/runs/{runId}', { params }),
    client.POST('/v1/workflows/{workflowId}/runs/{runId}/cancel', { params }),
    client.POST('/v1/workflows/{workflowId}/runs/wake', {
      params: { path: { workflowId } },
      body: { concurrencyKeys: ['a'] },
    }),
  ]);
  expect(answers.map(({ response }) => response.status)).toEqual([404, 404, 404]);
  const stream = await fetch(`${server.url}/v1/workflows/${workflowId}/runs/${run.id}/events`, {
    headers: { 'X-API-Key': server.apiKey },
  });
  expect(stream.status).toBe(404);
});

test('what the engine does is in the metrics', async () => {
  await server.carryOut(definitionOf([set('a', { n: 1 }), end()]));
  const text = await (await fetch(`${server.url}/metrics`)).text();
  expect(text).toMatch(/^trunkline_workflow_runs_claimed_total [1-9]/m);
  expect(text).toMatch(/^trunkline_workflow_runs_moved_total\{status="completed"\} [1-9]/m);
});

test('a workflow goes with its ended runs, and stays while one is active', async () => {
  const workflowId = await server.publish(definitionOf([wait('later', 60), end()]));
  const given = { concurrencyKey: 'deleted', idempotencyKey: 'deleted' };
  const run = await server.begin(workflowId, given);
  await server.comesTo(run, 'waiting_schedule');
  const params = { path: { workflowId } };
  const remove = () => server.client.DELETE('/v1/workflows/{workflowId}', { params });
  expect((await remove()).error).toMatchObject({ code: 'invalid_state' });
  server.clock.advance(60_000);
  await server.comesTo(run, 'completed');
  const ofWorkflow = sql`workflow_id = ${fromId(workflowId)}`;
  await server.database.inEngine(({ db }) =>
    sql`
      with more as (insert into workflow_runs (workspace_id, id, workflow_id, version, workflow_name, status, node_id,
          context, ended_at, created_at, updated_at)
        select workspace_id, lpad(i::text, 32, '0')::uuid, workflow_id, version, workflow_name, status, node_id, context, ended_at,
          created_at, updated_at from workflow_runs, generate_series(1, 2100) as i where ${ofWorkflow} returning *)
      insert into workflow_run_steps (workspace_id, run_id, step, node_id, status, started_at)
      select workspace_id, id, 1, node_id, 'completed', created_at from more`.execute(db),
  );
  expect((await remove()).response.status).toBe(200);
  expect((await server.start(workflowId)).response.status).toBe(404);
  await until(async () => {
    const { rows } = await server.database.inEngine(({ db }) =>
      sql`select (select count(*) from workflow_runs where ${ofWorkflow}) as runs,
        (select count(*) from workflow_run_steps s where not exists (
          select from workflow_runs r where r.id = s.run_id)) as steps`.execute(db),
    );
    expect(rows).toEqual([{ runs: 0, steps: 0 }]);
  });
  expect((await server.start(workflowId, given)).response.status).toBe(404);
});

test.each([
  { runs: 2, steps: 5000, later: false },
  { runs: 2, steps: 5001, later: true },
  { runs: 1000, steps: 1000, later: false },
  { runs: 1001, steps: 1001, later: true },
])('a workflow with $runs runs of $steps steps is deleted with them, or these after it: $later', async (given) => {
  const { database, clock } = server;
  const workflowId = fromId(await server.publish(definitionOf([end()])));
  const { rows: workspaces } = await database.inEngine(({ db }) =>
    sql<{ workspace_id: string }>`select workspace_id from workflows where id = ${workflowId}`.execute(db),
  );
  const workspaceId = workspaces[0]!.workspace_id;
  await database.inEngine(({ db }) =>
    sql`
      with run as (insert into workflow_runs (workspace_id, id, workflow_id, version, workflow_name, status, node_id,
          context, ended_at, created_at, updated_at)
        select ${workspaceId}, gen_random_uuid(), ${workflowId}, 1, 'Test', 'completed', 'done', '{}', now.at, now.at, now.at
        from generate_series(1, ${given.runs}::integer), (select ${clock.now()}::timestamptz as at) as now returning id)
      insert into workflow_run_steps (workspace_id, run_id, step, node_id, status, started_at)
      select ${workspaceId}, id, step, 'done', 'completed', ${clock.now()}
      from run, generate_series(1, ${Math.ceil(given.steps / given.runs)}::integer) as step
      limit ${sql.lit(given.steps)}`.execute(db),
  );
  const queued: unknown[] = [];
  const jobs = { enqueue: async (_: unknown, __: unknown, data: unknown) => void queued.push(data) } as unknown as Jobs;
  const auditEntry = {
    ...{
      keyId: newUuid(),
      memberId: null,
      action: 'workflow.deleted',
      resourceType: 'workflow',
      resourceId: toId('wf', workflowId),
    },
    ...{ address: '127.0.0.1', requestId: 'request' },
  };
  await deleteWorkflow({ database, clock, jobs } as never, workspaceId, workflowId, auditEntry);
  const { rows } = await database.inEngine(({ db }) =>
    sql`
      select (select count(*) from workflow_runs where workflow_id = ${workflowId}) as runs,
        (select count(*) from workflow_run_steps where workspace_id = ${workspaceId}
          and run_id in (select id from workflow_runs where workflow_id = ${workflowId})) as steps`.execute(db),
  );
  const left = { runs: given.later ? given.runs : 0, steps: given.later ? given.steps : 0 };
  expect({ queued, rows }).toEqual({ queued: given.later ? [{ workspaceId, workflowId }] : [], rows: [left] });
});

test('steps that others delete or change meanwhile keep none from going with their run', async () => {
  const { database } = server;
  const run = newUuid();
  const workspaceId = newUuid();
  const ofRun = sql`workspace_id = ${workspaceId} and run_id = ${run}`;
  await database.inEngine(({ db }) =>
    sql`
      insert into workflow_run_steps (workspace_id, run_id, step, node_id, status, started_at)
      select ${workspaceId}, ${run}, i, 'a', 'completed', ${new Date()} from generate_series(1, 5001) as i`.execute(db),
  );
  await meanwhile(
    database,
    async ({ db }) => {
      await sql`delete from workflow_run_steps where ${ofRun} and step = 7`.execute(db);
      await sql`update workflow_run_steps set status = 'failed' where ${ofRun} and step = 8`.execute(db);
    },
    () => deleteRuns(database, workspaceId, [run]),
  );
  const left = await database.inEngine(({ db }) => sql`select from workflow_run_steps where ${ofRun}`.execute(db));
  expect(left.rows).toEqual([]);
});
