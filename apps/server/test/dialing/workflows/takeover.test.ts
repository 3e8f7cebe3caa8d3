import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sql } from 'kysely';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { HttpNode } from '../../../src/dialing/workflows/definitions/definition.ts';
import type { HeldRun } from '../../../src/dialing/workflows/runs/advance-run.ts';
import { fail } from '../../../src/dialing/workflows/runs/change-run.ts';
import { createFlows } from '../../../src/dialing/workflows/runs/flows.ts';
import type { RunRow } from '../../../src/dialing/workflows/runs/run.ts';
import { RunHolder } from '../../../src/dialing/workflows/runs/run-holder.ts';
import { createRunStarter } from '../../../src/dialing/workflows/runs/run-starter.ts';
import { freeForgottenRuns, freeLostRuns } from '../../../src/dialing/workflows/runs/take-over-runs.ts';
import { writeChanges } from '../../../src/dialing/workflows/runs/write-changes.ts';
import type { OutboundAnswer } from '../../../src/foundation/outbound-http/guarded-request.ts';
import { systemClock } from '../../../src/foundation/values/clock.ts';
import { fromId, newUuid } from '../../../src/foundation/values/ids.ts';
import { byTest } from '../../by-test.ts';
import { withDatabase } from '../../foundation/database/own-database.ts';
import { seedRow } from '../../seed/rows.ts';
import { seedWorkflow } from '../../seed/workflow.ts';
import { seedWorkspace } from '../../seed/workspace.ts';
import { until } from '../../until.ts';
import { definitionOf, end, set, wait } from './nodes.ts';
import { type RunServer, startRunServer, type WorkflowRun } from './run-server.ts';
import { startTestEngine, type TestEngine } from './test-run-engine.ts';

let server: RunServer;
let web: Server;
let url: string;
/** The keys of the requests that came; each is answered when a test says so. */
let asked: { key: string; answer: () => void }[] = [];

beforeAll(async () => {
  server = await startRunServer({ config: { leaseSeconds: 1 } });
  web = createServer((request, response) => {
    const answer = () => {
      if (!response.writableEnded) response.end('{}');
    };
    asked.push({ key: String(request.headers['idempotency-key']), answer });
  });
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await server.stop();
  web.closeAllConnections();
  web.close();
});
afterEach(() => {
  for (const { answer } of asked) answer();
  asked = [];
});

const http = (retries: number): HttpNode => ({
  id: 'tell',
  type: 'http',
  title: 'Tell',
  method: 'POST',
  url,
  retries,
  timeoutSeconds: 60,
  next: 'done',
});

/** What a lost server leaves: its name on the run, and nobody behind it. */
const giveTo = ({ id }: WorkflowRun, serverId = newUuid()) =>
  server.database.inEngine(({ db }) =>
    sql`update workflow_runs set server_id = ${serverId}, due_at = null where id = ${fromId(id)}`.execute(db),
  );

test('a run that a lost server held goes on here', async () => {
  const run = await server.begin(await server.publish(definitionOf([wait('later', 3600), end()])));
  await server.comesTo(run, 'waiting_schedule');
  await giveTo(run);
  server.clock.advance(3_600_000);
  await server.comesTo(run, 'completed');
});

test('a run is left to its server while a second of its lease is left', () =>
  withDatabase(async (database) => {
    const workspace_id = await seedWorkspace(database);
    for (;;) {
      const began = performance.now();
      const { id: server_id } = await seedRow(database, 'servers', { lease_until: new Date(Date.now() + 1000) });
      const { id } = await seedRow(database, 'workflow_runs', { workspace_id, server_id });
      await database.inEngine((tx) => freeLostRuns(tx, new Date()));
      const [run] = await database.inEngine(({ db }) =>
        db.selectFrom('workflow_runs').select('server_id').where('id', '=', id).execute(),
      );
      // A look that took so long says nothing.
      if (performance.now() - began > 900) continue;
      expect(run).toEqual({ server_id });
      return;
    }
  }));

test('what a server makes of a run that another one has by now is not written', () =>
  withDatabase(async (database) => {
    const workspace_id = await seedWorkspace(database);
    const server_id = newUuid();
    await seedRow(database, 'workflow_runs', { workspace_id, status: 'running', server_id });
    const [before] = await database.inEngine(({ db }) => db.selectFrom('workflow_runs').selectAll().execute());
    const change = fail(before!, { code: 'internal', message: 'It failed.' }, new Date());
    const write = () => database.inEngine((tx) => writeChanges(tx, [change]));
    const giveAllTo = (id: string) =>
      database.inEngine(({ db }) => db.updateTable('workflow_runs').set({ server_id: id }).execute());
    await giveAllTo(newUuid());
    expect(await write()).toEqual([]);
    await giveAllTo(server_id);
    expect(await write()).toEqual([change]);
  }));

test('a run that only the database holds in the name of this server goes on', async () => {
  const run = await server.begin(await server.publish(definitionOf([wait('later', 3600), end()])));
  await server.comesTo(run, 'waiting_schedule');
  const { rows } = await server.database.inEngine(({ db }) => sql<{ id: string }>`select id from servers`.execute(db));
  await giveTo(run, rows[0]!.id);
  server.clock.advance(3_600_000);
  await server.comesTo(run, 'completed');
});

test('a run that is just being claimed at two looks, each time anew, is not taken from its server', () =>
  withDatabase(async (database) => {
    const workspaceId = await seedWorkspace(database);
    const [serverId, now] = [newUuid(), new Date()];
    const row = { workspace_id: workspaceId, status: 'running', server_id: serverId } as const;
    const { id } = await seedRow(database, 'workflow_runs', row);
    let missing: ReadonlyMap<string, string> = new Map();
    const look = () =>
      database.inEngine(async (tx) => {
        ({ missing } = await freeForgottenRuns(tx, { serverId, inMemory: new Set(), missing }, now));
      });
    const set = (server_id: string | null) =>
      database.inEngine(({ db }) => db.updateTable('workflow_runs').set({ server_id }).where('id', '=', id).execute());
    const holder = async () =>
      (await database.inEngine(({ db }) => db.selectFrom('workflow_runs').select('server_id').execute()))[0]!.server_id;
    await look();
    await set(null);
    await set(serverId);
    await look();
    expect(await holder()).toBe(serverId);
    await look();
    expect(await holder()).toBeNull();
  }));

async function begin(
  engine: Pick<TestEngine, 'start'>,
  workspaceId: string,
  workflowId: string,
  idempotencyKey: string,
) {
  const plain = { concurrencyKey: undefined, cooldownMinutes: undefined, context: {} };
  const auditOf = (_action: string, _type: string, id: string) => byTest(id);
  const { run } = await engine.start(workspaceId, { id: newUuid(), workflowId, idempotencyKey, ...plain, auditOf });
  return run;
}

test('who accepts a run moves it on; what a server accepts as it stops is due for any other', () =>
  withDatabase(async (database) => {
    const workspaceId = await seedWorkspace(database);
    const workflowId = await seedWorkflow(database, workspaceId, definitionOf([end()]));
    const noRequest = () => Promise.reject(new Error('Nothing is sent.'));
    const options = { clock: systemClock, fateOf: () => 'answered' as const, send: noRequest };
    const engine = await startTestEngine(database, options);
    expect(await begin(engine, workspaceId, workflowId, 'first')).toMatchObject({
      server_id: expect.any(String),
      due_at: null,
    });
    await engine.settled();
    await engine.stop();
    expect(await begin(engine, workspaceId, workflowId, 'last')).toMatchObject({
      server_id: null,
      due_at: expect.any(Date),
    });
    const next = await startTestEngine(database, options);
    await next.settled();
    await next.stop();
    const { rows } = await database.inEngine(({ db }) =>
      sql`select status, count(*)::int as runs from workflow_runs group by status`.execute(db),
    );
    expect(rows).toEqual([{ status: 'completed', runs: 2 }]);
  }));

test('what a request came to while its server stopped is kept', () =>
  withDatabase(async (database) => {
    const workspaceId = await seedWorkspace(database);
    const definition = definitionOf([{ ...http(0), next: 'mark' }, set('mark', { a: 1 }), end()]);
    const workflowId = await seedWorkflow(database, workspaceId, definition);
    let answer: ((answer: OutboundAnswer) => void) | undefined;
    const send = () =>
      new Promise<OutboundAnswer>((resolve) => {
        answer = resolve;
      });
    const nothing = () => {};
    const carryOutAlone = () => Promise.reject(new Error('No node asks for it.'));
    const deps = { database, clock: systemClock, log: pino({ level: 'silent' }) };
    const holder = new RunHolder({ ...deps, send, carryOutAlone, onWritten: nothing, onRoom: nothing });
    const engine = { serverForNew: () => newUuid(), moveOn: holder.add.bind(holder), nudge: nothing };
    const start = createRunStarter({ ...deps, flows: createFlows(), engine });
    await begin({ start }, workspaceId, workflowId, 'only');
    await until(async () => answer !== undefined);
    const stopped = holder.stop(60_000);
    answer!({ status: 200, headers: {}, body: Buffer.from('{}') });
    await stopped;
    const { rows } = await database.inEngine(({ db }) =>
      sql`select status, node_id, server_id, due_at from workflow_runs`.execute(db),
    );
    expect(rows).toEqual([{ status: 'running', node_id: 'mark', server_id: null, due_at: expect.any(Date) }]);
  }));

test('an instant answer moves its run on, though another of the same turn is still being let go of', () =>
  withDatabase(async (database) => {
    const workspaceId = await seedWorkspace(database);
    const workflowId = await seedWorkflow(database, workspaceId, definitionOf([http(0), wait('wait', 3600), end()]));
    const serverId = newUuid();
    let requests = 0;
    const send = async (): Promise<OutboundAnswer> => {
      requests += 1;
      return { status: 200, headers: {}, body: Buffer.from('{}') };
    };
    const nothing = () => {};
    const carryOutAlone = () => Promise.reject(new Error('No node asks for it.'));
    const deps = { database, clock: systemClock, log: pino({ level: 'silent' }) };
    const holder = new RunHolder({ ...deps, send, carryOutAlone, onWritten: nothing, onRoom: nothing });
    const held: HeldRun[] = [];
    const engine = { serverForNew: () => serverId, moveOn: (runs: HeldRun[]) => held.push(...runs), nudge: nothing };
    const start = createRunStarter({ ...deps, flows: createFlows(), engine });
    await begin({ start }, workspaceId, workflowId, 'asks');
    await until(() => held.length === 1);
    const [asking] = held;
    const later = { status: 'waiting_schedule', wake_at: new Date(Date.now() + 3_600_000) } as const;
    const sleeping = await seedRow(database, 'workflow_runs', {
      ...{ workspace_id: workspaceId, workflow_id: workflowId, server_id: serverId, node_id: 'wait', ...later },
    });
    await database.inEngine(async ({ db }) => {
      await sql`select from workflow_runs where id = ${sleeping.id} for update`.execute(db);
      holder.add([{ run: { ...asking!.run, ...sleeping } as RunRow, flow: asking!.flow }, asking!]);
      await until(async () => {
        const { rows } = await database.inEngine((tx) =>
          sql<{ status: string }>`select status from workflow_runs where id = ${asking!.run.id}`.execute(tx.db),
        );
        return rows[0]!.status === 'completed';
      });
    });
    await holder.stop(60_000);
    expect(requests).toBe(1);
  }));

test('a request that was under way on a lost server is sent again with its key, while a retry is left', async () => {
  const run = await server.begin(await server.publish(definitionOf([http(1), end()])));
  await until(async () => asked.length === 1);
  await giveTo(run);
  await until(async () => asked.length === 2);
  expect(asked.map(({ key }) => key)).toEqual([`${run.id}-1`, `${run.id}-1`]);
  // The answer to the first comes to a server that doesn't hold the run any more.
  asked[0]!.answer();
  expect((await server.read(run)).status).toBe('running');
  asked[1]!.answer();
  const { steps } = await server.comesTo(run, 'completed');
  expect(steps).toMatchObject([
    { nodeId: 'tell', status: 'completed' },
    { nodeId: 'done', status: 'completed' },
  ]);
});

test('without a retry left, such a request fails its step', async () => {
  const run = await server.begin(await server.publish(definitionOf([http(0), end()])));
  await until(async () => asked.length === 1);
  await giveTo(run);
  expect(await server.comesTo(run, 'failed')).toMatchObject({
    error: { code: 'http_failed', message: expect.stringContaining('The server was lost'), nodeId: 'tell' },
  });
  asked[0]!.answer();
  expect(asked).toHaveLength(1);
});

test('an answer that comes after the run was cancelled changes nothing', async () => {
  const run = await server.begin(await server.publish(definitionOf([http(1), end()])));
  await until(async () => asked.length === 1);
  const params = { path: { workflowId: run.automationId, runId: run.id } };
  const { data } = await server.client.POST('/v1/workflows/{workflowId}/runs/{runId}/cancel', { params });
  asked[0]!.answer();
  // Whatever came of it has been written by then.
  await server.carryOut(definitionOf([end()]));
  expect(await server.read(run)).toMatchObject({ status: 'cancelled', revision: data!.data.revision });
});

test('a step that the database refuses fails its run, and no other', async () => {
  await server.database.inEngine(({ db }) =>
    sql`alter table workflow_run_steps add constraint none_so_named check (next_node_id <> 'poison')`.execute(db),
  );
  const to = (node: string) => server.publish(definitionOf([set('mark', { a: 1 }, node), end(node)]));
  const [bad, good] = [await to('poison'), await to('done')];
  const runs = await Promise.all(Array.from({ length: 20 }, (_, i) => server.begin(i % 5 ? good : bad)));
  for (const run of runs) {
    if (run.automationId === good) await server.comesTo(run, 'completed');
    else expect(await server.comesTo(run, 'failed')).toMatchObject({ error: { code: 'internal', nodeId: 'mark' } });
  }
});
