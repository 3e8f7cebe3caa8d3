import { type Kysely, sql } from 'kysely';
import { tenancy } from './tenancy.ts';

const tables = `
-- How many calls at once agents take that are known elsewhere, where their directory says it.
create table agent_limits (
  workspace_id uuid not null,
  agent_id text not null,
  -- What their calls count for.
  id uuid not null,
  max_concurrent_calls integer not null,
  primary key (workspace_id, agent_id)
);
${tenancy('agent_limits')}
`;

/** Limits of agents that are known elsewhere. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(tables).execute(db);
}
