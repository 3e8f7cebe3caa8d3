import { sql } from 'kysely';
import type { WorkspaceTx } from '../../../foundation/database/database.ts';
import { type Page, type PageQuery, readPage } from '../../../foundation/database/page.ts';
import { notFound } from '../../../foundation/values/service-error.ts';
import type { Definition } from './definition.ts';
import type { VersionRow, WorkflowRow } from './shape-workflow.ts';

const columns = sql`id, name, draft_revision, version, published_at, created_at, updated_at`;

/** A workflow with its draft. Throws `not_found`. */
export async function readWorkflow(tx: WorkspaceTx, workflowId: string): Promise<WorkflowRow & { draft: Definition }> {
  const { rows } = await sql<WorkflowRow & { draft: Definition }>`
    select ${columns}, draft from workflows
    where workspace_id = ${tx.workspaceId} and id = ${workflowId}`.execute(tx.db);
  if (!rows[0]) throw notFound();
  return rows[0];
}

/** A workflow, its row locked until the transaction ends. Throws `not_found`. */
export async function lockWorkflow(tx: WorkspaceTx, workflowId: string): Promise<WorkflowRow> {
  const { rows } = await sql<WorkflowRow>`
    select ${columns} from workflows
    where workspace_id = ${tx.workspaceId} and id = ${workflowId} for update`.execute(tx.db);
  if (!rows[0]) throw notFound();
  return rows[0];
}

/** A page of the workspace's workflows. */
export const workflowPage = (tx: WorkspaceTx, query: PageQuery): Promise<Page<WorkflowRow>> =>
  readPage(tx, query, {
    columns,
    from: sql`workflows`,
    where: [sql`workspace_id = ${tx.workspaceId}`],
    search: ['name'],
    order: ['created_at', 'id'],
  });

/** A page of a workflow's published versions. */
export const versionPage = (tx: WorkspaceTx, workflowId: string, query: PageQuery): Promise<Page<VersionRow>> =>
  readPage(tx, query, {
    columns: sql`workflow_id, version, definition, created_at`,
    from: sql`workflow_versions`,
    where: [sql`workspace_id = ${tx.workspaceId}`, sql`workflow_id = ${workflowId}`],
    search: ["definition ->> 'name'"],
    order: ['version'],
  });
