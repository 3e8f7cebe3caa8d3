import { type Kysely, sql } from 'kysely';
import { tenancy } from './tenancy.ts';

const tables = `
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
  packets_lost bigint
) with (fillfactor = 70);
${tenancy('sip_calls')}
`;

/** Calls over SIP. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(tables).execute(db);
}
