import { type Kysely, sql } from 'kysely';

/** Finds old idempotency keys without reading those of the last day. Block ranges, since keys only come in by time. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index idempotency_keys_created_at on idempotency_keys using brin (created_at)`.execute(db);
}
