import { type Kysely, sql } from 'kysely';
import { tenancy } from './tenancy.ts';

/** Tables that hold a workspace's data: each is walled off by row-level security (engine.md, "Tenancy"). */
const tenantTables = [
  'api_keys',
  'workspace_usage',
  'idempotency_keys',
  'events',
  'audit_log',
  'phone_numbers',
  'contact_lists',
  'contact_list_uploads',
  'contact_list_entries',
  'do_not_call',
  'campaigns',
  'campaign_lists',
  'campaign_lanes',
  'campaign_contacts',
  'calls',
];

const tables = `
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
  updated_at timestamptz not null
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
  workspace_id uuid not null references workspaces,
  operation text not null,
  key text not null,
  fingerprint bytea not null,
  resource_id uuid,
  created_at timestamptz not null,
  primary key (workspace_id, operation, key)
);

-- One row per live server process; every claim is held by one of them.
create table servers (
  id uuid primary key,
  started_at timestamptz not null default clock_timestamp(),
  lease_until timestamptz not null
);

create table events (
  workspace_id uuid not null references workspaces,
  resource_id uuid not null,
  revision bigint not null,
  id uuid not null,
  type text not null,
  data jsonb not null,
  created_at timestamptz not null,
  primary key (workspace_id, resource_id, revision)
);
create index events_created_at on events (created_at);

create table audit_log (
  workspace_id uuid not null references workspaces,
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
  sip_termination_url text,
  sip_username text,
  sip_password text,
  sip_transport text,
  sip_ip_allowlist text[],
  trunk_checked_at timestamptz,
  trunk_valid boolean,
  trunk_detail text,
  -- When a server has to look at the number next: settle its purchase or release, or check its trunk.
  due_at timestamptz,
  -- The status that it goes back to if its provider refuses the release that is under way.
  releasing_from text check (releasing_from in ('active', 'suspended')),
  revision bigint not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, id)
);
create unique index phone_numbers_number on phone_numbers (workspace_id, phone_number) where status <> 'released';
create index phone_numbers_due on phone_numbers (due_at) where due_at is not null;

create table contact_lists (
  workspace_id uuid not null references workspaces,
  id uuid not null,
  name text not null,
  type text not null check (type in ('contacts', 'dnd', 'batch')),
  status text not null check (status in ('draft', 'ready', 'archived')),
  default_country text,
  -- The variables of all its files. Only ever appended to, so that "values" of entries and contacts stay aligned.
  columns text[] not null default '{}',
  total_entries integer not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, id)
);

create table contact_list_uploads (
  workspace_id uuid not null,
  id uuid not null,
  list_id uuid not null,
  file_name text not null,
  storage_key text not null unique,
  status text not null check (status in
    ('pending', 'uploaded', 'validating', 'validated', 'processing', 'processed', 'failed', 'expired')),
  url_expires_at timestamptz not null,
  uploaded_at timestamptz,
  validated_at timestamptz,
  processed_at timestamptz,
  rows_read integer not null default 0,
  bytes_read bigint not null default 0,
  bytes_total bigint not null default 0,
  total_rows integer not null default 0,
  valid_rows integer not null default 0,
  invalid_rows integer not null default 0,
  duplicate_rows integer not null default 0,
  imported_rows integer not null default 0,
  error_rows integer[] not null default '{}',
  error_report_key text,
  failure_code text,
  failure_message text,
  revision bigint not null default 1,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, id),
  foreign key (workspace_id, list_id) references contact_lists
) with (fillfactor = 50);
create index contact_list_uploads_list on contact_list_uploads (workspace_id, list_id, id);
create index contact_list_uploads_open on contact_list_uploads (status) where status in ('pending', 'uploaded', 'validating', 'validated', 'processing');

-- An entry counts as soon as its upload is 'processed': confirming a first file is a change of state, not a copy.
-- COPY refuses tables with row-level security. Its one partition has none, and only the import writes there.
create table contact_list_entries (
  workspace_id uuid not null,
  upload_id uuid not null,
  phone_number bigint not null,
  row_number integer not null,
  name text,
  timezone text,
  "values" text[] not null
) partition by list (workspace_id);
create table contact_list_entries_all partition of contact_list_entries default;
create unique index contact_list_entries_number on contact_list_entries (workspace_id, upload_id, phone_number);
create index contact_list_entries_row on contact_list_entries (workspace_id, upload_id, row_number);

create table do_not_call (
  workspace_id uuid not null references workspaces,
  phone_number bigint not null,
  reason text,
  created_at timestamptz not null,
  primary key (workspace_id, phone_number)
);

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
  status text not null check (status in
    ('draft', 'scheduled', 'running', 'paused', 'completed', 'stopped', 'cancelled', 'failed')),
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
  failure_reason text check (failure_reason in
    ('no_callable_contacts', 'no_outbound_number', 'agent_unavailable', 'billing', 'trunk_failure', 'internal')),
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
  primary key (workspace_id, id),
  foreign key (workspace_id, phone_number_id) references phone_numbers
) with (fillfactor = 25);
create index campaigns_live on campaigns (status, workspace_id, id) where status in ('scheduled', 'running', 'paused');

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

-- A time zone of a campaign's contacts, and the next (or current) stretch in which they may be called.
create table campaign_lanes (
  workspace_id uuid not null,
  campaign_id uuid not null,
  lane smallint not null,
  timezone text not null,
  opens_at timestamptz not null,
  closes_at timestamptz not null,
  primary key (workspace_id, campaign_id, lane),
  unique (workspace_id, campaign_id, timezone),
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
  primary key (workspace_id, campaign_id, id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
-- The number leads, so that this index is no match for the primary key where a contact is named by its ID.
create unique index campaign_contacts_number on campaign_contacts (workspace_id, phone_number, campaign_id);
-- A campaign has one workspace: without this the planner takes the two for independent and expects next to no rows.
create statistics campaign_contacts_keys (dependencies, ndistinct) on workspace_id, campaign_id from campaign_contacts;
create index campaign_contacts_claim on campaign_contacts (workspace_id, campaign_id, lane, state, next_attempt_at, id)
  where state in ('pending', 'waiting');

create table calls (
  workspace_id uuid not null references workspaces,
  id uuid not null,
  status text not null check (status in
    ('queued', 'dialing', 'ringing', 'in_progress', 'completed', 'failed', 'cancelled')),
  outcome text,
  direction text not null check (direction in ('outbound', 'inbound')),
  simulated boolean not null,
  from_number bigint not null,
  to_number bigint not null,
  agent_id text not null,
  phone_number_id uuid not null,
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
  primary key (workspace_id, id)
) with (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
-- Nobody is dialled twice: one live call a person, one call per attempt of a contact.
create unique index calls_live_number on calls (workspace_id, to_number) where ended_at is null;
create unique index calls_contact_attempt on calls (workspace_id, contact_id, attempt);
create index calls_campaign on calls (workspace_id, campaign_id, id);
create index calls_to_number on calls (workspace_id, to_number, id);
create index calls_live_server on calls (server_id) where ended_at is null;
`;

/** Everything that one campaign needs. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(tables).execute(db);
  for (const table of tenantTables) await sql.raw(tenancy(table)).execute(db);
  await sql
    .raw(`
alter table workspaces enable row level security;
alter table workspaces force row level security;
create policy tenant on workspaces using (
  id = (select nullif(current_setting('trunkline.workspace', true), '')::uuid)
  or (select current_setting('trunkline.engine', true)) = 'on'
);`)
    .execute(db);
}
