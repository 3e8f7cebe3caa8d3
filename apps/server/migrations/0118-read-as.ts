import { type Kysely, sql } from 'kysely';

export const release = '0.3.0';
export const oldestServer = '0.2.0';

/** How a file is to be read, as far as somebody has said so: its encoding. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table contact_list_uploads add column read_as jsonb`.execute(db);
}
