import { sql } from 'kysely';
import type { Database } from '../../foundation/database/database.ts';
import { workspaceIds } from '../../foundation/database/workspace-ids.ts';
import { inChunks, MOST_AT_ONCE } from '../../foundation/values/in-chunks.ts';

const KEPT_MS = 7 * 24 * 3600 * 1000;

/**
 * Deletes the events that are older than seven days, in small transactions, but for those that are still to be handed
 * over to webhooks. The oldest go first, as replay relies on it. Servers may do it at once.
 * @returns how many were deleted
 */
export async function deleteOldEvents(database: Database, now: Date, signal?: AbortSignal): Promise<number> {
  const before = new Date(now.getTime() - KEPT_MS);
  let deleted = 0;
  await inChunks(async () => {
    const chunk = await database.inEngine(async (tx) => {
      const { numAffectedRows } = await sql`
        delete from events where ctid = any(array(
          select e.ctid from events e where e.created_at < ${before} and not exists (
            select from events_to_hand_over h
            where h.workspace_id = e.workspace_id and h.resource_id = e.resource_id and h.revision = e.revision)
          order by e.created_at, e.revision limit ${sql.lit(MOST_AT_ONCE)} for update of e skip locked
        ))`.execute(tx.db);
      return Number(numAffectedRows);
    });
    deleted += chunk;
    return chunk === MOST_AT_ONCE;
  }, signal);
  return deleted;
}

/**
 * Deletes the places of events that are older than seven days, and those from before a feed was off, from the first on, in
 * small transactions. Servers may do it at once.
 */
export async function deleteOldPlaces(database: Database, now: Date, signal?: AbortSignal): Promise<void> {
  const before = new Date(now.getTime() - KEPT_MS);
  const feeds = await database.inEngine(({ db }) => db.selectFrom('event_feeds').select('workspace_id').execute());
  for (const { workspace_id: workspaceId } of feeds) {
    await inChunks(async () => {
      const { numAffectedRows } = await database.inHotLoop(({ db }) =>
        sql`
          with feed as (select begins_behind from event_feeds where workspace_id = ${workspaceId} for no key update),
          oldest as (
            select place, created_at < ${before} or place <= begins_behind as is_old
            from feed_places, feed where workspace_id = ${workspaceId}
            order by place limit ${sql.lit(MOST_AT_ONCE)}),
          old as (
            select place from oldest
            where place < coalesce((select min(place) from oldest where not is_old), ${Number.MAX_SAFE_INTEGER}::bigint)),
          moved as (
            update event_feeds set begins_behind = greatest(begins_behind, (select max(place) from old))
            where workspace_id = ${workspaceId} and exists (select from old))
          delete from feed_places
          where workspace_id = ${workspaceId} and place >= (select min(place) from old)
            and place <= (select max(place) from old)`.execute(db),
      );
      return Number(numAffectedRows) === MOST_AT_ONCE;
    }, signal);
  }
}

/**
 * Deletes the entries of the audit log that were written before a time, workspace by workspace, in small transactions.
 * Servers may do it at once.
 */
export async function deleteOldAuditEntries(database: Database, before: Date, signal?: AbortSignal): Promise<void> {
  for (const workspaceId of await database.inEngine(workspaceIds)) {
    await inChunks(async () => {
      const { numAffectedRows } = await database.inHotLoop(({ db }) =>
        sql`
          delete from audit_log where ctid = any(array(
            select ctid from audit_log where workspace_id = ${workspaceId} and created_at < ${before}
            order by created_at, id limit ${sql.lit(MOST_AT_ONCE)} for update skip locked))`.execute(db),
      );
      return Number(numAffectedRows) === MOST_AT_ONCE;
    }, signal);
  }
}
