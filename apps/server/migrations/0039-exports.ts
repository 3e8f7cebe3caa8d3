import { type Kysely, sql } from 'kysely';
import { tenancy } from './tenancy.ts';

const tables = `
create table exports (
  workspace_id uuid not null references workspaces,
  id uuid not null,
  type text not null check (type in ('contacts', 'calls')),
  filter jsonb not null,
  status text not null check (status in ('queued', 'running', 'ready', 'failed', 'expired')),
  -- The place that it takes while it is under way: a workspace has two.
  slot smallint check (slot in (1, 2)),
  -- Of the file, or of the one that is being written.
  storage_key text,
  row_count integer,
  size_bytes bigint,
  failure_code text,
  created_at timestamptz not null,
  ready_at timestamptz,
  expires_at timestamptz,
  primary key (workspace_id, id),
  check ((slot is not null) = (status in ('queued', 'running')))
);
create unique index exports_slot on exports (workspace_id, slot) where slot is not null;
create index exports_ready on exports (expires_at) where status = 'ready';
create index exports_over on exports (created_at) where status in ('failed', 'expired');

${tenancy('exports')}

create index calls_queued on calls (workspace_id, queued_at, id);
`;

/** Files of contacts and calls, and calls by when they were taken up, for these and for figures over time. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(tables).execute(db);
}
