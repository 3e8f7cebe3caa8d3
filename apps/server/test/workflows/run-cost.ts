import { sql } from 'kysely';
import { expect } from 'vitest';
import type { Database, EngineTx } from '../../src/database/database.ts';
import { newUuid } from '../../src/ids.ts';
import { after, end, goOn } from '../../src/workflows/runs/change-run.ts';
import { claimRuns, releaseRuns } from '../../src/workflows/runs/claim-runs.ts';
import { writeChanges } from '../../src/workflows/runs/write-changes.ts';
import { readBy } from '../dialing/claim-cost.ts';
import { seedRows } from '../seed/rows.ts';
import { seedWorkspace } from '../seed/workspace.ts';

const TURN = 100;
/** The trees of many rows are a page or two higher, for each row that is looked up in them. */
const TREES_MORE = 1.5;

/** Sleeping runs of a workflow, each with a key, a step and a signal, by one transaction; no statistics are taken. */
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
    await sql`insert into run_signals select workspace_id, id, id, '{}', '2100-01-01' ${those}`.execute(db);
  });
}

/** The pages that it takes to claim a hundred runs with a key, to commit a step of each, to let go of them, and to end them. */
async function turnPages(database: Database, workspaceId: string) {
  const now = new Date();
  const due = { workspace_id: workspaceId, workflow_id: newUuid(), due_at: new Date(0) };
  const keys = Array.from({ length: TURN }, () => ({ ...due, concurrency_key: newUuid() }));
  const seeded = await seedRows(database, 'workflow_runs', keys);
  await seedRows(
    database,
    'concurrency_keys',
    seeded.map(({ id, concurrency_key }) => ({ workspace_id: workspaceId, key: concurrency_key!, active_run: id })),
  );
  const pages = async (act: (tx: EngineTx) => Promise<unknown>) =>
    (await readBy(database, (counting) => counting.inHotLoop(act))).pages;
  let claimed: Awaited<ReturnType<typeof claimRuns>> = [];
  const claim = await pages(async (tx) => {
    claimed = await claimRuns(tx, newUuid(), TURN, now);
  });
  expect(claimed).toHaveLength(TURN);
  const steps = claimed.map(({ run }) => goOn(run, 'next', now));
  const step = await pages((tx) => writeChanges(tx, steps));
  const held = steps.map((change) => ({ run: after(change), dueAt: null }));
  const release = await pages((tx) => releaseRuns(tx, held));
  const ends = held.map(({ run }) => end({ ...run, server_id: null }, 'completed', { output: null, error: null }, now));
  return { claim, step, release, end: await pages((tx) => writeChanges(tx, ends)) };
}

/** Expects that a turn reads as much beside many runs as beside few, by plans from when there was nothing. */
export async function expectEqualTurns(database: Database, few: number, many: number): Promise<void> {
  const workspaceId = await seedWorkspace(database);
  for (let turn = 0; turn < 7; turn += 1) await turnPages(database, workspaceId);
  await seedMany(database, workspaceId, few);
  const usual = await turnPages(database, workspaceId);
  await seedMany(database, workspaceId, many);
  const most = await turnPages(database, workspaceId);
  console.log(few, usual, many, most);
  for (const [act, pages] of Object.entries(most)) {
    expect(pages, act).toBeLessThanOrEqual(TREES_MORE * usual[act as keyof typeof usual]);
  }
}
