/** What happens, and who is told of it. */
export const events = `
create table events (
  workspace_id uuid not null,
  resource_id uuid not null,
  revision bigint not null,
  id uuid not null,
  type text not null,
  data jsonb not null,
  created_at timestamptz not null,
  primary key (workspace_id, resource_id, revision)
);
create index events_created_at on events (created_at);

-- To note on an event that it has been handed over would write its whole row again, and all its indexes.
create table events_to_hand_over (
  workspace_id uuid not null,
  resource_id uuid not null,
  revision bigint not null,
  webhook_ids uuid[] not null,
  primary key (workspace_id, resource_id, revision)
) with (autovacuum_vacuum_scale_factor = 0.02);

create table webhooks (
  workspace_id uuid not null references workspaces,
  id uuid not null,
  url text not null,
  description text,
  event_types text[] not null,
  status text not null check (status in ('enabled', 'disabled')),
  disabled_reason text check (disabled_reason in ('requested', 'gone')),
  secret text not null,
  -- Signs too, until then.
  previous_secret text,
  previous_secret_until timestamptz,
  -- The server that sends to it now. It holds the endpoint as long as its lease (dialing.md, "Leases").
  server_id uuid,
  -- Nothing is sent to it before then.
  resting_until timestamptz,
  -- It was disabled then: what was made before and still waits is to end as failed.
  ending_before timestamptz,
  -- Its deliveries are being erased, and then the row.
  deleted_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  -- What alone an endpoint is told of, by the IDs that clients see; all three null: everything.
  campaign_ids text[],
  batch_ids text[],
  tags text[],
  primary key (workspace_id, id)
) with (fillfactor = 50);

-- Every delivery is written twice, and each index with it, so there are few. An endpoint's row outlives its deliveries
-- (retention.ts), which are read by age through the primary key: their IDs are by time.
create table webhook_deliveries (
  workspace_id uuid not null,
  webhook_id uuid not null,
  id uuid not null,
  event_id uuid not null,
  event_type text not null,
  -- What must arrive in order: the resource and its revision. A replay or a test is in order with nothing: its own ID.
  order_key uuid not null,
  order_number bigint not null,
  payload text not null,
  status text not null check (status in ('pending', 'delivered', 'failed')),
  attempts smallint not null default 0,
  last_status_code smallint,
  last_error text,
  last_duration_ms integer,
  next_attempt_at timestamptz,
  delivered_at timestamptz,
  created_at timestamptz not null,
  primary key (workspace_id, webhook_id, id)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
create index webhook_deliveries_due on webhook_deliveries (workspace_id, webhook_id, next_attempt_at, id)
  where status = 'pending';
create index webhook_deliveries_order on webhook_deliveries (workspace_id, webhook_id, order_key, order_number)
  where status = 'pending';
`;
