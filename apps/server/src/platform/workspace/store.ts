import { sql, type Updateable } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import type { Row, Schema } from '../../foundation/database/schema.ts';
import { utcDay } from '../../foundation/values/clock.ts';
import { liveCalls } from './limits.ts';

export type WorkspaceRow = Row<'workspaces'>;

/** What the workspace has used on a UTC day, and the calls that are being placed or are up now. */
export interface Usage {
  calls: number;
  numbersBought: number;
  liveCalls: number;
}

export function readWorkspace(tx: WorkspaceTx): Promise<WorkspaceRow> {
  return tx.db.selectFrom('workspaces').selectAll().where('id', '=', tx.workspaceId).executeTakeFirstOrThrow();
}

/** The workspace, locked for a change. */
export function lockWorkspace(tx: WorkspaceTx): Promise<WorkspaceRow> {
  const workspaces = tx.db.selectFrom('workspaces').selectAll();
  return workspaces.where('id', '=', tx.workspaceId).forNoKeyUpdate().executeTakeFirstOrThrow();
}

/** Changes the workspace that the transaction holds, and answers the whole of it. */
export function changeWorkspace(
  tx: WorkspaceTx,
  changes: Updateable<Schema['workspaces']>,
  now: Date,
): Promise<WorkspaceRow> {
  return tx.db
    .updateTable('workspaces')
    .set((row) => ({ ...changes, revision: row('revision', '+', 1), updated_at: now }))
    .where('id', '=', tx.workspaceId)
    .returningAll()
    .executeTakeFirstOrThrow();
}

export async function readUsage(tx: WorkspaceTx, now: Date): Promise<Usage> {
  const { rows } = await sql<Usage>`
    select coalesce(max(u.calls), 0) as calls, coalesce(max(u.numbers_bought), 0) as "numbersBought",
      ${liveCalls(sql`${tx.workspaceId}`)} as "liveCalls"
    from workspace_usage u where u.workspace_id = ${tx.workspaceId} and u.day = ${utcDay(now)}`.execute(tx.db);
  return rows[0]!;
}
