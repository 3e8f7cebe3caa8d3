import { type Kysely, sql } from 'kysely';
import { tenancy } from './tenancy.ts';

const tables = `
alter table campaigns add column recording boolean not null default false;

create table call_recordings (
  workspace_id uuid not null,
  room_id uuid not null,
  status text not null check (status in ('recording', 'stored', 'failed', 'deleted')),
  size_bytes bigint,
  duration_ms bigint,
  created_at timestamptz not null,
  stored_at timestamptz,
  -- The object is gone as well.
  erased_at timestamptz,
  primary key (workspace_id, room_id),
  foreign key (workspace_id, room_id) references calls
);
create index call_recordings_open on call_recordings (created_at) where status = 'recording';
create index call_recordings_kept on call_recordings (stored_at) where status = 'stored';
create index call_recordings_to_erase on call_recordings (workspace_id, room_id)
  where status = 'deleted' and erased_at is null;

${tenancy('call_recordings')}
`;

/** Recordings of calls, and which campaigns want them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(tables).execute(db);
}
