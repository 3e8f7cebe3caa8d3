import { type Kysely, sql } from 'kysely';

export const release = '0.3.0';
export const oldestServer = '0.2.0';

/** What the speech model of a call says that it has used, in tokens. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table calls add column usage jsonb`.execute(db);
}
