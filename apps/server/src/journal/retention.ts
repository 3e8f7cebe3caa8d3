import { sql } from 'kysely';
import type { Database } from '../database/database.ts';

const KEPT_MS = 7 * 24 * 3600 * 1000;
const CHUNK = 5000;

/**
 * Deletes the events that are older than seven days, in small transactions, but for those that are still to be handed
 * over to webhooks. The oldest go first, as replay relies on it. Servers may do it at once.
 * @returns how many were deleted
 */
export async function deleteOldEvents(database: Database, now: Date): Promise<number> {
  const before = new Date(now.getTime() - KEPT_MS);
  let deleted = 0;
  for (;;) {
    const chunk = await database.inEngine(async (tx) => {
      const { numAffectedRows } = await sql`
        delete from events where ctid = any(array(
          select e.ctid from events e where e.created_at < ${before} and not exists (
            select from events_to_hand_over h
            where h.workspace_id = e.workspace_id and h.resource_id = e.resource_id and h.revision = e.revision)
          order by e.created_at, e.revision limit ${sql.lit(CHUNK)} for update of e skip locked
        ))`.execute(tx.db);
      return Number(numAffectedRows);
    });
    deleted += chunk;
    if (chunk < CHUNK) return deleted;
  }
}
