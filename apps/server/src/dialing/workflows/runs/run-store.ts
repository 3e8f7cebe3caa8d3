import { type RawBuilder, sql } from 'kysely';
import type { WorkspaceTx } from '../../../foundation/database/database.ts';
import { isOneOf, type Page, type PageQuery, readPage } from '../../../foundation/database/page.ts';
import type { RunStatus } from '../../../foundation/database/schema.ts';
import { notFound } from '../../../foundation/values/service-error.ts';
import type { RunRow } from './run.ts';
import type { StepRow } from './shape-run.ts';

/** Which runs are wanted. */
export interface RunQuery extends PageQuery {
  /** Those of this workflow; of all, where it is undefined. */
  workflowId: string | undefined;
  /** Those in one of these. */
  statuses: readonly RunStatus[] | undefined;
  concurrencyKey: string | undefined;
}

/** Throws `not_found` where the workspace has no such workflow. */
export async function requireWorkflow(tx: WorkspaceTx, workflowId: string): Promise<void> {
  const { rows } = await sql`
    select from workflows where workspace_id = ${tx.workspaceId} and id = ${workflowId}`.execute(tx.db);
  if (rows.length === 0) throw notFound();
}

/** What names a run: its UUID, and that of the workflow which it must be of, where the request names one. */
export interface RunName {
  workflowId?: string;
  runId: string;
}

/** Throws `not_found` where there is no such run. */
export async function readRun(tx: WorkspaceTx, { workflowId, runId }: RunName): Promise<RunRow> {
  const { rows } = await sql<RunRow>`
    select * from workflow_runs
    where workspace_id = ${tx.workspaceId} and id = ${runId} ${ofWorkflow(workflowId)}`.execute(tx.db);
  if (!rows[0]) throw notFound();
  return rows[0];
}

/** In SQL, that a run is of a workflow, where one is named. */
export const ofWorkflow = (workflowId: string | undefined): RawBuilder<unknown> =>
  workflowId === undefined ? sql`` : sql`and workflow_id = ${workflowId}`;

/** The steps of a run, oldest first; of more than `most` the last. */
export async function readSteps(tx: WorkspaceTx, runId: string, most: number): Promise<StepRow[]> {
  const { rows } = await sql<StepRow>`
    select * from workflow_run_steps where workspace_id = ${tx.workspaceId} and run_id = ${runId}
    order by step desc limit ${most}`.execute(tx.db);
  return rows.reverse();
}

/** A page of runs, by the time of their start. */
export const runPage = (tx: WorkspaceTx, query: RunQuery): Promise<Page<RunRow>> =>
  readPage(tx, query, {
    from: sql`workflow_runs`,
    where: [
      sql`workspace_id = ${tx.workspaceId}`,
      query.workflowId !== undefined && sql`workflow_id = ${query.workflowId}`,
      query.statuses !== undefined && isOneOf('status', query.statuses),
      // The index of blocked runs is that of those who have begun to be.
      query.statuses?.every((status) => status === 'blocked') === true && sql`blocked_since is not null`,
      query.concurrencyKey !== undefined && sql`concurrency_key = ${query.concurrencyKey}`,
    ],
    search: ['concurrency_key'],
    order: ['id'],
  });
