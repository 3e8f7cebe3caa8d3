import { type Kysely, sql } from 'kysely';
import { tenancy } from './tenancy.ts';

const tables = `
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
  -- The server that sends to it now. It holds the endpoint as long as its lease (engine.md, "Leases").
  server_id uuid,
  -- Nothing is sent to it before then.
  resting_until timestamptz,
  -- It was disabled then: what was made before and still waits is to end as failed.
  ending_before timestamptz,
  -- Its deliveries are being erased, and then the row.
  deleted_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  primary key (workspace_id, id)
) with (fillfactor = 50);

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
  primary key (workspace_id, webhook_id, id),
  foreign key (workspace_id, webhook_id) references webhooks
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
-- An event goes to an endpoint once, however often it is handed over.
create unique index webhook_deliveries_event on webhook_deliveries (workspace_id, webhook_id, event_id)
  where order_key <> id;
create index webhook_deliveries_due on webhook_deliveries (workspace_id, webhook_id, next_attempt_at, id)
  where status = 'pending';
create index webhook_deliveries_order on webhook_deliveries (workspace_id, webhook_id, order_key, order_number)
  where status = 'pending';
create index webhook_deliveries_created_at on webhook_deliveries (created_at);

-- The endpoints that an event is still to be handed over to.
alter table events add column hand_over_to uuid[];
create index events_to_hand_over on events (workspace_id, resource_id, revision) where hand_over_to is not null;
`;

/** Endpoints that are told what happens, and what is on its way to them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(tables).execute(db);
  for (const table of ['webhooks', 'webhook_deliveries']) await sql.raw(tenancy(table)).execute(db);
}
