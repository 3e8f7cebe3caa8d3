import { type Kysely, sql } from 'kysely';

export const release = '0.3.0';
export const oldestServer = '0.2.0';

/** Where clients reach each server itself: who listens to a call must come to the one that holds it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table servers add column url text`.execute(db);
}
