import { type Kysely, sql } from 'kysely';
import { tenancy } from './tenancy.ts';

const changes = `
create table number_pools (
  workspace_id uuid not null references workspaces,
  id uuid not null,
  name text not null,
  description text,
  max_calls_per_number_per_day integer,
  max_concurrent_per_number integer,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, id)
);

-- The pool that a number is in, and what counts when one is chosen. One row a number, so it is in one pool at most. It
-- stays when the number leaves the pool: whoever comes back has not been fresh all day. Apart from phone_numbers, whose
-- rows are wide: these are written by every claim.
create table number_usage (
  workspace_id uuid not null,
  phone_number_id uuid not null,
  pool_id uuid,
  -- As on the number, whose country never changes.
  country text,
  last_used_at timestamptz not null default 'epoch',
  -- The UTC day that the three counts are of.
  day date not null default 'epoch',
  attempts integer not null default 0,
  answered integer not null default 0,
  failed integer not null default 0,
  -- Calls in a row that the trunk failed; from the third on it cools, the longer the more there are.
  faults smallint not null default 0,
  cooling_until timestamptz,
  primary key (workspace_id, phone_number_id),
  foreign key (workspace_id, phone_number_id) references phone_numbers on delete cascade,
  foreign key (workspace_id, pool_id) references number_pools
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
-- Members by when they were last used: a claim reads the head of it, however many there are.
create index number_usage_pool on number_usage (workspace_id, pool_id, last_used_at, country) where pool_id is not null;

-- Whether the call counts on its number's usage.
alter table calls add column pooled boolean not null default false;
create index calls_live_phone_number on calls (workspace_id, phone_number_id) where ended_at is null;
`;

/** Number pools, and what is counted of their members. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(changes).execute(db);
  for (const table of ['number_pools', 'number_usage']) await sql.raw(tenancy(table)).execute(db);
}
