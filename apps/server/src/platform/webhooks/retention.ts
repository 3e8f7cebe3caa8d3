import { sql } from 'kysely';
import type { Database } from '../../foundation/database/database.ts';
import { inChunks, MOST_AT_ONCE } from '../../foundation/values/in-chunks.ts';

const KEPT_MS = 30 * 24 * 3600 * 1000;

/**
 * Erases the deliveries that are older than thirty days and have come to an end, and deleted endpoints with all of theirs,
 * in small transactions. Servers may do it at once.
 * @returns how many deliveries were erased
 */
export async function eraseOldDeliveries(database: Database, now: Date, signal?: AbortSignal): Promise<number> {
  const before = new Date(now.getTime() - KEPT_MS);
  const endpoints = await database.inEngine(({ db }) =>
    db.selectFrom('webhooks').select(['workspace_id', 'id', 'deleted_at']).execute(),
  );
  let erased = 0;
  for (const { workspace_id, id, deleted_at } of endpoints) {
    await inChunks(async () => {
      const chunk = await eraseOldest(database, { workspace_id, id }, deleted_at ? undefined : before);
      erased += chunk;
      return chunk === MOST_AT_ONCE;
    }, signal);
    if (deleted_at) await eraseEndpoint(database, { workspace_id, id });
  }
  return erased;
}

interface Endpoint {
  workspace_id: string;
  id: string;
}

/**
 * Erases the oldest deliveries of an endpoint: all of them, or those that were made before a time and have ended. Along
 * the key, where nothing is sorted: without statistics PostgreSQL 15 would read all of an endpoint's to find the oldest.
 */
async function eraseOldest(database: Database, { workspace_id, id }: Endpoint, before?: Date): Promise<number> {
  const isOver = before ? sql`created_at < ${before} and status <> 'pending'` : sql`true`;
  const { numAffectedRows } = await database.inHotLoop(({ db }) =>
    sql`delete from webhook_deliveries where ctid = any(array(
      select ctid from (
        select ctid, created_at, status from webhook_deliveries
        where workspace_id = ${workspace_id} and webhook_id = ${id}
        order by id limit ${sql.lit(MOST_AT_ONCE)} for update skip locked) as oldest
      where ${isOver}))`.execute(db),
  );
  return Number(numAffectedRows);
}

async function eraseEndpoint(database: Database, { workspace_id, id }: Endpoint): Promise<void> {
  await database.inEngine(({ db }) =>
    sql`delete from webhooks w where w.workspace_id = ${workspace_id} and w.id = ${id} and not exists (
      select from webhook_deliveries d where d.workspace_id = w.workspace_id and d.webhook_id = w.id)`.execute(db),
  );
}
