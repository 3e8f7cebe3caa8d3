import { type Kysely, sql } from 'kysely';
import { tenancy } from './tenancy.ts';

const tables = `
-- Definitions are json, not jsonb: they are read as they were written, with their keys in that order.
create table workflows (
  workspace_id uuid not null references workspaces,
  id uuid not null,
  -- As in the draft.
  name text not null,
  draft json not null,
  draft_revision integer not null default 1,
  -- The latest published version, which new runs take.
  version integer,
  published_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, id)
);
create index workflows_created_at on workflows (workspace_id, created_at, id);

-- A row never changes.
create table workflow_versions (
  workspace_id uuid not null,
  workflow_id uuid not null,
  version integer not null,
  definition json not null,
  created_at timestamptz not null,
  primary key (workspace_id, workflow_id, version),
  foreign key (workspace_id, workflow_id) references workflows on delete cascade
);
`;

/** Workflows and their published versions. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(tables).execute(db);
  for (const table of ['workflows', 'workflow_versions']) await sql.raw(tenancy(table)).execute(db);
}
