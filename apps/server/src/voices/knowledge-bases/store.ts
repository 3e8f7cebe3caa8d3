import { sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { type Page, type PageQuery, readPage } from '../../foundation/database/page.ts';
import type { Row } from '../../foundation/database/schema.ts';
import type { DocumentRow } from './document.ts';
import type { KnowledgeBaseRow } from './knowledge-base.ts';

type Derived = Pick<KnowledgeBaseRow, 'status' | 'document_count'>;

/** What follows from the documents of each of these knowledge bases (knowledge-bases.md, "From a file to passages"). */
async function derivedOf(tx: WorkspaceTx, ids: string[]): Promise<Map<string, Derived>> {
  const { rows } = await sql<Derived & { id: string }>`
    select base.id, count(d.id) as document_count,
      case
        when count(d.id) = 0 then 'empty'
        when bool_or(d.status in ('pending', 'processing')) then 'processing'
        when bool_or(d.status = 'failed') then 'failed'
        else 'ready'
      end as status
    from unnest(${ids}::uuid[]) as base (id)
    left join knowledge_base_documents d on d.workspace_id = ${tx.workspaceId} and d.knowledge_base_id = base.id
    group by base.id`.execute(tx.db);
  return new Map(rows.map(({ id, ...derived }) => [id, derived]));
}

async function withDerived(
  tx: WorkspaceTx,
  rows: Omit<KnowledgeBaseRow, keyof Derived>[],
): Promise<KnowledgeBaseRow[]> {
  const derived = await derivedOf(
    tx,
    rows.map((row) => row.id),
  );
  return rows.map((row) => ({ ...row, ...derived.get(row.id)! }));
}

const selectBase = (tx: WorkspaceTx, id: string) =>
  tx.db.selectFrom('knowledge_bases').selectAll().where('workspace_id', '=', tx.workspaceId).where('id', '=', id);

/** A knowledge base, by its UUID. */
export async function findKnowledgeBase(tx: WorkspaceTx, id: string): Promise<KnowledgeBaseRow | undefined> {
  return (await withDerived(tx, await selectBase(tx, id).execute()))[0];
}

/**
 * The same, locked until the transaction ends: whatever changes its documents takes this lock, so that what follows from
 * them, which is read under it, still holds.
 */
export async function lockKnowledgeBase(tx: WorkspaceTx, id: string): Promise<KnowledgeBaseRow | undefined> {
  return (await withDerived(tx, await selectBase(tx, id).forUpdate().execute()))[0];
}

/** One page of knowledge bases, and how many there are on all pages. */
export async function knowledgeBasePage(tx: WorkspaceTx, page: PageQuery): Promise<Page<KnowledgeBaseRow>> {
  const found = await readPage<Row<'knowledge_bases'>>(tx, page, {
    from: sql`knowledge_bases`,
    where: [sql`workspace_id = ${tx.workspaceId}`],
    search: ['name', 'description'],
    order: ['created_at', 'id'],
  });
  return { ...found, rows: await withDerived(tx, found.rows) };
}

/** The documents of a knowledge base, the oldest first. */
export async function documentsOf(tx: WorkspaceTx, knowledgeBaseId: string): Promise<DocumentRow[]> {
  return tx.db
    .selectFrom('knowledge_base_documents')
    .selectAll()
    .where('workspace_id', '=', tx.workspaceId)
    .where('knowledge_base_id', '=', knowledgeBaseId)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
}

/** A document; nothing where the knowledge base doesn't have it. */
export async function findDocument(
  tx: WorkspaceTx,
  knowledgeBaseId: string,
  id: string,
): Promise<DocumentRow | undefined> {
  return tx.db
    .selectFrom('knowledge_base_documents')
    .selectAll()
    .where('workspace_id', '=', tx.workspaceId)
    .where('id', '=', id)
    .where('knowledge_base_id', '=', knowledgeBaseId)
    .executeTakeFirst();
}
