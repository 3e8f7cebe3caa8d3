/** Calls, and what is kept beside them. */
export const calls = `
-- No foreign key to its workspace, as in all tables that are written most: each row would look that up and lock it. It is
-- never deleted, and the wall names it anyway.
create table calls (
  workspace_id uuid not null,
  id uuid not null,
  status text not null check (status in ('queued', 'dialing', 'ringing', 'in_progress', 'completed', 'failed',
    'cancelled')),
  outcome text,
  direction text not null check (direction in ('outbound', 'inbound')),
  simulated boolean not null,
  from_number bigint not null,
  to_number bigint not null,
  -- An inbound call may find no agent.
  agent_id text,
  -- One that was given up from a pool never had a number.
  phone_number_id uuid,
  campaign_id uuid,
  contact_id uuid,
  attempt smallint not null,
  -- The process that holds the call, when it is to be placed, and when that is too late.
  server_id uuid,
  start_at timestamptz not null,
  place_before timestamptz not null,
  ring_timeout_seconds integer not null,
  max_call_seconds integer not null,
  metadata jsonb not null default '{}',
  queued_at timestamptz not null,
  dialed_at timestamptz,
  ringing_at timestamptz,
  answered_at timestamptz,
  ended_at timestamptz,
  ended_by text,
  end_requested_at timestamptz,
  sip_status smallint,
  result jsonb,
  workflow_run_id uuid,
  variables jsonb,
  -- Whether the call counts on its number's usage.
  pooled boolean not null default false,
  trunk_id uuid,
  sip_reason text,
  release_cause smallint,
  codec text,
  packets_received integer,
  packets_lost integer,
  -- The agent that it counts for; null where that has no limit, so that other calls stand in no index for it.
  limited_agent_id uuid,
  -- What clients find their calls by again. Null where there are none, so that calls without them pay for no index.
  external_id text,
  tags text[],
  reason text,
  primary key (workspace_id, id)
) with (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
-- Nor in one attempt: one call per attempt of a contact.
create unique index calls_contact_attempt on calls (workspace_id, contact_id, attempt);
create index calls_campaign on calls (workspace_id, campaign_id, id);
create index calls_to_number on calls (workspace_id, to_number, id);
create index calls_live_server on calls (server_id) where ended_at is null;
-- One call per attempt of a run: an attempt is committed before it is placed.
create unique index calls_run_attempt on calls (workspace_id, workflow_run_id, attempt)
  where workflow_run_id is not null;
-- Calls whose end was asked for and has not come.
create index calls_end_requested on calls (server_id) where ended_at is null and end_requested_at is not null;
-- Nobody is dialled twice: one live call a person, but any number of callers at one of our numbers.
create unique index calls_live_number on calls (workspace_id, to_number, (case when direction = 'inbound' then id end))
  nulls not distinct where ended_at is null;
-- By the number's key alone, so that no plan can read the calls of its workspace instead.
create index calls_live_phone_number on calls (phone_number_id) where ended_at is null;
-- Calls that are up over a trunk, found by its key alone, as those of a number are.
create index calls_live_trunk on calls (trunk_id) where ended_at is null and trunk_id is not null;
create index calls_live_agent on calls (workspace_id, limited_agent_id)
  where ended_at is null and limited_agent_id is not null;
create index calls_external_id on calls (workspace_id, external_id, id) where external_id is not null;
-- For exports, and for figures over time.
create index calls_queued on calls (workspace_id, queued_at, id);
create index calls_tagged on calls (workspace_id, id) where tags is not null;
-- Only calls that arrive bear these two: whoever is called pays nothing for them.
create index calls_inbound on calls (workspace_id, id) where direction = 'inbound';
create index calls_from_number on calls (workspace_id, from_number, id) where direction = 'inbound';

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
  -- The erasure that waits until the file is gone.
  erasure_id uuid,
  primary key (workspace_id, room_id),
  foreign key (workspace_id, room_id) references calls
);
create index call_recordings_open on call_recordings (created_at) where status = 'recording';
create index call_recordings_kept on call_recordings (stored_at) where status = 'stored';
create index call_recordings_to_erase on call_recordings (workspace_id, room_id)
  where status = 'deleted' and erased_at is null;
-- Only what adds the sizes up says so of them.
create index call_recordings_sizes on call_recordings (workspace_id) include (size_bytes)
  where status in ('recording', 'stored') and size_bytes > 0;

-- What was said on calls, by their agents' account. It can be a megabyte: so it is read with one call only.
create table call_transcripts (
  workspace_id uuid not null references workspaces on delete cascade,
  room_id uuid not null,
  turns jsonb not null,
  primary key (workspace_id, room_id)
);

-- Calls that were asked for by themselves, until they have ended or were given up: what is not placed takes no place
-- among the calls. Their IDs are those of their calls.
create table call_intents (
  workspace_id uuid not null references workspaces on delete cascade,
  id uuid not null,
  -- E.164 without the plus.
  to_number bigint not null,
  agent_id text not null,
  -- The number that calls, or else the pool that it is chosen from.
  phone_number_id uuid,
  from_number bigint,
  number_pool_id uuid,
  simulated boolean not null,
  variables jsonb not null,
  metadata jsonb not null,
  external_id text,
  tags text[],
  expires_at timestamptz not null,
  timezone text not null,
  calling_windows jsonb,
  callee_time_zone text not null check (callee_time_zone in ('strictest', 'campaign')),
  ring_timeout_seconds integer not null,
  max_call_seconds integer not null,
  -- Counts every dial.
  attempt smallint not null default 0,
  -- When it is looked at. Null while its call stands among the calls.
  next_attempt_at timestamptz,
  -- Why it was not placed when it was looked at last, and how often in a row that was so.
  reason text,
  checks smallint not null default 0,
  looked_at timestamptz,
  created_at timestamptz not null,
  primary key (workspace_id, id),
  check ((phone_number_id is null) <> (number_pool_id is null))
) with (fillfactor = 70);
create index call_intents_due on call_intents (next_attempt_at) where next_attempt_at is not null;
create index call_intents_due_of on call_intents (workspace_id, next_attempt_at) where next_attempt_at is not null;
create index call_intents_expiring on call_intents (expires_at) where next_attempt_at is not null;
create index call_intents_blocked on call_intents (workspace_id, looked_at)
  where next_attempt_at is not null and looked_at is not null;
create index call_intents_without_room on call_intents (workspace_id, next_attempt_at)
  where next_attempt_at is not null and reason = 'limit_reached';
create index call_intents_external_id on call_intents (workspace_id, external_id) where external_id is not null;

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
comment on column calls.from_number is '0 where an inbound caller withheld the number';
`;
