import { sql } from 'kysely';
import type { EngineTx, WorkspaceTx } from '../../foundation/database/database.ts';
import { from } from '../../foundation/database/moves.ts';
import { type Page, type PageQuery, readPage } from '../../foundation/database/page.ts';
import { fromId } from '../../foundation/values/ids.ts';
import { type ExportRow, exportTransitions, type FailureCode, type Wanted } from './export.ts';

const TRIES = 3;

/**
 * Adds an export that waits to be written. Nothing where two of the workspace are under way: each holds one of two places.
 * Who loses a place to another request looks again, and there are not more of them than it looks.
 */
export async function insertExport(
  tx: WorkspaceTx,
  { id, type, filter }: Wanted & { id: string },
  now: Date,
): Promise<ExportRow | undefined> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const { rows } = await sql<ExportRow>`
      insert into exports (workspace_id, id, type, filter, status, slot, created_at)
      select ${tx.workspaceId}, ${id}, ${type}, ${JSON.stringify(filter)}::jsonb, 'queued', place, ${now}
      from generate_series(1, 2) as place
      where not exists (select from exports where workspace_id = ${tx.workspaceId} and slot = place)
      order by place limit 1
      on conflict (workspace_id, slot) where slot is not null do nothing
      returning *`.execute(tx.db);
    if (rows[0]) return rows[0];
  }
  return undefined;
}

export async function findExport(tx: WorkspaceTx, id: string): Promise<ExportRow | undefined> {
  return tx.db
    .selectFrom('exports')
    .selectAll()
    .where('workspace_id', '=', tx.workspaceId)
    .where('id', '=', id)
    .executeTakeFirst();
}

/** How many files the workspace keeps, their bytes, and when the first of them goes. */
export async function keptFiles(tx: WorkspaceTx, now: Date): Promise<{ files: number; bytes: number; until: Date }> {
  const { rows } = await sql<{ files: number; bytes: number; until: Date }>`
    select count(*) as files, coalesce(sum(size_bytes), 0)::bigint as bytes, min(expires_at) as until from exports
    where workspace_id = ${tx.workspaceId} and status = 'ready' and expires_at > ${now}`.execute(tx.db);
  return rows[0]!;
}

export const exportPage = (tx: WorkspaceTx, query: PageQuery): Promise<Page<ExportRow>> =>
  readPage(tx, query, {
    from: sql`exports`,
    where: [sql`workspace_id = ${tx.workspaceId}`],
    search: [],
    order: ['created_at', 'id'],
  });

/**
 * Has this process write the file under a key of its own, also where another one that has died was at it.
 * @returns the export, and the key that the other one wrote to; nothing where the export is over
 */
export async function beginExport(
  tx: WorkspaceTx,
  id: string,
  storageKey: string,
): Promise<{ begun: ExportRow; left: string | null } | undefined> {
  const { rows } = await sql<ExportRow & { left: string | null }>`
    update exports set storage_key = ${storageKey}, status = 'running'
    from (select id as found_id, storage_key as "left" from exports
      where workspace_id = ${tx.workspaceId} and id = ${id} for update) as found
    where workspace_id = ${tx.workspaceId} and id = found_id
      and (status = 'running' or status in ${from(exportTransitions, 'running')})
    returning exports.*, "left"`.execute(tx.db);
  if (!rows[0]) return undefined;
  const { left, ...begun } = rows[0];
  return { begun, left };
}

/** Ends an export with its file. @returns whether this process was the one to write it */
export async function finishExport(
  tx: WorkspaceTx,
  { id, storageKey, rows, bytes }: { id: string; storageKey: string; rows: number; bytes: number },
  { now, expiresAt }: { now: Date; expiresAt: Date },
): Promise<boolean> {
  const { numAffectedRows } = await sql`
    update exports set status = 'ready', slot = null, row_count = ${rows}, size_bytes = ${bytes}, ready_at = ${now},
      expires_at = ${expiresAt}
    where workspace_id = ${tx.workspaceId} and id = ${id} and storage_key = ${storageKey}
      and status in ${from(exportTransitions, 'ready')}`.execute(tx.db);
  return numAffectedRows === 1n;
}

/**
 * Ends an export without a file.
 * @param storageKey of the process that gives it up; otherwise whoever writes it
 * @returns the key of what may have been written
 */
export async function failExport(
  tx: WorkspaceTx,
  id: string,
  code: FailureCode,
  storageKey?: string,
): Promise<string | null | undefined> {
  const isOurs = storageKey === undefined ? sql`` : sql`and storage_key = ${storageKey}`;
  const { rows } = await sql<Pick<ExportRow, 'storage_key'>>`
    update exports set status = 'failed', slot = null, failure_code = ${code}
    where workspace_id = ${tx.workspaceId} and id = ${id} ${isOurs} and status in ${from(exportTransitions, 'failed')}
    returning storage_key`.execute(tx.db);
  return rows[0]?.storage_key;
}

/** Whether a process is still the one that writes an export. */
export async function isWrittenTo(tx: WorkspaceTx, id: string, storageKey: string): Promise<boolean> {
  const { rows } = await sql`
    select from exports
    where workspace_id = ${tx.workspaceId} and id = ${id} and storage_key = ${storageKey}`.execute(tx.db);
  return rows.length > 0;
}

/** Takes an export away. @returns what it was; nothing where there is none */
export async function removeExport(
  tx: WorkspaceTx,
  id: string,
): Promise<Pick<ExportRow, 'status' | 'storage_key'> | undefined> {
  return tx.db
    .deleteFrom('exports')
    .where('workspace_id', '=', tx.workspaceId)
    .where('id', '=', id)
    .returning(['status', 'storage_key'])
    .executeTakeFirst();
}

/** Exports of any workspace whose file's time is over. */
export async function dueExports(tx: EngineTx, now: Date, limit: number) {
  return tx.db
    .selectFrom('exports')
    .select(['workspace_id', 'id'])
    .where(sql<boolean>`status = 'ready'`)
    .where('expires_at', '<=', now)
    .orderBy('expires_at')
    .limit(limit)
    .execute();
}

/** @returns the key of the file that goes now; nothing where another server was faster */
export async function expireExport(tx: WorkspaceTx, id: string): Promise<string | undefined> {
  const { rows } = await sql<{ storage_key: string }>`
    update exports set status = 'expired'
    where workspace_id = ${tx.workspaceId} and id = ${id} and status in ${from(exportTransitions, 'expired')}
    returning storage_key`.execute(tx.db);
  return rows[0]?.storage_key;
}

/** Whether what is exported is still there, and stays so until the transaction ends. */
export async function holdSource(tx: WorkspaceTx, { type, filter }: Wanted): Promise<boolean> {
  if (type !== 'contacts') return true;
  const { contactListId, campaignId, batchId } = filter;
  const found = contactListId
    ? sql`contact_lists where workspace_id = ${tx.workspaceId} and id = ${fromId(contactListId)} and status <> 'archived'`
    : sql`campaigns where workspace_id = ${tx.workspaceId} and id = ${fromId((campaignId ?? batchId)!)}
        and kind = ${campaignId ? 'campaign' : 'batch'}`;
  return (await sql`select from ${found} for key share`.execute(tx.db)).rows.length > 0;
}
