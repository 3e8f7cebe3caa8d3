/** Workflows and their runs. */
export const workflows = `
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

create table workflow_runs (
  workspace_id uuid not null,
  id uuid not null,
  workflow_id uuid not null,
  version integer not null,
  workflow_name text not null,
  status text not null check (status in ('queued', 'running', 'waiting_call', 'waiting_schedule',
    'waiting_automation', 'blocked', 'completed', 'failed', 'cancelled')),
  concurrency_key text,
  parent_run_id uuid,
  parent_step integer,
  -- How many runs stand above this one, itself included.
  depth smallint not null default 1,
  -- Where the run is: the node, and the number of its visit.
  node_id text not null,
  step integer not null default 1,
  -- How often the HTTP request of this step was sent, and how many calls the run has asked for.
  tries smallint not null default 0,
  calls integer not null default 0,
  -- The call or the child run whose end it waits for.
  waits_for uuid,
  context jsonb not null,
  output jsonb,
  error jsonb,
  wake_at timestamptz,
  blocked_since timestamptz,
  checks smallint not null default 0,
  -- When a server has to take the run up; and the one that holds it.
  due_at timestamptz,
  server_id uuid,
  ended_at timestamptz,
  revision bigint not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- When a blocked run was looked at last, or was to be: what has changed since concerns it, and no other is read.
  looked_at timestamptz,
  -- What is told of the run is emptied with it, though the number may stand nowhere in it.
  is_erased boolean,
  primary key (workspace_id, id)
) with (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
-- No index names the status: a run that only goes on changes none.
create index workflow_runs_due on workflow_runs (due_at) where due_at is not null;
create index workflow_runs_held on workflow_runs (server_id) where server_id is not null;
create index workflow_runs_workflow on workflow_runs (workspace_id, workflow_id, id);
create index workflow_runs_parent on workflow_runs (workspace_id, parent_run_id) where parent_run_id is not null;
-- The second wall behind concurrency_keys.
create unique index workflow_runs_active_key on workflow_runs (workspace_id, concurrency_key)
  where ended_at is null and concurrency_key is not null;
create index workflow_runs_blocked on workflow_runs (workspace_id, looked_at) where blocked_since is not null;
create index workflow_runs_no_room on workflow_runs (workspace_id, due_at)
  where blocked_since is not null and error ->> 'code' = 'limit_reached';
create index workflow_runs_key on workflow_runs (workspace_id, concurrency_key, id) where concurrency_key is not null;
create index workflow_runs_turns on workflow_runs (workspace_id, due_at) where due_at is not null and server_id is null;

create table workflow_run_steps (
  workspace_id uuid not null,
  run_id uuid not null,
  step integer not null,
  node_id text not null,
  status text not null check (status in ('running', 'waiting', 'completed', 'failed', 'cancelled')),
  next_node_id text,
  room_id uuid,
  child_run_id uuid,
  error jsonb,
  started_at timestamptz not null,
  ended_at timestamptz,
  -- What a step has to say that is no error: conditions of a branch that could not be compared.
  note text,
  primary key (workspace_id, run_id, step)
) with (fillfactor = 80);

-- Which run holds a key, and when the last one that did has ended. Starts, ends and wakes go through this row.
create table concurrency_keys (
  workspace_id uuid not null,
  key text not null,
  active_run uuid,
  -- What the run that holds the key has asked for at its start.
  cooldown_minutes integer not null,
  last_ended_at timestamptz,
  primary key (workspace_id, key)
) with (fillfactor = 60);

-- What a run waits for has happened. Written by whoever makes it happen, who never locks the run.
create table run_signals (
  workspace_id uuid not null,
  run_id uuid not null,
  -- The call or the child run.
  source uuid not null,
  data jsonb not null,
  created_at timestamptz not null,
  primary key (workspace_id, run_id, source)
);
create index run_signals_created_at on run_signals (created_at);
`;
