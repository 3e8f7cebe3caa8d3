import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newUuid, toId } from '../../../src/foundation/values/ids.ts';
import { keyWith } from '../../platform/api-keys/keys.ts';
import { seedWorkflow } from '../../seed/workflow.ts';
import { until } from '../../until.ts';
import { definitionOf, end, set, wait } from './nodes.ts';
import { type RunServer, type StartGiven, startRunServer } from './run-server.ts';

let server: RunServer;
let sleeping: string;
let draft: string;
let needy: string;

beforeAll(async () => {
  server = await startRunServer();
  sleeping = await server.publish(definitionOf([wait('later', 3600), end()]));
  const definition = definitionOf([end()]);
  draft = toId('wf', await seedWorkflow(server.database, server.workspaceId, definition, { isPublished: false }));
  needy = await server.publish(definitionOf([end()], { requiredContext: ['phone_number', 'name'] }));
});
afterAll(() => server.stop());

const rowsOf = async () => {
  const { rows } = await server.database.inEngine(({ db }) =>
    sql`select (select count(*) from workflow_runs) as runs, (select count(*) from idempotency_keys) as keys,
      (select count(*) from concurrency_keys) as concurrency, (select count(*) from events) as events,
      (select count(*) from audit_log) as audits`.execute(db),
  );
  return rows[0];
};

const activeRuns = async () => {
  const { rows } = await server.database.inEngine(({ db }) =>
    sql`select from workflow_runs where ended_at is null`.execute(db),
  );
  return rows.length;
};

/** Starts, expects a refusal, and that it leaves nothing behind. */
async function refused(workflowId: string, given: StartGiven, status: number, error: object) {
  const before = await rowsOf();
  const answer = await server.start(workflowId, given);
  expect(answer.response.status).toBe(status);
  expect(answer.error).toMatchObject(error);
  expect(await rowsOf()).toEqual(before);
  return answer;
}

describe('a start that is refused says why, and leaves nothing behind', () => {
  test.each<[string, () => string, StartGiven, number, object]>([
    ['an unknown workflow', () => toId('wf', newUuid()), {}, 404, { code: 'not_found' }],
    ['a draft', () => draft, {}, 400, { code: 'workflow_not_published' }],
    [
      'a context that lacks what is required',
      () => needy,
      { context: { name: 'Ada' } },
      400,
      { code: 'invalid_request', details: [{ path: '/body/context/phone_number' }] },
    ],
    [
      'a context over 256 KiB',
      () => sleeping,
      { context: { a: 'x'.repeat(262_144) } },
      400,
      { code: 'invalid_request', details: [{ path: '/body/context', message: 'is larger than 256 KiB.' }] },
    ],
    ['a context of 1 MiB', () => sleeping, { context: { a: 'x'.repeat(1_048_576) } }, 400, { code: 'invalid_request' }],
    [
      'a cooldown without a key',
      () => sleeping,
      { cooldownMinutes: '5' },
      400,
      { code: 'invalid_request', details: [{ path: '/headers/Cooldown-Minutes' }] },
    ],
    ...['1e2', '0x10', '-0', '-1', '1.5', ' ', '99999'].map(
      (cooldownMinutes): [string, () => string, StartGiven, number, object] => [
        `a cooldown of "${cooldownMinutes}"`,
        () => sleeping,
        { concurrencyKey: 'k', cooldownMinutes },
        400,
        { code: 'invalid_request' },
      ],
    ),
    ['an idempotency key of 256 characters', () => sleeping, { idempotencyKey: 'x'.repeat(256) }, 400, {}],
    ['a concurrency key that is no ASCII', () => sleeping, { concurrencyKey: 'ä' }, 400, {}],
  ])('%s', async (_name, workflow, given, status, error) => {
    await refused(workflow(), given, status, error);
  });

  test('no idempotency key', async () => {
    const params = { path: { workflowId: sleeping }, header: {} as { 'Idempotency-Key': string } };
    const { error } = await server.client.POST('/v1/workflows/{workflowId}/run', { params, body: {} });
    expect(error).toMatchObject({ code: 'missing_idempotency_key' });
  });

  test("another workspace's workflow", async () => {
    const key = await keyWith(server, { permissions: ['*'], workspace: 'Other' });
    const params = { path: { workflowId: sleeping }, header: { 'Idempotency-Key': 'a' } };
    const answer = await server.clientOf(key).POST('/v1/workflows/{workflowId}/run', { params, body: {} });
    expect(answer.response.status).toBe(404);
  });
});

test('equal starts answer the same run, as it is now; another start with that key is refused', async () => {
  const given = { idempotencyKey: 'appointment-1', concurrencyKey: 'a', cooldownMinutes: '0', context: { a: 1 } };
  const first = await server.start(sleeping, given);
  expect(first.response.status).toBe(202);
  expect(first.response.headers.get('Idempotent-Replayed')).toBeNull();
  const run = first.data!.data;
  await server.comesTo(run, 'waiting_schedule');
  const again = await server.start(sleeping, given);
  expect(again.response.headers.get('Idempotent-Replayed')).toBe('true');
  expect(again.data!.data).toMatchObject({ id: run.id, status: 'waiting_schedule' });
  const reused = { code: 'idempotency_key_reused' };
  await refused(sleeping, { ...given, context: { a: 2 } }, 409, reused);
  await refused(sleeping, { ...given, concurrencyKey: 'b' }, 409, reused);
  await refused(sleeping, { ...given, cooldownMinutes: '1' }, 409, reused);
  await refused(needy, given, 409, reused);
  await refused(toId('wf', newUuid()), given, 409, reused);
});

test('a refused start does not use its idempotency key up', async () => {
  const idempotencyKey = 'appointment-2';
  await refused(draft, { idempotencyKey }, 400, {});
  await refused(needy, { idempotencyKey }, 400, {});
  const { response, data } = await server.start(sleeping, { idempotencyKey });
  expect(response.status).toBe(202);
  await server.comesTo(data!.data, 'waiting_schedule');
});

test('a start sees what has become of its workflow since the last one', async () => {
  const path = { workflowId: await server.publish(definitionOf([end()])) };
  const first = await server.begin(path.workflowId, { idempotencyKey: 'seen-1' });
  await server.comesTo(first, 'completed');
  await server.client.PUT('/v1/workflows/{workflowId}', {
    params: { path },
    body: definitionOf([set('a', {}), end()]),
  });
  await server.client.POST('/v1/workflows/{workflowId}/publish', { params: { path } });
  const second = await server.begin(path.workflowId);
  expect([first.version, second.version]).toEqual([1, 2]);
  const both = await Promise.all([
    server.start(path.workflowId, { idempotencyKey: 'seen-1' }),
    server.start(path.workflowId, { idempotencyKey: 'seen-2' }),
  ]);
  expect(both.map(({ response }) => response.headers.get('Idempotent-Replayed'))).toEqual(['true', null]);
  expect(both[0].data!.data.id).toBe(first.id);
  await Promise.all([second, both[1].data!.data].map((run) => server.comesTo(run, 'completed')));
  await server.client.DELETE('/v1/workflows/{workflowId}', { params: { path } });
  await refused(path.workflowId, {}, 404, { code: 'not_found' });
});

test('runs with one concurrency key never overlap, and stand apart by their cooldown', async () => {
  const concurrencyKey = 'patient-1';
  const quick = await server.publish(definitionOf([set('mark', { a: 1 }), end()]));
  const held = await server.begin(sleeping, { concurrencyKey });
  await server.comesTo(held, 'waiting_schedule');
  const { error } = await refused(quick, { concurrencyKey }, 409, { code: 'concurrency_conflict' });
  expect(error).toMatchObject({
    error: `The run ${held.id} of the workflow ${held.automationId} holds this Concurrency-Key.`,
  });
  const params = { path: { workflowId: sleeping, runId: held.id } };
  await server.client.POST('/v1/workflows/{workflowId}/runs/{runId}/cancel', { params });
  const cooling = await refused(quick, { concurrencyKey, cooldownMinutes: '60' }, 409, { code: 'cooldown_active' });
  const seconds = Number(cooling.response.headers.get('Retry-After'));
  expect(seconds).toBeGreaterThan(3500);
  expect(seconds).toBeLessThanOrEqual(3600);
  expect(cooling.response.headers.get('x-should-retry')).toBe('false');
  server.clock.advance(3_600_000);
  // Runs of other tests that slept until then have their events too.
  await until(async () => (await activeRuns()) === 0);
  await server.comesTo(await server.begin(quick, { concurrencyKey, cooldownMinutes: '60' }), 'completed');
  await refused(quick, { concurrencyKey, cooldownMinutes: '1' }, 409, { code: 'cooldown_active' });
  await server.comesTo(await server.begin(quick, { concurrencyKey }), 'completed');
  await server.comesTo(await server.begin(quick, { concurrencyKey, cooldownMinutes: '0' }), 'completed');
});

test('200 starts at once with one concurrency key: one run, 199 conflicts that name it', async () => {
  const answers = await Promise.all(
    Array.from({ length: 200 }, () => server.start(sleeping, { concurrencyKey: 'race-1' })),
  );
  const [winner, ...others] = answers.filter(({ data }) => data);
  expect(others).toEqual([]);
  const losers = answers.filter(({ error }) => error);
  expect(losers).toHaveLength(199);
  const { id: holder, automationId } = winner!.data!.data;
  const message = `The run ${holder} of the workflow ${automationId} holds this Concurrency-Key.`;
  for (const { response, error } of losers) {
    expect(response.status).toBe(409);
    expect(error).toMatchObject({ code: 'concurrency_conflict', error: message });
  }
});

test('200 starts at once with one idempotency key: one run', async () => {
  const answers = await Promise.all(
    Array.from({ length: 200 }, () => server.start(sleeping, { idempotencyKey: 'race-2', context: { a: 1 } })),
  );
  expect(new Set(answers.map(({ response }) => response.status))).toEqual(new Set([202]));
  expect(new Set(answers.map(({ data }) => data!.data.id)).size).toBe(1);
  expect(answers.filter(({ response }) => response.headers.get('Idempotent-Replayed') === null)).toHaveLength(1);
});

test('starts race for one concurrency key over two servers', async () => {
  const { connectionString, apiKey } = server;
  const second = await startRunServer({ connectionString, apiKey });
  // The first server's clock is ahead: it would wake what the second puts to sleep.
  second.clock.advance(server.clock.now().getTime() - second.clock.now().getTime());
  const starts = Array.from({ length: 200 }, (_, i) =>
    [server, second][i % 2]!.start(sleeping, { concurrencyKey: 'race-3', idempotencyKey: `race-3-${i >> 2}` }),
  );
  const answers = await Promise.all(starts);
  await second.stop();
  const ids = new Set(answers.flatMap(({ data }) => data?.data.id ?? []));
  expect(ids.size).toBe(1);
  const codes = new Set(answers.flatMap(({ error }) => (error as { code: string } | undefined)?.code ?? []));
  expect(codes).toEqual(new Set(['concurrency_conflict']));
});

/** A promise that somebody else fulfils. */
function gate() {
  let open = () => {};
  const passed = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { passed, open: () => open() };
}

test('a start that waits for an equal one for too long is told to come back', async () => {
  const [held, taken] = [gate(), gate()];
  const holding = server.database.inWorkspace(server.workspaceId, async ({ db, workspaceId }) => {
    await sql`set local idle_in_transaction_session_timeout = 0`.execute(db);
    await sql`
      insert into idempotency_keys (workspace_id, operation, key, fingerprint, created_at)
      values (${workspaceId}, 'startWorkflowRun', 'slow', '\\x00', ${new Date()})`.execute(db);
    taken.open();
    await held.passed;
    throw new Error('given up');
  });
  await taken.passed;
  const { error, response } = await server.start(sleeping, { idempotencyKey: 'slow' });
  expect(error).toMatchObject({ code: 'idempotency_in_progress' });
  expect(response.headers.get('x-should-retry')).toBe('true');
  held.open();
  await expect(holding).rejects.toThrow('given up');
  expect((await server.start(sleeping, { idempotencyKey: 'slow' })).response.status).toBe(202);
});

test('runs are listed by key and status, newest first', async () => {
  const workflowId = await server.publish(definitionOf([wait('later', 3600), end()]));
  const runs = [];
  for (const concurrencyKey of ['list-1', 'list-2', 'other%']) {
    runs.push(await server.begin(workflowId, { concurrencyKey }));
  }
  for (const run of runs) await server.comesTo(run, 'waiting_schedule');
  const list = async (query: object) => {
    const params = { path: { workflowId }, query: { includeTotal: true, ...query } };
    const { data } = await server.client.GET('/v1/workflows/{workflowId}/runs', { params });
    return data!.data;
  };
  const all = await list({});
  expect(all.items.map(({ id }) => id)).toEqual(runs.map(({ id }) => id).reverse());
  expect(all.items[0]).toMatchObject({ currentNodeTitle: 'later' });
  expect(all.items[0]).not.toHaveProperty('steps');
  expect((await list({ concurrencyKey: 'list-1' })).items.map(({ id }) => id)).toEqual([runs[0]!.id]);
  expect((await list({ searchText: 'LIST-' })).totalCount).toBe(2);
  expect((await list({ searchText: '%' })).totalCount).toBe(1);
  expect((await list({ status: 'completed' })).totalCount).toBe(0);
  expect((await list({ status: ['completed', 'waiting_schedule', 'queued', 'running'] })).totalCount).toBe(3);
  expect((await list({ perPage: 1, page: 2, order: 'asc' })).items.map(({ id }) => id)).toEqual([runs[1]!.id]);
  const params = { path: { workflowId: toId('wf', newUuid()) } };
  expect((await server.client.GET('/v1/workflows/{workflowId}/runs', { params })).response.status).toBe(404);
});

test('a run is listed, read, followed and cancelled by its ID alone', async () => {
  const run = await server.begin(sleeping, { idempotencyKey: 'by-id', concurrencyKey: 'by-id' });
  await server.comesTo(run, 'waiting_schedule');
  const { client } = server;
  const query = { concurrencyKey: 'by-id', status: ['waiting_schedule' as const, 'running' as const] };
  const listed = (await client.GET('/v1/workflow-runs', { params: { query } })).data!.data;
  expect(listed.items).toMatchObject([{ id: run.id, currentNodeTitle: 'later' }]);
  const params = { path: { runId: run.id } };
  const read = (await client.GET('/v1/workflow-runs/{runId}', { params })).data!.data;
  expect(read).toMatchObject({ id: run.id, steps: [{ nodeId: 'later' }] });
  const again = await server.start(sleeping, { idempotencyKey: 'by-id', concurrencyKey: 'by-id' });
  expect(again.data!.data).toMatchObject({ id: run.id, currentNodeId: 'later', currentNodeTitle: 'later' });

  const cancelled = await client.POST('/v1/workflow-runs/{runId}/cancel', { params });
  expect(cancelled.data!.data).toMatchObject({ id: run.id, status: 'cancelled' });
  const twice = await client.POST('/v1/workflow-runs/{runId}/cancel', { params });
  expect([twice.response.status, twice.error!.code]).toEqual([409, 'run_not_active']);
  const follow = (headers: Record<string, string>) =>
    fetch(`${server.url}/v1/workflow-runs/${run.id}/events`, { headers: { 'X-API-Key': server.apiKey, ...headers } });
  const text = await (await follow({})).text();
  expect(text).toContain('event: workflow_run.cancelled');
  const lastEventId = String(cancelled.data!.data.revision);
  expect((await follow({ 'Last-Event-ID': lastEventId })).status).toBe(204);
});

test.each(['12345678901234567890', '0.1234567890123456789', '1e400', '-9007199254740993'])(
  'a context with %s, which JSON would change, is refused',
  async (number) => {
    const headers = { 'X-API-Key': server.apiKey, 'Content-Type': 'application/json', 'Idempotency-Key': number };
    const body = `{"context":{"order":[${number}]}}`;
    const response = await fetch(`${server.url}/v1/workflows/${sleeping}/run`, { method: 'POST', headers, body });
    expect(response.status).toBe(400);
    const message = `must hold no number that JSON can't carry exactly, such as ${number}: send it as text`;
    expect(await response.json()).toMatchObject({ code: 'invalid_request', details: [{ path: '/body', message }] });
  },
);
