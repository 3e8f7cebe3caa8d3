import { type Kysely, sql } from 'kysely';

/** Pages of the audit log, which only grows, by time. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index audit_log_created_at on audit_log (workspace_id, created_at, id)`.execute(db);
}
