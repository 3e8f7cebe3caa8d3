import { type Kysely, sql } from 'kysely';
import { tenancy } from './tenancy.ts';

const tables = `
-- Calls to one's own phone, each by its room, and what they have shown.
create table test_calls (
  workspace_id uuid not null,
  room_id uuid not null,
  phone_number_id uuid not null,
  from_number bigint not null,
  to_number bigint not null,
  simulated boolean not null,
  requested_at timestamptz not null,
  -- Nothing rang: the call was taken back.
  returned_at timestamptz,
  media json,
  primary key (workspace_id, room_id)
);
create index test_calls_requested on test_calls (workspace_id, requested_at);
${tenancy('test_calls')}
`;

/** Test calls. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(tables).execute(db);
}
