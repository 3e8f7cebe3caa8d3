import { type Kysely, sql } from 'kysely';

export const release = '0.2.0';
export const oldestServer = '0.2.0';

/** Lets agents say after how many seconds of silence their calls are over. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table agents add column silence_seconds smallint not null default 30`.execute(db);
}
