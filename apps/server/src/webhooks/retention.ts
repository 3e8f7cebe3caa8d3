import { sql } from 'kysely';
import type { Database, EngineTx } from '../database/database.ts';

const KEPT_MS = 30 * 24 * 3600 * 1000;
const CHUNK = 5000;

/**
 * Erases the deliveries that are older than thirty days and have come to an end, and deleted endpoints with all of theirs,
 * in small transactions. Servers may do it at once.
 * @returns how many deliveries were erased
 */
export async function eraseOldDeliveries(database: Database, now: Date): Promise<number> {
  const before = new Date(now.getTime() - KEPT_MS);
  const old = (tx: EngineTx) =>
    sql`delete from webhook_deliveries where ctid = any(array(
      select ctid from webhook_deliveries where created_at < ${before} and status <> 'pending'
      limit ${sql.lit(CHUNK)} for update skip locked))`.execute(tx.db);
  const ofDeleted = (tx: EngineTx) =>
    sql`delete from webhook_deliveries where ctid = any(array(
      select d.ctid from webhooks w join webhook_deliveries d on d.workspace_id = w.workspace_id and d.webhook_id = w.id
      where w.deleted_at is not null limit ${sql.lit(CHUNK)} for update of d skip locked))`.execute(tx.db);
  let erased = 0;
  for (const erase of [old, ofDeleted]) {
    for (let chunk = CHUNK; chunk === CHUNK; erased += chunk) {
      chunk = Number((await database.inEngine(erase)).numAffectedRows);
    }
  }
  await database.inEngine((tx) =>
    sql`delete from webhooks w where w.deleted_at is not null and not exists (
      select from webhook_deliveries d where d.workspace_id = w.workspace_id and d.webhook_id = w.id)`.execute(tx.db),
  );
  return erased;
}
