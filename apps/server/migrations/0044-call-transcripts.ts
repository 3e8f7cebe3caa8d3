import { type Kysely, sql } from 'kysely';
import { tenancy } from './tenancy.ts';

const schema = `
-- What was said on calls, by their agents' account. It can be a megabyte: so it is read with one call only.
create table call_transcripts (
  workspace_id uuid not null references workspaces (id) on delete cascade,
  room_id uuid not null,
  turns jsonb not null,
  primary key (workspace_id, room_id)
);
${tenancy('call_transcripts')}
create index calls_tagged on calls (workspace_id, id) where tags is not null;`;

/** Transcripts, and the calls that bear tags. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(schema).execute(db);
}
