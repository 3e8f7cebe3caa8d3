import { type Kysely, sql } from 'kysely';
import { tenancy } from './tenancy.ts';

export const release = '0.3.0';
export const oldestServer = '0.2.0';

/** Digits that are asked for in calls, for the server that holds the call; and how a trunk is sent digits. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table call_dtmf (
      workspace_id uuid not null references workspaces on delete cascade,
      id uuid not null,
      room_id uuid not null,
      status text not null check (status in ('waiting', 'sending', 'sent', 'failed')),
      reason text,
      requested_at timestamptz not null,
      ended_at timestamptz,
      -- Only as long as they wait.
      digits text,
      primary key (workspace_id, id)
    )`.execute(db);
  await sql`create index call_dtmf_open on call_dtmf (requested_at) where ended_at is null`.execute(db);
  await sql`create index call_dtmf_room on call_dtmf (workspace_id, room_id)`.execute(db);
  await sql.raw(tenancy('call_dtmf')).execute(db);
  await sql`alter table trunks add column dtmf text not null default 'rtp' check (dtmf in ('rtp', 'info'))`.execute(db);
}
