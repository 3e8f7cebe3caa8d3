import { type Insertable, type RawBuilder, sql, type Updateable } from 'kysely';
import type { EngineTx, WorkspaceTx } from '../../foundation/database/database.ts';
import { from } from '../../foundation/database/moves.ts';
import type { Schema, UploadStatus } from '../../foundation/database/schema.ts';
import type { DueTime } from '../../platform/jobs/quiet.ts';
import { type AuditEntry, record } from '../../platform/journal/record.ts';
import type { ReadContact } from './reading/check-row.ts';
import type { ReadAs } from './reading/file-format.ts';
import { type FailureCode, isFinal, shapeUpload, type UploadRow, uploadTransitions } from './upload.ts';

type Values = Omit<Updateable<Schema['contact_list_uploads']>, 'status' | 'revision' | 'updated_at'>;
type Change = Omit<Values, 'valid_rows'> & { valid_rows?: RawBuilder<number> };

/** Adds an upload that waits for its file. */
export async function insertUpload(
  tx: WorkspaceTx,
  upload: {
    id: string;
    listId: string;
    fileName: string;
    phoneColumn?: string | undefined;
    doNotCallColumns?: string[] | undefined;
    readAs?: ReadAs | undefined;
    storageKey: string;
    urlExpiresAt: Date;
    now: Date;
  },
  auditEntry: AuditEntry | undefined,
): Promise<UploadRow> {
  const row: Insertable<Schema['contact_list_uploads']> = {
    workspace_id: tx.workspaceId,
    id: upload.id,
    list_id: upload.listId,
    file_name: upload.fileName,
    phone_column: upload.phoneColumn ?? null,
    do_not_call_columns: upload.doNotCallColumns ?? null,
    read_as: upload.readAs ? JSON.stringify(upload.readAs) : null,
    storage_key: upload.storageKey,
    status: 'pending',
    url_expires_at: upload.urlExpiresAt,
    created_at: upload.now,
    updated_at: upload.now,
  };
  const added = await tx.db.insertInto('contact_list_uploads').values(row).returningAll().executeTakeFirstOrThrow();
  await recordUpload(tx, added, 'upload.pending', upload.now, auditEntry);
  return added;
}

/** An upload of a file into the list; nothing where the list doesn't have it. */
export async function findUpload(tx: WorkspaceTx, listId: string, id: string): Promise<UploadRow | undefined> {
  return selectUpload(tx, listId, id).executeTakeFirst();
}

/** The same, locked until the transaction ends. */
export async function lockUpload(tx: WorkspaceTx, listId: string, id: string): Promise<UploadRow | undefined> {
  return selectUpload(tx, listId, id).forUpdate().executeTakeFirst();
}

const selectUpload = (tx: WorkspaceTx, listId: string, id: string) =>
  tx.db
    .selectFrom('contact_list_uploads')
    .selectAll()
    .where('workspace_id', '=', tx.workspaceId)
    .where('id', '=', id)
    .where('list_id', '=', listId)
    .where('by_json', '=', false);

/** The upload that a list was made with. */
export function firstUpload(tx: WorkspaceTx, listId: string): Promise<UploadRow> {
  return tx.db
    .selectFrom('contact_list_uploads')
    .selectAll()
    .where('workspace_id', '=', tx.workspaceId)
    .where('list_id', '=', listId)
    .orderBy('id')
    .limit(1)
    .executeTakeFirstOrThrow();
}

/** Has an upload wait for its file until another time. Nothing where it waits no more. */
export function prolongUpload(tx: WorkspaceTx, id: string, urlExpiresAt: Date): Promise<UploadRow | undefined> {
  return tx.db
    .updateTable('contact_list_uploads')
    .set({ url_expires_at: urlExpiresAt })
    .where('workspace_id', '=', tx.workspaceId)
    .where('id', '=', id)
    .where(sql<boolean>`status = 'pending'`)
    .returningAll()
    .executeTakeFirst();
}

/**
 * Moves an upload to a state and records the event.
 * @param only the state that it must be in; otherwise any that leads there
 * @param where what must be true of it besides
 * @returns the upload after the move; nothing where its state doesn't allow it, or it is gone
 */
export async function moveUpload(
  tx: WorkspaceTx,
  id: string,
  to: UploadStatus,
  change: Change,
  now: Date,
  {
    auditEntry,
    only,
    where = sql`true`,
  }: { auditEntry?: AuditEntry; only?: UploadStatus; where?: RawBuilder<unknown> } = {},
): Promise<UploadRow | undefined> {
  const moved = await tx.db
    .updateTable('contact_list_uploads')
    .set({ ...change, status: to, updated_at: now, revision: sql`revision + 1` })
    .where('workspace_id', '=', tx.workspaceId)
    .where('id', '=', id)
    .where(sql<boolean>`status in ${from(uploadTransitions, to, ...(only ? [only] : []))} and ${where}`)
    .returningAll()
    .executeTakeFirst();
  if (moved) await recordUpload(tx, moved, `upload.${to}`, now, auditEntry);
  return moved;
}

/** Ends an upload whose file is refused, or can't be checked, whatever it is at on the way there. */
export async function failUpload(
  tx: WorkspaceTx,
  id: string,
  failure: { code: FailureCode; message: string },
  now: Date,
): Promise<UploadRow | undefined> {
  await moveUpload(tx, id, 'validating', {}, now);
  const change = { failure_code: failure.code, failure_message: failure.message };
  return moveUpload(tx, id, 'failed', change, now, { only: 'validating' });
}

/** How a file is to be read from now on. */
interface Rereading {
  readAs: ReadAs | undefined;
  phoneColumn: string | null;
  doNotCallColumns: string[] | null;
}

const valuesOf = ({ readAs, phoneColumn, doNotCallColumns }: Rereading) => ({
  read_as: readAs ? JSON.stringify(readAs) : null,
  phone_column: phoneColumn,
  do_not_call_columns: doNotCallColumns,
});

/** Notes how a file is to be read that has not come yet. The caller holds the upload's lock. */
export async function changeWaiting(
  tx: WorkspaceTx,
  id: string,
  change: Rereading,
  now: Date,
  auditEntry: AuditEntry,
): Promise<UploadRow> {
  const changed = await tx.db
    .updateTable('contact_list_uploads')
    .set({ ...valuesOf(change), updated_at: now, revision: sql`revision + 1` })
    .where('workspace_id', '=', tx.workspaceId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
  await recordUpload(tx, changed, 'upload.pending', now, auditEntry);
  return changed;
}

/**
 * `validated → uploaded`, `failed → uploaded`: nothing is known of the file any more. Nothing if it is at something else by
 * now, or its file was refused for want of room. Its error report is noted until there is another, so that it is erased with
 * the upload.
 */
export async function readAgain(
  tx: WorkspaceTx,
  { id, status, failure_code }: UploadRow,
  change: Rereading,
  now: Date,
  auditEntry: AuditEntry,
): Promise<UploadRow | undefined> {
  if ((status !== 'validated' && status !== 'failed') || failure_code === 'storage_full') return undefined;
  const unknown = {
    ...{ validated_at: null, failure_code: null, failure_message: null, format: null },
    ...{ columns: null, total_rows: 0, valid_rows: sql<number>`0`, invalid_rows: 0, duplicate_rows: 0, error_rows: [] },
    ...{ has_do_not_call: false, do_not_call_rows: 0, do_not_call_row_numbers: [], consent_rows: 0 },
  };
  return moveUpload(tx, id, 'uploaded', { ...unknown, ...valuesOf(change) }, now, { auditEntry, only: status });
}

/** What is counted otherwise once a row that was rejected is among those that are imported. */
const countsWith = ({ row, doNotCall, consent }: Pick<ReadContact, 'row' | 'doNotCall' | 'consent'>) => ({
  valid_rows: sql<number>`valid_rows + 1`,
  invalid_rows: sql<number>`invalid_rows - 1`,
  error_rows: sql<number[]>`array_remove(error_rows, ${row})`,
  ...(doNotCall && {
    do_not_call_rows: sql<number>`do_not_call_rows + 1`,
    do_not_call_row_numbers: sql<number[]>`(do_not_call_row_numbers || ${row}::integer)[:1000]`,
  }),
  ...(consent?.given && { consent_rows: sql<number>`consent_rows + 1` }),
});

/** Notes that a row of an upload that is validated holds something else: its edition is another, whether the row is `mended` or not. */
export async function noteChangedRow(
  tx: WorkspaceTx,
  id: string,
  mended: Pick<ReadContact, 'row' | 'doNotCall' | 'consent'> | undefined,
  now: Date,
  auditEntry: AuditEntry,
): Promise<void> {
  const counted = await tx.db
    .updateTable('contact_list_uploads')
    .set({
      ...(mended && countsWith(mended)),
      updated_at: now,
      revision: sql`revision + 1`,
    })
    .where('workspace_id', '=', tx.workspaceId)
    .where('id', '=', id)
    .returningAll()
    .executeTakeFirstOrThrow();
  await recordUpload(tx, counted, 'upload.validated', now, auditEntry);
}

/** Uploads that failed by then, or ended without being confirmed, and may have a file yet. */
export async function uploadsWithFileToErase(tx: EngineTx, failedBy: Date, limit: number) {
  return tx.db
    .selectFrom('contact_list_uploads')
    .select(['workspace_id', 'id', 'storage_key'])
    .where(sql<boolean>`status in ('failed', 'expired') and file_erased_at is null`)
    .where(sql<boolean>`updated_at <= case status when 'failed' then ${failedBy}::timestamptz else 'infinity' end`)
    .orderBy('updated_at')
    .limit(limit)
    .execute();
}

/** Notes that the file of an upload is there no more. */
export async function noteFileErased(tx: WorkspaceTx, id: string, now: Date): Promise<void> {
  await tx.db
    .updateTable('contact_list_uploads')
    .set({ file_erased_at: now })
    .where('workspace_id', '=', tx.workspaceId)
    .where('id', '=', id)
    .execute();
}

/** Has a validation count from nothing, once no row is left of one that another process died at. */
export async function countFromNothing(tx: WorkspaceTx, id: string): Promise<void> {
  await sql`
    update contact_list_uploads set valid_rows = 0
    where workspace_id = ${tx.workspaceId} and id = ${id} and status = 'validating'`.execute(tx.db);
}

/** Notes how far the validation has read. @returns whether the upload is still being validated */
export async function noteProgress(
  tx: WorkspaceTx,
  id: string,
  { rows, bytes }: { rows: number; bytes: number },
  now: Date,
): Promise<boolean> {
  const row = await tx.db
    .updateTable('contact_list_uploads')
    .set({ rows_read: rows, bytes_read: bytes, updated_at: now, revision: sql`revision + 1` })
    .where('workspace_id', '=', tx.workspaceId)
    .where('id', '=', id)
    .where(sql<boolean>`status = 'validating'`)
    .returningAll()
    .executeTakeFirst();
  if (row) await recordUpload(tx, row, 'upload.progress', now, undefined);
  return row !== undefined;
}

async function recordUpload(
  tx: WorkspaceTx,
  row: UploadRow,
  type: string,
  now: Date,
  auditEntry: AuditEntry | undefined,
) {
  await record(tx, { resourceId: row.id, revision: row.revision, type, data: shapeUpload(row), now, auditEntry });
}

/** Where an upload belongs, by the key of its file. */
export async function uploadOfKey(
  tx: EngineTx,
  storageKey: string,
): Promise<Pick<UploadRow, 'workspace_id' | 'id' | 'status'> | undefined> {
  return tx.db
    .selectFrom('contact_list_uploads')
    .select(['workspace_id', 'id', 'status'])
    .where('storage_key', '=', storageKey)
    .executeTakeFirst();
}

/**
 * Uploads that still wait for their file, in any order.
 * @param endedAt only those whose URL had ended by then
 */
export async function waitingUploads(tx: EngineTx, endedAt: Date | undefined, limit: number) {
  return tx.db
    .selectFrom('contact_list_uploads')
    .select(['workspace_id', 'id', 'storage_key', 'url_expires_at'])
    .where(sql<boolean>`status = 'pending'`)
    .$if(endedAt !== undefined, (query) => query.where('url_expires_at', '<=', endedAt!))
    .orderBy(sql`random()`)
    .limit(limit)
    .execute();
}

/** While an upload waits for its file. */
export const anyWaitingUpload: DueTime = sql`
  select 'epoch'::timestamptz from contact_list_uploads where status = 'pending' limit 1`;

/** Uploads that were validated by then and never confirmed. */
export async function unconfirmedUploads(tx: EngineTx, validatedBy: Date, limit: number) {
  return tx.db
    .selectFrom('contact_list_uploads')
    .select(['workspace_id', 'id'])
    .where(sql<boolean>`status = 'validated'`)
    .where('validated_at', '<=', validatedBy)
    .limit(limit)
    .execute();
}

/** Whether the client must do something before an upload changes again, or nothing can change it. */
export const isAtRest = (status: UploadStatus): boolean => status === 'validated' || isFinal(status);
