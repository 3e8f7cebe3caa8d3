import { sql } from 'kysely';
import type { Database, WorkspaceTx } from '../../foundation/database/database.ts';
import { type Page, type PageQuery, readPage } from '../../foundation/database/page.ts';
import type { Row } from '../../foundation/database/schema.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { inChunks, MOST_AT_ONCE } from '../../foundation/values/in-chunks.ts';
import type { KeptRow } from './kept-rows.ts';

export type RejectedRow = Row<'rejected_rows'>;

type Shaped = components['schemas']['ContactListRejectedRow'];

const KEPT_MS = 30 * 24 * 3600 * 1000;

/** A rejected or mended row as clients see it. */
export const shapeRejected = ({ row_number, cells, errors, phone_number, mended_at }: RejectedRow): Shaped => ({
  row: row_number,
  cells,
  errors: errors as Shaped['errors'],
  ...(phone_number !== null && { phoneNumber: `+${phone_number}` }),
  ...(mended_at && { mendedAt: mended_at.toISOString() }),
});

/** Keeps rows of an upload that is being validated; of another none, so that none outlives it. */
export async function keepRejected(
  tx: WorkspaceTx,
  uploadId: string,
  rows: readonly KeptRow[],
  now: Date,
): Promise<void> {
  await sql`
    insert into rejected_rows (workspace_id, upload_id, row_number, cells, errors, created_at)
    select ${tx.workspaceId}, ${uploadId}, x."row", x.cells, x.errors, ${now}
    from json_to_recordset(${JSON.stringify(rows)}) as x ("row" integer, cells text[], errors jsonb)
    where exists (select from contact_list_uploads
      where workspace_id = ${tx.workspaceId} and id = ${uploadId} and status = 'validating')
    on conflict do nothing`.execute(tx.db);
}

/** Forgets the rejected rows of an upload. */
export async function eraseRejected(tx: WorkspaceTx, uploadId: string): Promise<void> {
  await sql`
    delete from rejected_rows where workspace_id = ${tx.workspaceId} and upload_id = ${uploadId}`.execute(tx.db);
}

/** A page of the rows that are still rejected, in the order of the file. */
export const rejectedPage = (tx: WorkspaceTx, uploadId: string, query: PageQuery): Promise<Page<RejectedRow>> =>
  readPage(tx, query, {
    from: sql`rejected_rows`,
    where: [sql`workspace_id = ${tx.workspaceId}`, sql`upload_id = ${uploadId} and mended_at is null`],
    search: [],
    order: ['row_number'],
  });

/** A rejected row, or one that has been mended, locked: an erasure that comes meanwhile waits, and sees what was made of it. */
export async function lockRejected(tx: WorkspaceTx, uploadId: string, row: number): Promise<RejectedRow | undefined> {
  return tx.db
    .selectFrom('rejected_rows')
    .selectAll()
    .where('workspace_id', '=', tx.workspaceId)
    .where('upload_id', '=', uploadId)
    .where('row_number', '=', row)
    .forUpdate()
    .executeTakeFirst();
}

/** Writes what a row holds now; nothing where it is mended already. */
export async function changeRejected(
  tx: WorkspaceTx,
  { upload_id, row_number }: Pick<RejectedRow, 'upload_id' | 'row_number'>,
  { errors, ...change }: Pick<KeptRow, 'cells' | 'errors'> & { phone_number?: number; mended_at?: Date },
): Promise<RejectedRow | undefined> {
  return tx.db
    .updateTable('rejected_rows')
    .set({ ...change, errors: JSON.stringify(errors) })
    .where('workspace_id', '=', tx.workspaceId)
    .where('upload_id', '=', upload_id)
    .where('row_number', '=', row_number)
    .where('mended_at', 'is', null)
    .returningAll()
    .executeTakeFirst();
}

/** Deletes rows that have been kept for 30 days, in small transactions. Servers may do it at once. */
export async function deleteOldRejectedRows(database: Database, now: Date, signal?: AbortSignal): Promise<void> {
  const before = new Date(now.getTime() - KEPT_MS);
  await inChunks(async () => {
    const { numAffectedRows } = await database.inEngine(({ db }) =>
      sql`
        delete from rejected_rows where ctid = any(array(
          select ctid from rejected_rows where created_at <= ${before}
          order by created_at limit ${sql.lit(MOST_AT_ONCE)} for update skip locked))`.execute(db),
    );
    return Number(numAffectedRows) === MOST_AT_ONCE;
  }, signal);
}
