import { type Kysely, sql } from 'kysely';

const indexes = `
-- Only calls that arrive bear it: whoever is called pays nothing for it.
create index calls_inbound on calls (workspace_id, id) where direction = 'inbound';
create index workflow_runs_key on workflow_runs (workspace_id, concurrency_key, id) where concurrency_key is not null;
create index exports_listed on exports (workspace_id, created_at, id);
`;

/** Lists of calls that arrived, of runs by their key, and of exports are read along an index. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(indexes).execute(db);
}
