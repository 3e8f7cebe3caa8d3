import { type Kysely, sql } from 'kysely';

export const release = '0.3.0';
export const oldestServer = '0.2.0';

/** What each column of an uploaded file was read as. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table contact_list_uploads add column columns jsonb`.execute(db);
}
