import { type Kysely, sql } from 'kysely';

/**
 * What a contact list says of the person's own word: who is not to be called (true or null), and who has agreed to be called.
 * The rows of a file that say the former are counted on the upload, the first of them by their numbers; `has_do_not_call` is
 * whether any entry of it may bear the word now.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table contact_list_entries add column do_not_call boolean, add column consent jsonb`.execute(db);
  await sql`
    create index contact_list_entries_word on contact_list_entries (workspace_id, upload_id, phone_number)
    where do_not_call`.execute(db);
  await sql`
    alter table contact_list_uploads
      add column do_not_call_columns text[],
      add column has_do_not_call boolean not null default false,
      add column do_not_call_rows integer not null default 0,
      add column do_not_call_row_numbers integer[] not null default '{}',
      add column consent_rows integer not null default 0`.execute(db);
}
