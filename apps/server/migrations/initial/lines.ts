/** Lines: trunks, numbers and their pools, and what SIP and the simulator remember of their calls. */
export const lines = `
create table trunks (
  workspace_id uuid not null references workspaces,
  id uuid not null,
  termination_url text not null,
  transport text not null check (transport in ('auto', 'udp', 'tcp', 'tls')),
  outbound_proxy text,
  username text,
  password text,
  -- The number that the password was encrypted for, where it came from one; null where it was encrypted for the trunk.
  password_of uuid,
  auth_username text,
  from_user text,
  from_domain text,
  register boolean not null default false,
  register_expires_seconds integer not null default 3600,
  ip_allowlist text[] not null default '{}',
  probe text not null default 'options' check (probe in ('options', 'register', 'none')),
  max_channels integer,
  calls_per_second double precision not null default 1,
  number_format text not null default 'e164_plus' check (number_format in ('e164_plus', 'e164', 'national',
    'international_prefix')),
  country text,
  dial_prefix text,
  caller_id_header text not null default 'from' check (caller_id_header in ('from', 'pai', 'ppi', 'rpid')),
  codecs text[] not null default '{PCMU,PCMA}',
  media_encryption text not null default 'none' check (media_encryption in ('none')),
  headers jsonb not null default '{}',
  status text not null default 'paused' check (status in ('active', 'paused')),
  reason text default 'unchecked',
  message text,
  status_since timestamptz not null,
  paused_by_number_id uuid,
  paused_by_pool_id uuid,
  checked_at timestamptz,
  -- When it is to be checked next.
  due_at timestamptz,
  -- The next free slot of its pace: moved by the claims that give starts, under its lock.
  next_start_at timestamptz not null default 'epoch',
  revision bigint not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- Whether who knows its username and password may call from elsewhere.
  inbound_digest boolean not null default false,
  primary key (workspace_id, id),
  check ((status = 'active') = (reason is null))
) with (fillfactor = 50);
create unique index trunks_identity on trunks (workspace_id, lower(termination_url), transport, coalesce(username, ''));
create index trunks_due on trunks (due_at) where due_at is not null;
create index trunks_inbound_digest on trunks (id) where inbound_digest;

-- How calls over a trunk fare: apart from it, since ends of calls write it, and claims lock the trunk before the calls.
create table trunk_health (
  workspace_id uuid not null,
  trunk_id uuid not null,
  -- The last calls in a row whose numbers it didn't know, or that brought no sound; at most ten and three.
  unknown_calls uuid[] not null default '{}',
  silent_calls uuid[] not null default '{}',
  -- Answers in a row that it had no room for, less those that it had again.
  full_answers smallint not null default 0,
  slowed_since timestamptz,
  slowed_until timestamptz,
  primary key (workspace_id, trunk_id),
  foreign key (workspace_id, trunk_id) references trunks on delete cascade
) with (fillfactor = 50);

-- Which server registers with a trunk, and how that stands. A row that is old is free for the next server.
create table trunk_registrations (
  workspace_id uuid not null,
  trunk_id uuid not null,
  server_id uuid not null,
  lease_until timestamptz not null,
  standing text not null default 'registering' check (standing in ('registering', 'registered', 'failed')),
  message text,
  registered_at timestamptz,
  primary key (workspace_id, trunk_id),
  foreign key (workspace_id, trunk_id) references trunks on delete cascade
) with (fillfactor = 50);

create table phone_numbers (
  workspace_id uuid not null references workspaces,
  id uuid not null,
  phone_number text not null,
  friendly_name text,
  label text,
  country text,
  status text not null check (status in ('provisioning', 'active', 'failed', 'suspended', 'released')),
  provider text not null check (provider in ('simulator', 'twilio', 'telnyx', 'sip')),
  provider_number_id text,
  provider_monthly_cost numeric,
  provider_currency text,
  inbound_agent_id text,
  inbound_agent_name text,
  outbound_agent_id text,
  outbound_agent_name text,
  inbound_webhook_url text,
  allowed_inbound_countries text[] not null default '{}',
  allowed_outbound_countries text[] not null default '{}',
  -- When a server has to look at the number next: settle its purchase or release, or check its trunk.
  due_at timestamptz,
  -- The status that it goes back to if its provider refuses the release that is under way.
  releasing_from text check (releasing_from in ('active', 'suspended')),
  revision bigint not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  trunk_id uuid,
  use_same_for_inbound boolean not null default false,
  primary key (workspace_id, id),
  foreign key (workspace_id, trunk_id) references trunks
);
create unique index phone_numbers_number on phone_numbers (workspace_id, phone_number) where status <> 'released';
create index phone_numbers_due on phone_numbers (due_at) where due_at is not null;
create index phone_numbers_trunk on phone_numbers (workspace_id, trunk_id) where trunk_id is not null;
-- Whose number it is: one workspace's of a server, from the purchase or the import on.
create unique index phone_numbers_owner on phone_numbers (phone_number) where status in ('provisioning', 'active');
-- What is blocked is looked at again once a number or pool of its workspace has changed. Only a query that says the
-- condition can take these: for a number that is looked up by its ID, the planner would read all of its workspace's where
-- it takes them for few.
create index phone_numbers_changed on phone_numbers (workspace_id, updated_at) where updated_at > 'epoch';

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
create index number_pools_changed on number_pools (workspace_id, updated_at) where updated_at > 'epoch';

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

-- What the SIP adapter remembers of its calls. A room stands here before its INVITE leaves.
create table sip_calls (
  room_id uuid primary key,
  workspace_id uuid not null,
  -- The server whose sockets the call's messages go through.
  server_id uuid not null,
  -- Enough for another process to end the call.
  dialog json,
  begun_at timestamptz not null,
  ringing_at timestamptz,
  answered_at timestamptz,
  ended_at timestamptz,
  outcome text,
  ended_by text,
  sip_status smallint,
  sip_reason text,
  cause smallint,
  codec text,
  packets_received bigint,
  packets_lost bigint,
  -- What the call's two sides said, redacted: kept after its end, for some days.
  messages json,
  -- Whose credentials answer a challenge, should another server end the call.
  trunk_id uuid,
  -- A room that was given back before its INVITE left can be placed again, as its next attempt.
  attempt smallint not null default 1
) with (fillfactor = 70);
create index sip_calls_messages on sip_calls (ended_at) where messages is not null;
create index sip_calls_workspace on sip_calls (workspace_id, room_id);

-- What the simulated provider knows. Its world is its own: no workspace, no foreign keys.
create table simulator_calls (
  room_id uuid primary key,
  to_number text not null,
  attempt integer not null,
  placed_at timestamptz not null,
  ring_timeout_seconds integer not null,
  max_call_seconds integer not null,
  ended_at timestamptz,
  ended_by text,
  outcome text,
  placements integer not null default 1
);

create table simulator_numbers (
  phone_number text primary key,
  idempotency_key text not null unique,
  bought_at timestamptz not null
);
`;
