import { type Kysely, sql } from 'kysely';
import { tenancy } from './tenancy.ts';

export const release = '0.3.0';
export const oldestServer = '0.2.0';

/** Calls that are handed on to another party. The leg to that is a call of its own, whose owner this is. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table call_transfers (
      workspace_id uuid not null references workspaces on delete cascade,
      id uuid not null,
      room_id uuid not null,
      status text not null check (status in ('waiting', 'dialing', 'joined', 'failed')),
      -- E.164 without the plus.
      to_number bigint not null,
      timeout_seconds integer not null,
      reason text,
      -- Of the leg, once it was queued.
      leg_room_id uuid,
      requested_at timestamptz not null,
      settled_at timestamptz,
      primary key (workspace_id, id)
    )`.execute(db);
  await sql`create unique index call_transfers_open on call_transfers (workspace_id, room_id) where status <> 'failed'`.execute(
    db,
  );
  await sql`create index call_transfers_room on call_transfers (workspace_id, room_id)`.execute(db);
  await sql`create index call_transfers_waiting on call_transfers (requested_at) where status = 'waiting'`.execute(db);
  await sql.raw(tenancy('call_transfers')).execute(db);
  await sql`update installation set erasure_steps = array_append(erasure_steps, 'call_transfers')`.execute(db);
}
