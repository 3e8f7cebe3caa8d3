import { sql } from 'kysely';
import type { EngineTx, Tx } from '../../../foundation/database/database.ts';
import { together } from '../../../foundation/database/together.ts';
import { isFinal, type RunRow } from './run.ts';
import { whereRunIs } from './run-by-key.ts';

/**
 * What the end of runs brings with it, in the transaction that ends them: their concurrency keys come free, and their
 * parents are told. Runs that have not ended are passed over.
 */
export async function endRuns(tx: EngineTx, runs: readonly RunRow[]): Promise<void> {
  const ended = runs.filter((run) => isFinal(run.status));
  if (ended.length === 0) return;
  await together(tx, [() => freeKeys(tx, ended), () => tellParents(tx, ended)]);
}

/** 270 buffers for 100 keys beside those of 10⁴ runs, 850 beside 10⁶; on PostgreSQL 15 550 beside 10³. */
async function freeKeys(tx: EngineTx, runs: readonly RunRow[]): Promise<void> {
  const keyed = runs
    .filter((run) => run.concurrency_key !== null)
    .map(({ workspace_id, concurrency_key, id, ended_at }) => ({ workspace_id, key: concurrency_key!, id, ended_at }))
    .sort((a, b) => (a.key < b.key ? -1 : 1));
  if (keyed.length === 0) return;
  await sql`
    update concurrency_keys k set active_run = null, last_ended_at = x.ended_at
    from json_to_recordset(${JSON.stringify(keyed)}::json)
      as x (workspace_id uuid, key text, id uuid, ended_at timestamptz)
    where k.key = any(${keyed.map(({ key }) => key)}::text[]) and k.workspace_id = x.workspace_id and k.key = x.key
      and k.active_run = x.id`.execute(tx.db);
}

/**
 * Parents that wait for ended runs are told by a row each: their own is never locked from below. 810 buffers for 100 beside
 * 10⁴ runs, 1,120 beside 10⁶.
 */
export async function tellParents(tx: Tx, runs: readonly RunRow[]): Promise<void> {
  const children = runs
    .filter((run) => run.parent_run_id !== null)
    .map(({ workspace_id, id, parent_run_id, status, output, ended_at }) => ({
      workspace_id,
      parent_run_id,
      id,
      ended_at,
      data: { kind: 'child_ended', status, output },
    }));
  if (children.length === 0) return;
  await sql`
    insert into run_signals (workspace_id, run_id, source, data, created_at)
    select x.workspace_id, x.parent_run_id, x.id, x.data, x.ended_at
    from json_to_recordset(${JSON.stringify(children)}::json)
      as x (workspace_id uuid, parent_run_id uuid, id uuid, data jsonb, ended_at timestamptz)
    cross join lateral (
      select t.waits_for from workflow_runs t ${whereRunIs(sql`x.workspace_id`, sql`x.parent_run_id`)}
    ) as parent
    where parent.waits_for = x.id
    on conflict (workspace_id, run_id, source) do nothing`.execute(tx.db);
}

/** Deletes what some runs have waited for and been told: their wait is over. 310 buffers for 100. */
export async function forgetSignals(tx: EngineTx, waited: readonly RunRow[]): Promise<void> {
  if (waited.length === 0) return;
  const rows = waited.map(({ workspace_id, id, waits_for }) => ({ workspace_id, id, waits_for }));
  await sql`
    delete from run_signals s
    using json_to_recordset(${JSON.stringify(rows)}::json) as x (workspace_id uuid, id uuid, waits_for uuid)
    where s.run_id = any(${rows.map(({ id }) => id)}::uuid[]) and s.workspace_id = x.workspace_id and s.run_id = x.id
      and s.source = x.waits_for`.execute(tx.db);
}
