import { type Kysely, sql } from 'kysely';

/** An HMAC of no number, written with the first erased one, which shows a server whether it has the key of the others. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table installation add column number_check bytea`.execute(db);
}
