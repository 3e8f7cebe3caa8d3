import { type Insertable, sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { type Page, type PageQuery, readPage } from '../../foundation/database/page.ts';
import type { Schema } from '../../foundation/database/schema.ts';
import type { ListRow } from './list.ts';
import type { UploadRow } from './upload.ts';

export async function insertList(
  tx: WorkspaceTx,
  list: Omit<Insertable<Schema['contact_lists']>, 'workspace_id'>,
): Promise<ListRow> {
  return tx.db
    .insertInto('contact_lists')
    .values({ ...list, workspace_id: tx.workspaceId })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** A list that isn't deleted. */
export async function findList(tx: WorkspaceTx, id: string): Promise<ListRow | undefined> {
  return selectList(tx, id).executeTakeFirst();
}

/**
 * The same, locked until the transaction ends. Imports and deletion take it, so they come one after another; a campaign
 * that starts takes it `for share`.
 */
export async function lockList(tx: WorkspaceTx, id: string): Promise<ListRow | undefined> {
  return selectList(tx, id).forUpdate().executeTakeFirst();
}

const selectList = (tx: WorkspaceTx, id: string) =>
  tx.db
    .selectFrom('contact_lists')
    .selectAll()
    .where('workspace_id', '=', tx.workspaceId)
    .where('id', '=', id)
    .where(sql<boolean>`status <> 'archived'`);

/** The most columns that a list may have. */
export const MOST_LIST_COLUMNS = 1024;

/** The uploads whose entries make up the list, oldest import first. */
export async function readyUploads(tx: WorkspaceTx, listId: string): Promise<string[]> {
  const rows = await tx.db
    .selectFrom('contact_list_uploads')
    .select('id')
    .where('workspace_id', '=', tx.workspaceId)
    .where('list_id', '=', listId)
    .where(sql<boolean>`status = 'processed'`)
    .orderBy('processed_at')
    .orderBy('id')
    .execute();
  return rows.map((row) => row.id);
}

/** Notes that entries of a list may say who is not to be called: campaigns of it ask from now on. */
export async function noteWords(tx: WorkspaceTx, listId: string): Promise<void> {
  await sql`
    update contact_list_uploads set has_do_not_call = true
    where workspace_id = ${tx.workspaceId} and list_id = ${listId} and status = 'processed' and not has_do_not_call`.execute(
    tx.db,
  );
}

/** The latest upload of each of these lists. */
export async function latestUploads(tx: WorkspaceTx, listIds: string[]): Promise<Map<string, UploadRow>> {
  if (listIds.length === 0) return new Map();
  const rows = await tx.db
    .selectFrom('contact_list_uploads')
    .selectAll()
    .distinctOn('list_id')
    .where('workspace_id', '=', tx.workspaceId)
    .where('by_json', '=', false)
    .where('list_id', 'in', listIds)
    .orderBy('list_id')
    .orderBy('id', 'desc')
    .execute();
  return new Map(rows.map((row) => [row.list_id, row]));
}

/** Lists of type `batch` are left out: there is one for every batch. */
export const listPage = (tx: WorkspaceTx, query: PageQuery): Promise<Page<ListRow>> =>
  readPage(tx, query, {
    from: sql`contact_lists`,
    where: [sql`workspace_id = ${tx.workspaceId}`, sql`status <> 'archived' and type <> 'batch'`],
    search: ['name'],
    order: ['created_at', 'id'],
  });

export const uploadPage = (tx: WorkspaceTx, listId: string, query: PageQuery): Promise<Page<UploadRow>> =>
  readPage(tx, query, {
    from: sql`contact_list_uploads`,
    where: [sql`workspace_id = ${tx.workspaceId}`, sql`list_id = ${listId} and not by_json`],
    search: ['file_name'],
    order: ['created_at', 'id'],
  });

/**
 * Gives the list those of these variables that it doesn't have yet, at the end of its columns.
 * @returns where in the list's columns each of them stands; nothing where the list is gone, or would have too many
 */
export async function appendColumns(
  tx: WorkspaceTx,
  listId: string,
  names: readonly string[],
  most: number,
): Promise<number[] | 'too_many' | undefined> {
  const list = await lockList(tx, listId);
  if (!list) return undefined;
  const columns = [...list.columns];
  const positions = new Map(columns.map((name, position) => [name, position]));
  for (const name of names) {
    if (positions.has(name)) continue;
    positions.set(name, columns.length);
    columns.push(name);
  }
  if (columns.length > most) return 'too_many';
  if (columns.length > list.columns.length) {
    await tx.db
      .updateTable('contact_lists')
      .set({ columns })
      .where('workspace_id', '=', tx.workspaceId)
      .where('id', '=', listId)
      .execute();
  }
  return names.map((name) => positions.get(name)!);
}
