import { type Kysely, sql } from 'kysely';

const columns = `
-- Entries that come as JSON stand in an upload of their own, which no client sees.
alter table contact_list_uploads add column by_json boolean not null default false;
-- When such an entry was added; others came with their upload.
alter table contact_list_entries add column created_at timestamptz;
`;

/** Entries of contact lists that no file has brought. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(columns).execute(db);
}
