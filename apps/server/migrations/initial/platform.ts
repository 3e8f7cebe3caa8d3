/** The platform: workspaces, keys, events and who is told of them, numbers that are not to be called. */
export const platform = `
create table workspaces (
  id uuid primary key,
  name text not null,
  max_concurrent_calls integer,
  max_attempts_per_person_per_day integer,
  max_calls_per_day integer,
  max_numbers_per_day integer,
  allowed_countries text[],
  quiet_hours_start smallint,
  quiet_hours_end smallint,
  dialing_paused_at timestamptz,
  inbound_secret text,
  revision bigint not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  premium_rate_allowed boolean not null default false,
  quiet_windows jsonb,
  -- Dates on which nobody is called.
  holidays text[] not null default '{}',
  -- Rises with each change that forbids calls: a call that was claimed under another is looked at again before it is
  -- placed.
  do_not_call_revision bigint not null default 0,
  -- How often one person may be called in so many hours: a list of {attempts, hours}; null where nothing of it binds.
  max_attempts_per_person jsonb,
  -- Whether nobody has set the quiet hours, and who is free of them then.
  quiet_hours_are_default boolean not null default false,
  trusted_numbers bigint[] not null default '{}'
);

create table workspace_usage (
  workspace_id uuid not null references workspaces,
  day date not null,
  calls integer not null default 0,
  numbers_bought integer not null default 0,
  primary key (workspace_id, day)
) with (fillfactor = 50);

create table api_keys (
  workspace_id uuid not null references workspaces,
  id uuid not null,
  hash bytea not null unique,
  name text not null,
  prefix text not null,
  permissions text[] not null,
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  created_at timestamptz not null,
  primary key (workspace_id, id)
);

create table idempotency_keys (
  workspace_id uuid not null,
  operation text not null,
  key text not null,
  fingerprint bytea not null,
  resource_id uuid,
  created_at timestamptz not null,
  primary key (workspace_id, operation, key)
);
create index idempotency_keys_created_at on idempotency_keys (created_at);

-- One row per live server process; every claim is held by one of them.
create table servers (
  id uuid primary key,
  started_at timestamptz not null default clock_timestamp(),
  lease_until timestamptz not null,
  -- Whether it registers with trunks, so that servers share them.
  registers boolean not null default false
);

-- One row: what tells this database from an older copy of itself.
create table installation (
  singleton boolean primary key default true check (singleton),
  id uuid not null default gen_random_uuid(),
  system_identifier text,
  timeline integer,
  watermark bigint not null default 0,
  witnessed boolean not null default false,
  held_at timestamptz,
  held_reason text,
  -- An HMAC of no number, written with the first erased one: it shows a server whether it has the key of the others.
  number_check bytea
);
insert into installation default values;

create table audit_log (
  workspace_id uuid not null,
  id uuid not null,
  key_id uuid not null,
  action text not null,
  resource_type text not null,
  resource_id text not null,
  address text not null,
  request_id text not null,
  created_at timestamptz not null,
  primary key (workspace_id, id)
);
create index audit_log_created_at on audit_log (workspace_id, created_at, id);

create table do_not_call (
  workspace_id uuid not null references workspaces,
  phone_number bigint not null,
  reason text,
  created_at timestamptz not null,
  primary key (workspace_id, phone_number)
);
-- It holds all opt-outs. Only who reads a page says so: no claim is led to it.
create index do_not_call_listed on do_not_call (workspace_id, created_at, phone_number)
  where created_at > 'epoch';

-- Opt-outs of numbers that were erased: an HMAC of each, whose key is not in the database.
create table do_not_call_erased (
  workspace_id uuid not null references workspaces,
  digest bytea not null,
  created_at timestamptz not null,
  primary key (workspace_id, digest)
);
`;
