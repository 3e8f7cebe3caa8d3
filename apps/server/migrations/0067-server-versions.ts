import { type Kysely, sql } from 'kysely';

export const release = '0.2.0';
export const oldestServer = '0.2.0';

/** Of which version a server is: a migration that it can't work with waits until it has ended. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table servers add column version text`.execute(db);
}
