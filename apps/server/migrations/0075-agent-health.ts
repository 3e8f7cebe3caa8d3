import { type Kysely, sql } from 'kysely';
import { tenancy } from './tenancy.ts';

export const release = '0.2.0';
export const oldestServer = '0.2.0';

const table = `
-- How agents have fared in calls, wherever they are known: by the ID that calls name them by. One of which no call has ended
-- yet has no row.
create table agent_health (
  workspace_id uuid not null,
  agent_id text not null,
  -- Calls in a row in which it failed and was never heard, and why in the last one.
  failures smallint not null default 0,
  reason text,
  failed_at timestamptz,
  -- When it was first heard in the latest call in which it was.
  heard_at timestamptz,
  -- Since when nobody is called for it, until a check or a person opens it again.
  failing_since timestamptz,
  primary key (workspace_id, agent_id)
) with (fillfactor = 50);
`;

const reasons = `
alter table campaigns drop constraint campaigns_pause_reason_check;
alter table campaigns add constraint campaigns_pause_reason_check check (pause_reason in ('calls_failing', 'agent_failing'));
`;

/** Keeps what calls have shown of their agents. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(table + tenancy('agent_health') + reasons).execute(db);
}
