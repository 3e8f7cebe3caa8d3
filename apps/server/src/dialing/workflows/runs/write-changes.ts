import { sql } from 'kysely';
import type { EngineTx } from '../../../foundation/database/database.ts';
import { together } from '../../../foundation/database/together.ts';
import { recordAll } from '../../../platform/journal/record.ts';
import { after, type Change, newStatuses } from './change-run.ts';
import { endRuns, forgetSignals } from './end-runs.ts';
import { whereRunIs } from './run-by-key.ts';
import { runEvent } from './run-event.ts';

/**
 * Commits what some runs came to, as sets: the runs, their steps, and an event for every new status. A run that was
 * cancelled or taken over meanwhile is left as it is. Answers those that were written. The update of 100 runs touches 1,470
 * buffers beside 10⁴ runs, 1,740 beside 10⁶.
 *
 * Each row is found by its key and then named by its ctid. A plain join would be planned while there are few runs to read
 * them all, and that plan would stay in use as they become many.
 */
export async function writeChanges(tx: EngineTx, changes: readonly Change[]): Promise<Change[]> {
  if (changes.length === 0) return [];
  const moves = changes.map((change) => moveOf(change)).sort((a, b) => (a.id < b.id ? -1 : 1));
  const { rows } = await sql<{ id: string }>`
    update workflow_runs r set status = x.status, node_id = x.node_id, step = x.step, tries = x.tries, calls = x.calls,
      waits_for = x.waits_for, context = coalesce(x.context, r.context), output = x.output, error = x.error,
      wake_at = x.wake_at, blocked_since = x.blocked_since, looked_at = x.looked_at, checks = x.checks,
      due_at = x.due_at, server_id = x.server_id, ended_at = x.ended_at, revision = x.revision, updated_at = x.updated_at
    from (
      select x.*, found.ctid
      from json_to_recordset(${JSON.stringify(moves)}::json) as x (workspace_id uuid, id uuid, held_by uuid,
        held_revision bigint, status text, node_id text, step integer, tries smallint, calls integer, waits_for uuid,
        context jsonb, output jsonb, error jsonb, wake_at timestamptz, blocked_since timestamptz,
        looked_at timestamptz, checks smallint, due_at timestamptz, server_id uuid, ended_at timestamptz, revision bigint, updated_at timestamptz)
      cross join lateral (
        select t.ctid from workflow_runs t ${whereRunIs(sql`x.workspace_id`, sql`x.id`)}
      ) as found
    ) as x
    where r.ctid = x.ctid and r.revision = x.held_revision and r.server_id is not distinct from x.held_by
    returning r.id`.execute(tx.db);
  const moved = new Set(rows.map((row) => row.id));
  const written = changes.filter(({ before }) => moved.has(before.id));
  const told = written.filter((change) => change.before.waits_for !== null && after(change).waits_for === null);
  await together(tx, [
    () => writeSteps(tx, written),
    () =>
      recordAll(
        tx,
        written.flatMap((change) => newStatuses(change).map((run) => runEvent(run, change.flow))),
      ),
    () => endRuns(tx, written.map(after)),
    () =>
      forgetSignals(
        tx,
        told.map(({ before }) => before),
      ),
  ]);
  return written;
}

/** A context that stays as it is isn't sent again. */
function moveOf(change: Change) {
  const { before } = change;
  const { workflow_name, parent_run_id, parent_step, created_at, concurrency_key, context, ...run } = after(change);
  return {
    ...run,
    held_by: before.server_id,
    held_revision: before.revision,
    ...(context !== before.context && { context }),
  };
}

/** 750 buffers for 100 steps beside those of 10⁴ runs, 870 beside 10⁶. */
async function writeSteps(tx: EngineTx, changes: readonly Change[]): Promise<void> {
  const steps = changes.flatMap(({ before: { workspace_id, id }, steps, now }) =>
    steps.map((step) => ({
      workspace_id,
      run_id: id,
      ...step,
      at: now,
      ended_at: isOver(step.status) ? now : null,
    })),
  );
  if (steps.length === 0) return;
  await sql`
    insert into workflow_run_steps as s (workspace_id, run_id, step, node_id, status, next_node_id, room_id,
      child_run_id, error, note, started_at, ended_at)
    select workspace_id, run_id, step, node_id, status, next_node_id, room_id, child_run_id, error, note, at, ended_at
    from json_to_recordset(${JSON.stringify(steps)}::json) as x (workspace_id uuid, run_id uuid, step integer,
      node_id text, status text, next_node_id text, room_id uuid, child_run_id uuid, error jsonb, note text, at timestamptz,
      ended_at timestamptz)
    on conflict (workspace_id, run_id, step) do update set status = excluded.status,
      next_node_id = excluded.next_node_id, room_id = coalesce(excluded.room_id, s.room_id),
      child_run_id = coalesce(excluded.child_run_id, s.child_run_id), error = excluded.error,
      note = excluded.note, ended_at = excluded.ended_at`.execute(tx.db);
}

const isOver = (status: string): boolean => status !== 'running' && status !== 'waiting';
