import { sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { record } from '../../platform/journal/record.ts';
import { type KnowledgeBaseRow, shapeSummary } from './knowledge-base.ts';
import { findKnowledgeBase, lockKnowledgeBase } from './store.ts';

/**
 * Changes documents of a knowledge base under its lock, and records the event where its status is another one then.
 * @param change gets the knowledge base as it was before
 * @returns what `change` returns; nothing where there is no such knowledge base
 */
export async function changeDocuments<T>(
  tx: WorkspaceTx,
  id: string,
  now: Date,
  change: (base: KnowledgeBaseRow) => Promise<T>,
): Promise<T | undefined> {
  const before = await lockKnowledgeBase(tx, id);
  if (!before) return undefined;
  const result = await change(before);
  await tx.db
    .updateTable('knowledge_bases')
    .set({ updated_at: now, revision: sql`revision + 1` })
    .where('workspace_id', '=', tx.workspaceId)
    .where('id', '=', id)
    .execute();
  const after = (await findKnowledgeBase(tx, id))!;
  if (after.status !== before.status) await recordStatus(tx, after, now);
  return result;
}

/** Records that a knowledge base came to the status that it has. */
export async function recordStatus(tx: WorkspaceTx, row: KnowledgeBaseRow, now: Date): Promise<void> {
  await record(tx, {
    resourceId: row.id,
    revision: row.revision,
    type: `knowledge_base.${row.status}`,
    data: shapeSummary(row),
    now,
  });
}
