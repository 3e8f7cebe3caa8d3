import { type Kysely, sql } from 'kysely';

/** Block ranges grow together as room of deleted keys is used again: then each look for old ones read all. */
const keys = `
drop index idempotency_keys_created_at;
create index idempotency_keys_created_at on idempotency_keys (created_at);`;

/** When a blocked run was looked at last, or was to be: what has changed since concerns it, and no other is read. */
const runs = `
alter table workflow_runs add column looked_at timestamptz;
update workflow_runs set looked_at = updated_at where blocked_since is not null;
drop index workflow_runs_blocked;
create index workflow_runs_blocked on workflow_runs (workspace_id, looked_at) where blocked_since is not null;
create index workflow_runs_no_room on workflow_runs (workspace_id, due_at)
  where blocked_since is not null and error ->> 'code' = 'limit_reached';`;

/** Has what is looked for again and again found along an index, however much else there is. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(`select set_config('trunkline.engine', 'on', true)`).execute(db);
  for (const text of [keys, runs]) await sql.raw(text).execute(db);
}
