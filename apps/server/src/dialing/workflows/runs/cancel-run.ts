import { sql } from 'kysely';
import type { Database, WorkspaceTx } from '../../../foundation/database/database.ts';
import { from } from '../../../foundation/database/moves.ts';
import { together } from '../../../foundation/database/together.ts';
import type { Clock } from '../../../foundation/values/clock.ts';
import { notFound, ServiceError } from '../../../foundation/values/service-error.ts';
import { type AuditEntry, audit, recordAll } from '../../../platform/journal/record.ts';
import type { Switchboard } from '../../calls/switchboard.ts';
import { cancel } from './change-run.ts';
import { tellParents } from './end-runs.ts';
import { isFinal, type RunRow, runTransitions, stepTransitions } from './run.ts';
import { runEvent } from './run-event.ts';
import { ofWorkflow, type RunName } from './run-store.ts';

/** What cancelling works with. */
export interface CancelRunDeps {
  database: Database;
  clock: Clock;
  /** Asks for the end of calls, in the transaction that makes it necessary. */
  requestEnd: Switchboard['requestEnd'];
  /** Has calls whose end was asked for hung up at once. */
  nudgeHangUps: () => void;
  /** Has the engine look for parents that wait. */
  nudge: () => void;
}

/**
 * Cancels an active run and all that it has started. That they are cancelled and that their calls are to end is one
 * commit; the server that holds a call hangs it up. Throws `not_found` and `run_not_active`.
 */
export async function cancelRun(
  deps: CancelRunDeps,
  workspaceId: string,
  name: RunName,
  auditEntry: AuditEntry,
): Promise<RunRow> {
  const now = deps.clock.now();
  const cancelled = await deps.database.inWorkspace(workspaceId, async (tx) => {
    const run = await cancelWithin(tx, deps, name, now);
    await audit(tx, auditEntry, now);
    return run;
  });
  deps.nudgeHangUps();
  deps.nudge();
  return cancelled;
}

/** The same as a part of another transaction, and nobody's doing. */
export async function cancelWithin(
  tx: WorkspaceTx,
  { requestEnd }: Pick<CancelRunDeps, 'requestEnd'>,
  name: RunName,
  now: Date,
): Promise<RunRow> {
  const line = await lockLine(tx, name);
  const runs = line.map((run) => cancel(run, now));
  await writeCancelled(tx, runs, now);
  await tellParents(tx, runs);
  await recordAll(
    tx,
    runs.map((run) => runEvent(run)),
  );
  const calls = line.filter((run) => run.status === 'waiting_call').map((run) => run.waits_for!);
  await requestEnd(tx, calls, now);
  return runs[0]!;
}

/** The run and the active runs below it, each locked after its parent (dialing.md, "Locks"). */
async function lockLine(tx: WorkspaceTx, { workflowId, runId }: RunName): Promise<RunRow[]> {
  const { rows } = await sql<RunRow>`
    select * from workflow_runs where workspace_id = ${tx.workspaceId} and id = ${runId} ${ofWorkflow(workflowId)}
    for no key update`.execute(tx.db);
  const [run] = rows;
  if (!run) throw notFound();
  if (isFinal(run.status)) throw new ServiceError('run_not_active', `The run is ${run.status} already.`);
  const line = [run];
  let parents = [run.id];
  while (parents.length > 0) {
    const children = await lockChildren(tx, parents);
    line.push(...children);
    parents = children.map(({ id }) => id);
  }
  return line;
}

/** The active runs of some parents, locked in the order of their keys, each looked up by it: there may be very many others. */
async function lockChildren(tx: WorkspaceTx, parents: string[]): Promise<RunRow[]> {
  const children = await together(
    tx,
    parents.map(
      (id) => sql<Pick<RunRow, 'id' | 'workflow_id'>>`
        select id, workflow_id from workflow_runs
        where workspace_id = ${tx.workspaceId} and parent_run_id = ${id} and ended_at is null`,
    ),
  );
  const sorted = children.flatMap(({ rows }) => rows).sort((a, b) => (a.id < b.id ? -1 : 1));
  const { rows } = await sql<RunRow>`
    select r.* from json_to_recordset(${JSON.stringify(sorted)}::json) as x (id uuid, workflow_id uuid)
    cross join lateral (
      select * from workflow_runs r where workspace_id = ${tx.workspaceId} and r.workflow_id = x.workflow_id
        and r.id = x.id and ended_at is null
      limit 1 for no key update) as r`.execute(tx.db);
  return rows;
}

/** Each row by its whole key: a list of keys is looked for in all of a workspace, by a plan from when there were few runs. */
async function writeCancelled(tx: WorkspaceTx, runs: readonly RunRow[], now: Date): Promise<void> {
  const { workspaceId } = tx;
  const updates = runs.flatMap(({ id, workflow_id, concurrency_key }) => [
    sql`
      update workflow_runs set status = 'cancelled', waits_for = null, error = null, wake_at = null, blocked_since = null,
        looked_at = null, checks = 0, due_at = null, server_id = null, ended_at = ${now}, revision = revision + 1, updated_at = ${now}
      where workspace_id = ${workspaceId} and workflow_id = ${workflow_id} and id = ${id}
        and status in ${from(runTransitions, 'cancelled')}`,
    sql`
      update workflow_run_steps set status = 'cancelled', ended_at = ${now}
      where workspace_id = ${workspaceId} and run_id = ${id} and status in ${from(stepTransitions, 'cancelled')}`,
    sql`
      update concurrency_keys set active_run = null, last_ended_at = ${now}
      where workspace_id = ${workspaceId} and key = ${concurrency_key} and active_run = ${id}`,
    sql`delete from run_signals where workspace_id = ${workspaceId} and run_id = ${id}`,
  ]);
  await together(tx, updates);
}
