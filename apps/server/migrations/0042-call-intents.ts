import { type Kysely, sql } from 'kysely';
import { tenancy } from './tenancy.ts';

const schema = `
-- Calls that were asked for by themselves, until they have ended or were given up: what is not placed takes no place among
-- the calls. Their IDs are those of their calls.
create table call_intents (
  workspace_id uuid not null references workspaces (id) on delete cascade,
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
  callee_time_zone text not null,
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
  check (callee_time_zone in ('strictest', 'campaign')),
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
${tenancy('call_intents')}

-- One that was given up from a pool never had a number.
alter table calls alter column phone_number_id drop not null;
alter table calls add column reason text;

-- A room that was given back before its INVITE left can be placed again, as its next attempt.
alter table sip_calls add column attempt smallint not null default 1;`;

/** Calls that are placed one by one. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(schema).execute(db);
}
