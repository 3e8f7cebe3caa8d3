import { type Kysely, sql } from 'kysely';

/** Which uploads had not been read when an erasure last began with the lists: once one was, it begins with them again. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table erasures add column unread uuid[]`.execute(db);
}
