import { type Kysely, sql } from 'kysely';

/** The agent that a call counts for; null where that has no limit, so that other calls stand in no index for it. */
const calls = `
alter table calls add column limited_agent_id uuid;
create index calls_live_agent on calls (workspace_id, limited_agent_id)
  where ended_at is null and limited_agent_id is not null;
update calls c set limited_agent_id = a.id from agents a
  where a.workspace_id = c.workspace_id and c.agent_id = 'agent_' || replace(a.id::text, '-', '')
    and a.max_concurrent_calls is not null and c.ended_at is null;`;

/** Lets an agent's calls be counted over all that calls with it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(`select set_config('trunkline.engine', 'on', true)`).execute(db);
  await sql.raw(calls).execute(db);
}
