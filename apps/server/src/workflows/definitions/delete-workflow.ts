import { sql } from 'kysely';
import type { WorkspaceTx } from '../../database/database.ts';
import type { Jobs } from '../../jobs/jobs.ts';
import { type AuditEntry, audit } from '../../journal/record.ts';
import { ServiceError } from '../../service-error.ts';
import type { WorkflowDeps } from '../deps.ts';
import { eraseRunsQueue } from '../runs/erase-runs.ts';
import { RUNS_AT_ONCE } from '../runs/retention.ts';
import { lockWorkflow } from './workflow-store.ts';

/**
 * Deletes a workflow with its versions and its ended runs, of many the oldest by background work; the calls that they placed stay. Throws `not_found`, and
 * `invalid_state` while a run is active.
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
    const { rows } = await sql<{ runs: number }>`
      with gone as (
        delete from workflow_runs where ctid = any(array(
          select ctid from workflow_runs where workspace_id = ${workspaceId} and workflow_id = ${workflowId}
          order by id desc limit ${sql.lit(RUNS_AT_ONCE)}))
        returning id),
      steps as (
        delete from workflow_run_steps s using gone where s.workspace_id = ${workspaceId} and s.run_id = gone.id)
      select count(*) as runs from gone`.execute(tx.db);
    if (rows[0]!.runs === RUNS_AT_ONCE) await jobs.enqueue(tx, eraseRunsQueue, { workspaceId, workflowId });
    await tx.db.deleteFrom('workflows').where('workspace_id', '=', workspaceId).where('id', '=', workflowId).execute();
    await audit(tx, auditEntry, clock.now());
  });
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
