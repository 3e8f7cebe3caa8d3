/** Campaigns, and batches, which are campaigns that one request has made. */
export const campaigns = `
create table campaigns (
  workspace_id uuid not null references workspaces,
  id uuid not null,
  name text not null,
  description text,
  agent_id text not null,
  agent_name text,
  direction text not null check (direction in ('outbound', 'inbound')),
  phone_number_id uuid,
  number_pool_id uuid,
  status text not null check (status in ('draft', 'scheduled', 'running', 'paused', 'completed', 'stopped',
    'cancelled', 'failed')),
  timezone text not null,
  scheduled_at timestamptz,
  start_date timestamptz,
  end_date timestamptz,
  schedule_start smallint,
  schedule_end smallint,
  schedule_days smallint[] not null,
  max_concurrency integer not null,
  calls_per_second double precision,
  retry_policy double precision[] not null,
  target_call_count integer,
  target_conversion_rate double precision,
  ring_timeout_seconds integer not null,
  max_call_seconds integer not null,
  started_at timestamptz,
  paused_at timestamptz,
  resumed_at timestamptz,
  stopped_at timestamptz,
  cancelled_at timestamptz,
  ended_at timestamptz,
  failure_reason text check (failure_reason in ('no_callable_contacts', 'no_outbound_number', 'agent_unavailable',
    'billing', 'trunk_failure', 'internal')),
  -- What the claim reads and moves under the row's lock.
  next_claim_at timestamptz not null default 'epoch',
  next_start_at timestamptz not null default 'epoch',
  in_flight integer not null default 0,
  contacts_added boolean not null default false,
  -- Where adding contacts goes on: the uploads still to read, and the last row read of the first.
  adding_uploads uuid[] not null default '{}',
  adding_after_row integer not null default 0,
  total_contacts integer not null default 0,
  pending integer not null default 0,
  waiting integer not null default 0,
  done integer not null default 0,
  skipped integer not null default 0,
  attempts integer not null default 0,
  conversions integer not null default 0,
  answered integer not null default 0,
  voicemail integer not null default 0,
  busy integer not null default 0,
  no_answer integer not null default 0,
  declined integer not null default 0,
  invalid_number integer not null default 0,
  do_not_call integer not null default 0,
  trunk_error integer not null default 0,
  agent_error integer not null default 0,
  cancelled integer not null default 0,
  unknown integer not null default 0,
  revision bigint not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- A batch is a campaign that one request has made with its contacts. A batch without a name has ''.
  kind text not null default 'campaign' check (kind in ('campaign', 'batch')),
  metadata jsonb,
  calling_windows jsonb,
  holidays text[] not null default '{}',
  -- The contact behind which moving contacts to new lanes goes on; null while none are to be moved.
  -- The contact after which moving contacts to new lanes goes on; null when all are moved.
  relaning_after uuid,
  callee_time_zone text not null default 'strictest' check (callee_time_zone in ('strictest', 'campaign')),
  recording boolean not null default false,
  tags text[] not null default '{}',
  recent_ends integer[] not null default '{}',
  pause_reason text check (pause_reason in ('calls_failing')),
  -- Whether it calls only people whose list says that they have agreed to it.
  require_consent boolean not null default false,
  primary key (workspace_id, id),
  foreign key (workspace_id, phone_number_id) references phone_numbers
) with (fillfactor = 25);
create index campaigns_live on campaigns (status, workspace_id, id) where status in ('scheduled', 'running', 'paused');
create index campaigns_kind on campaigns (workspace_id, kind, created_at, id);

create table campaign_lists (
  workspace_id uuid not null,
  campaign_id uuid not null,
  list_id uuid not null,
  role text not null check (role in ('contacts', 'dnd')),
  -- Lists are read in this order: a number that stands in two of them is called with the values of the first.
  position smallint not null default 0,
  primary key (workspace_id, campaign_id, list_id),
  foreign key (workspace_id, campaign_id) references campaigns on delete cascade,
  foreign key (workspace_id, list_id) references contact_lists
);
create index campaign_lists_list on campaign_lists (workspace_id, list_id);

-- A set of time zones of a campaign's contacts, and the next (or current) stretch in which they may be called.
create table campaign_lanes (
  workspace_id uuid not null,
  campaign_id uuid not null,
  lane smallint not null,
  timezones text[] not null,
  opens_at timestamptz not null,
  closes_at timestamptz not null,
  is_own boolean not null default false,
  has_common_hour boolean not null default true,
  -- The same for calls that are free of quiet hours that nobody has set; null while it is the same.
  free_opens_at timestamptz,
  free_closes_at timestamptz,
  free_has_common_hour boolean,
  primary key (workspace_id, campaign_id, lane),
  unique (workspace_id, campaign_id, is_own, timezones),
  foreign key (workspace_id, campaign_id) references campaigns on delete cascade
);

create table campaign_contacts (
  workspace_id uuid not null,
  campaign_id uuid not null,
  id uuid not null,
  list_id uuid not null,
  phone_number bigint not null,
  name text,
  "values" text[] not null,
  lane smallint not null,
  state text not null check (state in ('pending', 'waiting', 'dialing', 'done', 'skipped')),
  -- "attempt" counts every dial, "tries" those that the retry policy pays for, "faults" those of trunk and agent.
  attempt smallint not null default 0,
  tries smallint not null default 0,
  faults smallint not null default 0,
  agent_faults smallint not null default 0,
  next_attempt_at timestamptz not null,
  last_outcome text,
  reason text,
  external_id text,
  metadata jsonb,
  primary key (workspace_id, campaign_id, id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
-- The number leads, so that this index is no match for the primary key where a contact is named by its ID.
create unique index campaign_contacts_number on campaign_contacts (workspace_id, phone_number, campaign_id);
create index campaign_contacts_claim on campaign_contacts (workspace_id, campaign_id, lane, state, next_attempt_at, id)
  where state in ('pending', 'waiting');
-- A campaign has one workspace: without this the planner takes the two for independent and expects next to no rows.
create statistics campaign_contacts_keys (dependencies, ndistinct) on workspace_id, campaign_id from campaign_contacts;

-- What a batch has beside its campaign, whose ID it bears. "rejected" is text as it was answered.
create table batches (
  workspace_id uuid not null,
  id uuid not null,
  rejected json not null,
  rejected_count integer not null,
  primary key (workspace_id, id)
);
`;
