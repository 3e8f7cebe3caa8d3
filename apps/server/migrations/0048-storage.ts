import { type Kysely, sql } from 'kysely';

const storage = `
alter table contact_list_uploads add column file_erased_at timestamptz;
create index contact_list_uploads_file_to_erase on contact_list_uploads (updated_at)
  where status in ('failed', 'expired') and file_erased_at is null;
-- Only what adds the sizes up says so of them.
create index call_recordings_sizes on call_recordings (workspace_id) include (size_bytes)
  where status in ('recording', 'stored') and size_bytes > 0;
`;

/** The files of failed and unconfirmed uploads go, and what a workspace keeps is counted in bytes. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(storage).execute(db);
}
