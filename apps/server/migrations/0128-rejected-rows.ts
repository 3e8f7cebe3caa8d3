import { type Kysely, sql } from 'kysely';
import { tenancy } from './tenancy.ts';

export const release = '0.3.0';
export const oldestServer = '0.2.0';

/** Rows of files that can't be imported, to be read and mended, and the header that they are judged by. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table rejected_rows (
      workspace_id uuid not null references workspaces,
      upload_id uuid not null,
      row_number integer not null,
      cells text[] not null,
      errors jsonb not null,
      phone_number bigint,
      created_at timestamptz not null,
      mended_at timestamptz,
      primary key (workspace_id, upload_id, row_number)
    )`.execute(db);
  await sql`create index rejected_rows_created_at on rejected_rows (created_at)`.execute(db);
  await sql.raw(tenancy('rejected_rows')).execute(db);
  await sql`alter table contact_list_uploads add column header text[]`.execute(db);
  // Servers that don't know of the table complete no erasure.
  await sql`update installation set erasure_steps = array_append(erasure_steps, 'rejected_rows')`.execute(db);
}
