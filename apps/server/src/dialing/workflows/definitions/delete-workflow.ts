import { sql } from 'kysely';
import type { WorkspaceTx } from '../../../foundation/database/database.ts';
import { MOST_AT_ONCE } from '../../../foundation/values/in-chunks.ts';
import { ServiceError } from '../../../foundation/values/service-error.ts';
import type { Jobs } from '../../../platform/jobs/jobs.ts';
import { type AuditEntry, audit } from '../../../platform/journal/record.ts';
import type { WorkflowDeps } from '../deps.ts';
import { eraseRunsQueue } from '../runs/erase-runs.ts';
import { RUNS_AT_ONCE } from '../runs/retention.ts';
import { lockWorkflow } from './workflow-store.ts';

/**
 * Deletes a workflow with its versions and its ended runs, these by background work where they are many; the calls that they placed stay.
 * Throws `not_found`, and `invalid_state` while a run is active.
 */
export async function deleteWorkflow(
  { database, clock, jobs }: WorkflowDeps & { jobs: Jobs },
  workspaceId: string,
  workflowId: string,
  auditEntry: AuditEntry,
): Promise<void> {
  await database.inWorkspace(workspaceId, async (tx) => {
    // A start holds the row, too: nobody starts a run from here on.
    await lockWorkflow(tx, workflowId);
    await refuseActive(tx, workflowId);
    if (await hasFewRuns(tx, workflowId)) await eraseRuns(tx, workflowId);
    else await jobs.enqueue(tx, eraseRunsQueue, { workspaceId, workflowId });
    await tx.db.deleteFrom('workflows').where('workspace_id', '=', workspaceId).where('id', '=', workflowId).execute();
    await audit(tx, auditEntry, clock.now());
  });
}

/** Whether its runs and their steps are few enough to be deleted with it. */
async function hasFewRuns({ db, workspaceId }: WorkspaceTx, workflowId: string): Promise<boolean> {
  const { rows } = await sql<{ runs: number; steps: number }>`
    with runs as materialized (
        select id from workflow_runs where workspace_id = ${workspaceId} and workflow_id = ${workflowId}
        limit ${sql.lit(RUNS_AT_ONCE + 1)}),
      steps as (
        select from runs join workflow_run_steps s on s.workspace_id = ${workspaceId} and s.run_id = runs.id
        limit ${sql.lit(MOST_AT_ONCE + 1)})
    select (select count(*) from runs) as runs, (select count(*) from steps) as steps`.execute(db);
  return rows[0]!.runs <= RUNS_AT_ONCE && rows[0]!.steps <= MOST_AT_ONCE;
}

async function eraseRuns({ db, workspaceId }: WorkspaceTx, workflowId: string): Promise<void> {
  const theirs = sql`workspace_id = ${workspaceId} and workflow_id = ${workflowId}`;
  await sql`
    delete from workflow_run_steps where workspace_id = ${workspaceId}
      and run_id = any(array(select id from workflow_runs where ${theirs}))`.execute(db);
  await sql`delete from workflow_runs where ${theirs}`.execute(db);
}

async function refuseActive(tx: WorkspaceTx, workflowId: string): Promise<void> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from workflow_runs
    where workspace_id = ${tx.workspaceId} and workflow_id = ${workflowId} and ended_at is null`.execute(tx.db);
  const { count } = rows[0]!;
  if (count === 0) return;
  const [runs, them, their] = count === 1 ? ['1 active run', 'it', 'its'] : [`${count} active runs`, 'them', 'their'];
  throw new ServiceError('invalid_state', `The workflow has ${runs}. Cancel ${them} first, or wait for ${their} end.`);
}
