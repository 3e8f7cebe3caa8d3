import { sql } from 'kysely';
import type { WorkspaceTx } from '../../database/database.ts';
import { containing, type PageQuery, pageRows } from '../../database/page.ts';
import { notFound } from '../../service-error.ts';
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
export async function workflowPage(
  tx: WorkspaceTx,
  query: PageQuery,
): Promise<{ rows: WorkflowRow[]; totalCount: number }> {
  const { limit, offset } = pageRows(query);
  const found = sql`from workflows where workspace_id = ${tx.workspaceId} ${named(sql`name`, query.searchText)}`;
  const order = query.order === 'asc' ? sql`created_at, id` : sql`created_at desc, id desc`;
  const counted = await sql<{ count: number }>`select count(*) as count ${found}`.execute(tx.db);
  const { rows } = await sql<WorkflowRow>`
    select ${columns} ${found} order by ${order} limit ${limit} offset ${offset}`.execute(tx.db);
  return { rows, totalCount: counted.rows[0]!.count };
}

/** A page of a workflow's published versions. */
export async function versionPage(
  tx: WorkspaceTx,
  workflowId: string,
  query: PageQuery,
): Promise<{ rows: VersionRow[]; totalCount: number }> {
  const { limit, offset } = pageRows(query);
  const found = sql`from workflow_versions
    where workspace_id = ${tx.workspaceId} and workflow_id = ${workflowId}
      ${named(sql`definition ->> 'name'`, query.searchText)}`;
  const order = query.order === 'asc' ? sql`version` : sql`version desc`;
  const counted = await sql<{ count: number }>`select count(*) as count ${found}`.execute(tx.db);
  const { rows } = await sql<VersionRow>`
    select workflow_id, version, definition, created_at ${found}
    order by ${order} limit ${limit} offset ${offset}`.execute(tx.db);
  return { rows, totalCount: counted.rows[0]!.count };
}

const named = (name: ReturnType<typeof sql>, searchText: string | undefined) =>
  searchText === undefined ? sql`` : sql`and ${name} ilike ${containing(searchText)}`;
