import { type Kysely, sql } from 'kysely';

export const release = '0.3.0';
export const oldestServer = '0.2.0';

/** How loud a recording is, once somebody has asked. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table call_recordings add column peaks bytea`.execute(db);
}
