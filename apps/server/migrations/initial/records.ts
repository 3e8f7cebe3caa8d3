/** Records: exports and erasures. */
export const records = `
create table exports (
  workspace_id uuid not null references workspaces,
  id uuid not null,
  type text not null check (type in ('contacts', 'calls', 'person')),
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
create index exports_listed on exports (workspace_id, created_at, id);

create table erasures (
  workspace_id uuid not null references workspaces,
  id uuid not null,
  status text not null check (status in ('running', 'completed', 'failed')),
  -- E.164 without the plus; gone with the rest of it.
  phone_number bigint,
  -- Which store is being looked through, and the key of the row that was looked at last.
  step smallint not null default 0,
  place text[],
  waits_for text check (waits_for in ('call', 'upload', 'recording', 'file', 'keys', 'retry')),
  waits_until timestamptz,
  counts jsonb not null default '{}',
  due_at timestamptz not null,
  created_at timestamptz not null,
  completed_at timestamptz,
  -- How many files could not be deleted so far, by kind, and since when they are all that is tried again.
  remaining jsonb,
  files_since timestamptz,
  -- Since when each try has failed, and why it was given up.
  failing_since timestamptz,
  failure_code text check (failure_code in ('files_left', 'internal_error')),
  -- Which uploads had not been read when it last began with the lists: once one was, it begins with them again.
  unread uuid[],
  primary key (workspace_id, id),
  check ((status = 'running') = (phone_number is not null)),
  check ((status = 'failed') = (failure_code is not null))
);
-- By turns of their workspaces, the longest due of each first.
create index erasures_due on erasures (workspace_id, due_at) where status = 'running';
`;
