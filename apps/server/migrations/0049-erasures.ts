import { type Kysely, sql } from 'kysely';
import { tenancy } from './tenancy.ts';

const tables = `
-- Opt-outs of numbers that were erased: an HMAC of each, whose key is not in the database.
create table do_not_call_erased (
  workspace_id uuid not null references workspaces,
  digest bytea not null,
  created_at timestamptz not null,
  primary key (workspace_id, digest)
);
${tenancy('do_not_call_erased')}

create table erasures (
  workspace_id uuid not null references workspaces,
  id uuid not null,
  status text not null check (status in ('running', 'completed')),
  -- E.164 without the plus; gone with the rest of it.
  phone_number bigint,
  -- Which store is being looked through, and the key of the row that was looked at last.
  step smallint not null default 0,
  place text[],
  waits_for text check (waits_for in ('call', 'upload', 'recording', 'keys')),
  waits_until timestamptz,
  counts jsonb not null default '{}',
  due_at timestamptz not null,
  created_at timestamptz not null,
  completed_at timestamptz,
  primary key (workspace_id, id),
  check ((status = 'running') = (phone_number is not null))
);
alter table exports drop constraint exports_type_check, add constraint exports_type_check
  check (type in ('contacts', 'calls', 'person'));
create index erasures_due on erasures (due_at) where status = 'running';
${tenancy('erasures')}
`;

/** What is kept about a phone number can be erased. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(tables).execute(db);
}
