import { type Kysely, sql } from 'kysely';

const changes = `
-- Every delivery is written twice, and each index with it. An endpoint's row outlives its deliveries (retention.ts), and
-- its deliveries are read by age through the primary key, whose IDs are by time.
drop index webhook_deliveries_created_at;
alter table webhook_deliveries drop constraint webhook_deliveries_workspace_id_webhook_id_fkey;
`;

/** Makes deliveries cheaper to write. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(changes).execute(db);
}
