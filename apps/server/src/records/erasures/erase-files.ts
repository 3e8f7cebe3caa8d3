import { sql } from 'kysely';
import type { EngineTx } from '../../foundation/database/database.ts';
import { forWorkspace } from '../../foundation/database/database.ts';
import { from } from '../../foundation/database/moves.ts';
import { someAtOnce } from '../../foundation/values/some-at-once.ts';
import { exportQueue } from '../exports/deps.ts';
import { eraseUnfinished } from '../exports/erase-file.ts';
import { exportTransitions } from '../exports/export.ts';
import type { ErasureDeps } from './deps.ts';
import { recordingsToErase } from './erase-calls.ts';
import { isBeingRead, isFileUntold, wasRead } from './erase-contacts.ts';
import type { RunningErasure } from './erasure.ts';
import type { Outcome } from './outcome.ts';

/** Files that are deleted between two commits. */
const MOST = 100;
const AT_ONCE = 10;

/** What has files that hold people: of them no one can be taken out. */
interface Holder {
  kind: 'export' | 'upload';
  id: string;
  keys: string[];
}

/** Some of them whose files are deleted now, and some whose files can't be. */
interface Tried {
  deleted: Holder[];
  place: string[] | undefined;
  /** After the last: whether there is a file that is still to be read; nothing where the store doesn't say. */
  isFileUntold?: boolean | undefined;
}

/** SQL for what has such files. Exports that were begun after the first round can't hold the number. */
const holders = ({ workspace_id: workspaceId, created_at, files_since }: RunningErasure) => sql`
  select 'export' as kind, id, array[storage_key] as keys from exports
  where workspace_id = ${workspaceId} and status = 'ready' and ready_at <= ${files_since ?? 'infinity'}
  union all
  select 'upload', id, array_remove(array[storage_key, error_report_key], null) from contact_list_uploads
  where workspace_id = ${workspaceId} and status in ('validated', 'processing', 'processed', 'failed', 'expired')
    and created_at <= ${created_at} and (error_report_key is not null or (bytes_total > 0 and file_erased_at is null))`;

/**
 * Deletes uploaded files, error reports and exported files of a workspace, some at a time: before anything is noted, so that
 * whoever goes on after a crash deletes them again. What can't be deleted keeps no other from it.
 */
export async function deleteFiles(deps: ErasureDeps, erasure: RunningErasure): Promise<Tried> {
  const { database, objects, log } = deps;
  const [kind = '', id = ''] = erasure.place ?? [];
  const { rows } = await database.inEngine((tx) =>
    sql<Holder>`
      select * from (${holders(erasure)}) as h where (kind, id::text) > (${kind}, ${id})
      order by kind, id::text limit ${sql.lit(MOST)}`.execute(tx.db),
  );
  const isDeleted = await someAtOnce(AT_ONCE, rows, async (holder) => {
    try {
      for (const key of holder.keys) await objects.delete(key);
      return true;
    } catch (error) {
      log.warn({ err: error, [holder.kind]: holder.id }, 'a file could not be erased; it is tried again');
      return false;
    }
  });
  const last = rows.length === MOST ? rows.at(-1) : undefined;
  const deleted = rows.filter((_, at) => isDeleted[at]);
  if (last) return { deleted, place: [last.kind, last.id] };
  return { deleted, place: undefined, isFileUntold: await isFileUntold(deps, erasure) };
}

/**
 * Notes that these files are gone. After the last of them it waits for files that are being read, and looks for whom these
 * have brought. Then it counts what is left, and has exports that are under way begin anew for once: they may have read the
 * number.
 */
export async function noteDeleted(
  tx: EngineTx,
  deps: ErasureDeps,
  erasure: RunningErasure,
  { deleted, place, isFileUntold: isUntold }: Tried,
  now: Date,
): Promise<Outcome> {
  const { workspace_id: workspaceId } = erasure;
  const idsOf = (kind: Holder['kind']) => deleted.filter((holder) => holder.kind === kind).map(({ id }) => id);
  await sql`
    update contact_list_uploads set file_erased_at = ${now}, error_report_key = null
    where workspace_id = ${workspaceId} and id = any(${idsOf('upload')}::uuid[])`.execute(tx.db);
  await sql`
    update exports set status = 'expired', expires_at = least(expires_at, ${now})
    where workspace_id = ${workspaceId} and id = any(${idsOf('export')}::uuid[])
      and status in ${from(exportTransitions, 'expired')}`.execute(tx.db);
  const counts = { files: deleted.length };
  if (place) return { next: 'place', place, counts };
  if (isUntold || (await isBeingRead(tx, erasure))) return { next: 'wait', waitsFor: 'upload', goesOn: 'step', counts };
  if (await wasRead(tx, erasure)) return { next: 'anew', counts };
  const filesSince = erasure.files_since ?? (await endFirstRound(tx, deps, workspaceId, now));
  const { rows } = await sql<{ files: number }>`
    select count(*) as files from (${holders(erasure)}) as h`.execute(tx.db);
  const files = rows[0]!.files + (isUntold === undefined ? 1 : 0);
  const remaining = { files, recordings: await recordingsToErase(tx, erasure) };
  return { next: 'step', counts, round: { remaining, filesSince } };
}

/**
 * Exports that run begin anew. @returns until when those that may hold the number are ready: some may have become so while
 * the round went on, by the clocks of other servers
 */
async function endFirstRound(tx: EngineTx, deps: ErasureDeps, workspaceId: string, now: Date): Promise<Date> {
  await beginExportsAnew(tx, deps, workspaceId);
  const { rows } = await sql<{ since: Date }>`
    select greatest(${now}::timestamptz, max(ready_at)) as since from exports
    where workspace_id = ${workspaceId} and status = 'ready'`.execute(tx.db);
  return rows[0]!.since;
}

async function beginExportsAnew(tx: EngineTx, { jobs }: ErasureDeps, workspaceId: string): Promise<void> {
  const { rows } = await sql<{ id: string; storage_key: string }>`
    select id, storage_key from exports where workspace_id = ${workspaceId} and status = 'running' for update`.execute(
    tx.db,
  );
  for (const { id, storage_key } of rows) {
    if (storage_key === null) continue;
    await sql`
      update exports set storage_key = null where workspace_id = ${workspaceId} and id = ${id}`.execute(tx.db);
    await eraseUnfinished({ jobs }, forWorkspace(tx, workspaceId), storage_key);
    await jobs.enqueue(tx, exportQueue, { workspaceId, exportId: id });
  }
}
