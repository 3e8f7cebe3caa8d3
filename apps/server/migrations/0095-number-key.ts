import { type Kysely, sql } from 'kysely';

export const release = '0.2.0';
export const oldestServer = '0.2.0';

/** What erased numbers are known by, sealed under the encryption key, so that it stays when that one is changed. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table installation add column number_key text`.execute(db);
}
