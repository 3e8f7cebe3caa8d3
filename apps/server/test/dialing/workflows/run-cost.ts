import { sql } from 'kysely';
import { expect } from 'vitest';
import type { EndedCall } from '../../../src/dialing/calls/call.ts';
import { after, type Change, end, goOn, waitAs } from '../../../src/dialing/workflows/runs/change-run.ts';
import { claimRuns, releaseRuns } from '../../../src/dialing/workflows/runs/claim-runs.ts';
import type { RunRow } from '../../../src/dialing/workflows/runs/run.ts';
import { runCallOwner } from '../../../src/dialing/workflows/runs/signal-runs.ts';
import { writeChanges } from '../../../src/dialing/workflows/runs/write-changes.ts';
import type { Database } from '../../../src/foundation/database/database.ts';
import { newUuid } from '../../../src/foundation/values/ids.ts';
import { seedRows } from '../../seed/rows.ts';
import { seedWorkspace } from '../../seed/workspace.ts';
import { until } from '../../until.ts';
import { statementCosts } from '../statement-cost.ts';

/** Sleeping runs of a workflow, each with a key and a step, by one transaction; no statistics are taken. */
export async function seedMany(database: Database, workspaceId: string, runs: number): Promise<void> {
  const workflowId = newUuid();
  const those = sql`from workflow_runs where workspace_id = ${workspaceId} and workflow_id = ${workflowId}`;
  await database.inEngine(async ({ db }) => {
    await sql`
      insert into workflow_runs (workspace_id, id, workflow_id, version, workflow_name, status, concurrency_key, node_id,
        context, wake_at, due_at, created_at, updated_at)
      select ${workspaceId}, gen_random_uuid(), ${workflowId}, 1, 'Many', 'waiting_schedule', gen_random_uuid(), 'later',
        '{}', '2100-01-01', '2100-01-01', '2026-03-10', '2026-03-10'
      from generate_series(1, ${runs}::integer)`.execute(db);
    await sql`
      insert into concurrency_keys (workspace_id, key, active_run, cooldown_minutes)
      select workspace_id, concurrency_key, id, 0 ${those}`.execute(db);
    await sql`
      insert into workflow_run_steps (workspace_id, run_id, step, node_id, status, started_at)
      select workspace_id, id, 1, 'later', 'waiting', created_at ${those}`.execute(db);
  });
}

const TURN = 100;
/** A larger index is a level higher, for each row that is looked up in it. */
const LEVEL_MORE = 1.6;

/** The statements of a turn of a hundred runs by what each is for, and the buffers that one may touch, however many runs there are. */
const statements: [name: string, text: RegExp, most: number][] = [
  ['workspaces', /with recursive turn/, 60],
  ['due', /from workflow_runs where due_at <=/, 250],
  // Up to 1,540 where no vacuum has come by the signals that were read before.
  ['told', /with head as/, 2000],
  ['take', /set server_id = \$1, due_at = null/, 3500],
  ['move', /update workflow_runs r set status/, 3000],
  ['steps', /insert into workflow_run_steps/, 1500],
  ['keys', /update concurrency_keys/, 1200],
  ['parents', /parent_run_id uuid/, 1800],
  ['forget', /delete from run_signals s\s+using/, 600],
  ['release', /set server_id = null, due_at = case/, 4000],
  ['signal', /result \? 'data'/, 2500],
];

/** Has a hundred runs with a key claimed, moved on a step, let go of, claimed again and ended, and their parents told and moved on. */
async function turn(database: Database, workspaceId: string): Promise<void> {
  const now = new Date();
  const those = { workspace_id: workspaceId, workflow_id: newUuid() };
  const family = Array.from({ length: TURN }, () => ({ parent: newUuid(), child: newUuid(), key: newUuid() }));
  const waiting = { ...those, status: 'waiting_automation' } as const;
  await seedRows(
    database,
    'workflow_runs',
    family.map(({ parent, child }) => ({ ...waiting, id: parent, waits_for: child })),
  );
  await seedRows(
    database,
    'workflow_runs',
    family.map(({ parent, child, key }) => ({
      ...those,
      id: child,
      parent_run_id: parent,
      concurrency_key: key,
      due_at: new Date(0),
    })),
  );
  await seedRows(
    database,
    'concurrency_keys',
    family.map(({ child, key }) => ({ workspace_id: workspaceId, key, active_run: child })),
  );
  const claim = async (): Promise<RunRow[]> => {
    const claimed = await database.inHotLoop((tx) => claimRuns(tx, newUuid(), TURN, now));
    expect(claimed).toHaveLength(TURN);
    return claimed.map(({ run }) => run);
  };
  const write = async (changes: Change[]): Promise<RunRow[]> => {
    expect(await database.inHotLoop((tx) => writeChanges(tx, changes))).toHaveLength(TURN);
    return changes.map(after);
  };
  const moved = await write((await claim()).map((run) => goOn(run, 'next', now)));
  await database.inHotLoop((tx) =>
    releaseRuns(
      tx,
      moved.map((run) => ({ run, dueAt: now })),
    ),
  );
  await write((await claim()).map((run) => end(run, 'completed', { output: null, error: null }, now)));
  const parents = await write((await claim()).map((run) => goOn(run, 'next', now)));
  const calling = await write(parents.map((run) => waitAs(run, 'waiting_call', { waits_for: newUuid() }, now)));
  const ended = calling.map(({ workspace_id, id, waits_for }) => ({
    ...{ workspaceId: workspace_id, owner: { kind: 'run', id }, roomId: waits_for! },
    ...{ campaignId: null, outcome: 'answered' as const },
  }));
  await database.inHotLoop((tx) => runCallOwner.onCallsEnded(tx, ended as unknown as EndedCall[], now));
  await write((await claim()).map((run) => end(run, 'completed', { output: null, error: null }, now)));
}

/** The most buffers that each statement of a turn touches. */
async function turnCosts(database: Database, workspaceId: string): Promise<Record<string, number>> {
  const costs: Record<string, number> = {};
  const sent = await statementCosts(database, (measured) => turn(measured, workspaceId));
  for (const { text, buffers } of sent) {
    const name = statements.find(([, pattern]) => pattern.test(text))?.[0];
    if (name) costs[name] = Math.max(costs[name] ?? 0, buffers);
  }
  return costs;
}

/** Expects every statement of a turn to touch as many buffers beside many runs as beside few, but for a level of an index. */
export async function expectEqualTurns(database: Database, little: number, much: number): Promise<void> {
  const workspaceId = await seedWorkspace(database);
  await seedMany(database, workspaceId, little);
  const few = await turnCosts(database, workspaceId);
  await seedMany(database, workspaceId, much - little);
  // What was deleted is passed over once no transaction of the whole server can see it; other tests' hold that up. Each try
  // leaves more of it, which would be autovacuum's to clear away.
  await until(async () => {
    await database.pool.query('vacuum workflow_runs, run_signals, concurrency_keys');
    const many = await turnCosts(database, workspaceId);
    for (const [name, , most] of statements) {
      const fits = few[name]! <= most && many[name]! <= Math.min(most, LEVEL_MORE * few[name]! + 50);
      expect(fits, `${name}: ${few[name]} buffers beside few runs, ${many[name]} beside many`).toBe(true);
    }
    return true;
  });
}
