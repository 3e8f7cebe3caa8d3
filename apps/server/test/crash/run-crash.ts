import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { components } from '@trunkline/client/schema';
import { type RawBuilder, sql } from 'kysely';
import { pino } from 'pino';
import { expect } from 'vitest';
import { runTransitions } from '../../src/dialing/workflows/runs/run.ts';
import { openDatabase } from '../../src/foundation/database/database.ts';
import {
  removeEmbeddedPostgres,
  startEmbeddedPostgres,
  stopEmbeddedPostgres,
} from '../../src/foundation/database/postgres/embedded.ts';
import { toId } from '../../src/foundation/values/ids.ts';
import { newKey } from '../../src/platform/api-keys/key.ts';
import { chances } from '../chances.ts';
import { definitionOf, end, set, wait } from '../dialing/workflows/nodes.ts';
import { seedWorkflow } from '../seed/workflow.ts';
import { seedNumber } from '../seed/workspace.ts';
import { type ServerProcess, startServerProcess } from '../server-process.ts';
import { until } from '../until.ts';

type WorkflowRun = components['schemas']['WorkflowRun'];

const LEASE_SECONDS = 2;
const FROM = '+12125550199';
const log = pino({ level: 'silent' });

export interface RunCrash {
  runs: number;
  seed: number;
  /** Most seconds between the start of some runs and the kill of a server. */
  killEvery: number;
  kills: number;
  /** After which kills PostgreSQL is restarted. */
  restartsAfter: number[];
  /** Seconds that the rest may take. */
  patience: number;
}

/** A web server that keeps every request, and fails now and then. */
async function startWeb(chance: () => number) {
  const asked: { key: string; run: string }[] = [];
  const web = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.on('end', () => {
      asked.push({ key: String(request.headers['idempotency-key']), run: JSON.parse(body).person });
      response.writeHead(chance() < 0.1 ? 503 : 200, { 'Content-Type': 'application/json' }).end('{"known":true}');
    });
  });
  await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
  return { asked, url: `http://127.0.0.1:${(web.address() as AddressInfo).port}`, close: () => web.close() };
}

/** Every kind of node: what a run of it does can be counted outside. */
const definition = (url: string, childId: string) =>
  definitionOf([
    {
      id: 'look',
      type: 'http',
      title: 'Look up',
      method: 'POST',
      url,
      body: { person: '{{person}}' },
      retries: 10,
      saveAs: 'crm',
      next: 'ring',
    },
    {
      id: 'ring',
      type: 'call',
      title: 'Ring',
      agentId: 'agent',
      fromNumber: FROM,
      to: '{{phone_number}}',
      next: 'later',
    },
    wait('later', 2, 'child'),
    {
      id: 'child',
      type: 'workflow',
      title: 'Child',
      workflowId: toId('wf', childId),
      context: { person: '{{person}}' },
      saveAs: 'below',
      next: 'choose',
    },
    {
      id: 'choose',
      type: 'branch',
      title: 'Known?',
      cases: [{ when: { left: '{{crm.body.known}}', operator: 'equals', right: true }, next: 'done' }],
      next: 'wrong',
    },
    end('done', { output: { person: '{{person}}', below: '{{below.output.person}}', outcome: '{{call.outcome}}' } }),
    end('wrong', { status: 'failed' }),
  ]);

const childDefinition = definitionOf([
  set('one', { a: 1 }, 'two'),
  wait('two', 1, 'three'),
  set('three', { b: 2 }, 'out'),
  end('out', { output: { person: '{{person}}' } }),
]);

const WAY = ['look', 'ring', 'later', 'child', 'choose', 'done'];

/** Starts one run, again and again with the same key until some server has answered. */
async function startRun(servers: () => ServerProcess[], key: string, workflowId: string, person: number) {
  for (let tries = 0; ; tries += 1) {
    const alive = servers();
    const { url } = alive[(person + tries) % alive.length]!;
    const answer = await fetch(`${url}/v1/workflows/${workflowId}/run`, {
      method: 'POST',
      headers: {
        'X-API-Key': key,
        'Content-Type': 'application/json',
        'Idempotency-Key': `start-${person}`,
        'Concurrency-Key': `person-${person}`,
      },
      body: JSON.stringify({ context: { person, phone_number: `+1415${String(2_000_000 + person)}` } }),
    }).catch(() => undefined);
    if (answer?.status === 202) return ((await answer.json()) as { data: WorkflowRun }).data;
    if (answer && answer.status < 500 && answer.status !== 409) throw new Error(await answer.text());
    if (tries > 200) throw new Error(`No server starts a run: ${answer && (await answer.text())}`);
    await sleep(100 + 50 * Math.random());
  }
}

/** Runs over three servers that are killed by turns, while PostgreSQL is restarted; then checks what came of them. */
export async function crashRuns(options: RunCrash): Promise<void> {
  const chance = chances(options.seed);
  const dataDir = path.join(tmpdir(), `trunkline-test-${process.pid}-${randomBytes(4).toString('hex')}`);
  const home = await mkdtemp(path.join(tmpdir(), 'trunkline-test-home-'));
  const { connection } = await startEmbeddedPostgres({ dataDir, log });
  const web = await startWeb(chance);
  const key = newKey('test');
  const environment = {
    DATABASE_URL: connection.connectionString,
    DATA_DIR: home,
    BOOTSTRAP_API_KEY: key,
    LEASE_SECONDS: String(LEASE_SECONDS),
    SIMULATOR_SPEED: '40',
    OUTBOUND_ALLOWED_ADDRESSES: '127.0.0.1',
    LOG_LEVEL: 'fatal',
  };
  let servers: ServerProcess[] = [await startServerProcess(environment)];
  const database = openDatabase({ connection, poolSize: 3, log });
  try {
    servers.push(...(await Promise.all([startServerProcess(environment), startServerProcess(environment)])));
    const workspaces = await database.inEngine(({ db }) => db.selectFrom('workspaces').select('id').execute());
    const workspaceId = workspaces[0]!.id;
    await seedNumber(database, workspaceId, FROM);
    const childId = await seedWorkflow(database, workspaceId, childDefinition);
    const workflowId = await seedWorkflow(database, workspaceId, definition(web.url, childId));
    const waves: Promise<string[]>[] = [];
    for (let kill = 1; kill <= options.kills; kill += 1) {
      waves.push(startWave(() => servers, key, toId('wf', workflowId), waveOf(options, kill)));
      await sleep(options.killEvery * 1000 * (0.2 + 0.8 * chance()));
      const victim = servers[kill % 3]!;
      await victim.kill();
      if (options.restartsAfter.includes(kill)) {
        await stopEmbeddedPostgres(dataDir);
        await startEmbeddedPostgres({ dataDir, log });
      }
      const next = await startServerProcess(environment);
      servers = servers.map((server) => (server === victim ? next : server));
    }
    const ids = (await Promise.all(waves)).flat();
    expect(new Set(ids).size).toBe(options.runs);
    const read: Read = (query) => database.inEngine(async ({ db }) => (await query.execute(db)).rows);
    await untilOver(read, workflowId, options);
    await expectRightRuns(read, workflowId, childId, options.runs);
    expectRightRequests(web.asked, options.runs);
  } finally {
    await Promise.all(servers.map((server) => server.kill()));
    web.close();
    await database.close();
    await removeEmbeddedPostgres(dataDir);
    await rm(dataDir, { recursive: true, force: true });
    await rm(home, { recursive: true, force: true });
  }
}

/** The persons whose runs are started before a kill. */
const waveOf = ({ runs, kills }: RunCrash, kill: number): number[] => {
  const bound = (n: number) => Math.round((runs * n) / kills);
  return Array.from({ length: bound(kill) - bound(kill - 1) }, (_, at) => bound(kill - 1) + at);
};

/** Starts runs, also while their server is killed; answers their IDs. */
async function startWave(servers: () => ServerProcess[], key: string, workflowId: string, persons: number[]) {
  const ids: string[] = [];
  const worker = async () => {
    for (let person = persons.pop(); person !== undefined; person = persons.pop()) {
      ids.push((await startRun(servers, key, workflowId, person)).id);
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));
  return ids;
}

/** Asks the database for what all workspaces and the simulator have. */
type Read = <T>(query: RawBuilder<T>) => Promise<T[]>;

const untilOver = (read: Read, workflowId: string, { runs, patience }: RunCrash) =>
  until(async () => {
    const counts = await read(
      sql`select status, error ->> 'code' as code, count(*) as count from workflow_runs
        where workflow_id = ${workflowId} group by 1, 2`,
    );
    expect(counts).toContainEqual({ status: 'completed', code: null, count: runs });
  }, patience);

interface EndedRow {
  id: string;
  output: { person: number; below: number; outcome: string };
  step_nodes: string[];
  step_numbers: number[];
  step_statuses: string[];
  statuses: string[];
  revisions: number[];
  revision: number;
  placed: number;
}

/** Every run has gone its way once: each step, each call, each change of state. */
async function expectRightRuns(read: Read, workflowId: string, childId: string, runs: number): Promise<void> {
  const rows = await read(
    sql<EndedRow>`
      select r.id, r.output, r.revision,
        array(select node_id from workflow_run_steps s where s.run_id = r.id order by step) as step_nodes,
        array(select step from workflow_run_steps s where s.run_id = r.id order by step) as step_numbers,
        array(select status from workflow_run_steps s where s.run_id = r.id order by step) as step_statuses,
        array(select type from events e where e.resource_id = r.id order by revision) as statuses,
        array(select revision from events e where e.resource_id = r.id order by revision) as revisions,
        (select count(*) from simulator_calls p join calls c on c.id = p.room_id
          where c.owner_id = r.id) as placed
      from workflow_runs r where r.workflow_id = ${workflowId} order by r.id`,
  );
  expect(rows).toHaveLength(runs);
  expect(new Set(rows.map(({ output }) => output.person)).size).toBe(runs);
  for (const row of rows) {
    expect(row.output.below).toBe(row.output.person);
    expect(row.step_nodes).toEqual(WAY);
    expect(row.step_numbers).toEqual(WAY.map((_, at) => at + 1));
    expect(new Set(row.step_statuses)).toEqual(new Set(['completed']));
    expect(row.placed).toBe(1);
    expectRightEvents(row);
  }
  const faults = await read(
    sql`
      select 'placed twice: ' || room_id as fault from simulator_calls where placements > 1
      union all select 'a key is held: ' || key from concurrency_keys where active_run is not null
      union all select 'a child that was not asked for: ' || c.id from workflow_runs c
        where c.workflow_id = ${childId} and not exists (select from workflow_run_steps s where s.child_run_id = c.id)
      union all select 'a child that is not over: ' || id from workflow_runs where status <> 'completed'
      union all select 'a signal is left: ' || run_id from run_signals`,
  );
  expect(faults).toEqual([]);
  const children = await read(sql`select count(*) as count from workflow_runs where workflow_id = ${childId}`);
  expect(children).toEqual([{ count: runs }]);
}

function expectRightEvents({ statuses, revisions, revision }: EndedRow): void {
  const states = statuses.map((type) => type.replace('workflow_run.', '') as keyof typeof runTransitions);
  for (const [at, state] of states.slice(1).entries()) {
    expect(runTransitions[states[at]!]).toContain(state);
  }
  expect(states[0]).toBe('queued');
  expect(revisions.toSorted((a, b) => a - b)).toEqual(revisions);
  expect(new Set(revisions).size).toBe(revisions.length);
  expect(revisions.at(-1)).toBe(revision);
}

/** However often a request was sent, it bore the one key of its run and step. */
function expectRightRequests(asked: { key: string; run: string }[], runs: number): void {
  const keys = new Map<string, Set<string>>();
  for (const { key, run } of asked) keys.set(run, (keys.get(run) ?? new Set()).add(key));
  expect(keys.size).toBe(runs);
  for (const used of keys.values()) expect(used.size).toBe(1);
}
