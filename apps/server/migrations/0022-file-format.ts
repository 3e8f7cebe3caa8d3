import { type Kysely, sql } from 'kysely';

const changes = `
alter table contact_list_uploads
  add column phone_column text,
  add column format jsonb;
`;

/** Lets an upload name its phone column, and keeps how its file was read. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(changes).execute(db);
}
