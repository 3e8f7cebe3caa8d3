import { sql } from 'kysely';
import type { Tx } from '../../foundation/database/database.ts';
import { ServiceError } from '../../foundation/values/service-error.ts';

/** How much a workspace keeps of contact files, documents, sounds and recordings, and may keep; in bytes. */
export interface Storage {
  used: number;
  /** Infinity where the settings say nothing. */
  most: number;
}

/** What is left of it. */
export const roomIn = ({ used, most }: Storage): number => Math.max(0, most - used);

/**
 * How much a workspace keeps now. What is being stored at the same time is not in it.
 * @param mostBytes the setting; without it nothing is counted
 */
export async function readStorage(tx: Tx, workspaceId: string, mostBytes: number | undefined): Promise<Storage> {
  if (mostBytes === undefined) return { used: 0, most: Number.POSITIVE_INFINITY };
  const { rows } = await sql<{ used: number }>`
    select (
      (select coalesce(sum(bytes_total), 0) from contact_list_uploads
        where workspace_id = ${workspaceId} and file_erased_at is null)
      + (select coalesce(sum(file_size_bytes), 0) from knowledge_base_documents where workspace_id = ${workspaceId})
      + (select coalesce(sum(size_bytes), 0) from sounds where workspace_id = ${workspaceId})
      + (select coalesce(sum(size_bytes), 0) from speech_sounds where workspace_id = ${workspaceId})
      + (select coalesce(sum(size_bytes), 0) from call_recordings
        where workspace_id = ${workspaceId} and status in ('recording', 'stored') and size_bytes > 0)
    )::bigint as used`.execute(tx.db);
  return { used: rows[0]!.used, most: mostBytes };
}

/** The same under a lock of the workspace's own until the transaction ends: of two files at once one is counted first. */
export async function lockStorage(tx: Tx, workspaceId: string, mostBytes: number | undefined): Promise<Storage> {
  if (mostBytes !== undefined)
    await sql`select pg_advisory_xact_lock(hashtext('storage'), hashtext(${workspaceId}))`.execute(tx.db);
  return readStorage(tx, workspaceId, mostBytes);
}

/** Why no more is kept, for a person. */
export const storageFull = ({ used, most }: Storage): string =>
  `This workspace keeps ${used} bytes of contact files, documents, sounds and recordings, of ${most} that it may keep. Delete some.`;

/** Throws `limit_reached` where there is no room for so many bytes more. */
export function refuseFull(storage: Storage, bytes = 1): void {
  if (roomIn(storage) < bytes) throw new ServiceError('limit_reached', storageFull(storage));
}
