import { sql } from 'kysely';
import type { Database } from '../../src/database/database.ts';
import { newUuid } from '../../src/ids.ts';

/** Sleeping runs of a workflow, each with a key and a step, by one transaction; no statistics are taken. */
export async function seedMany(database: Database, workspaceId: string, runs: number): Promise<void> {
  const workflowId = newUuid();
  const those = sql`from workflow_runs where workspace_id = ${workspaceId} and workflow_id = ${workflowId}`;
  await database.inEngine(async ({ db }) => {
    await sql`
      insert into workflow_runs (workspace_id, id, workflow_id, version, workflow_name, status, concurrency_key, node_id,
        context, wake_at, due_at, created_at, updated_at)
      select ${workspaceId}, gen_random_uuid(), ${workflowId}, 1, 'Many', 'waiting_schedule', gen_random_uuid(), 'later',
        '{}', '2100-01-01', '2100-01-01', '2026-03-10', '2026-03-10'
      from generate_series(1, ${runs}::integer)`.execute(db);
    await sql`
      insert into concurrency_keys (workspace_id, key, active_run, cooldown_minutes)
      select workspace_id, concurrency_key, id, 0 ${those}`.execute(db);
    await sql`
      insert into workflow_run_steps (workspace_id, run_id, step, node_id, status, started_at)
      select workspace_id, id, 1, 'later', 'waiting', created_at ${those}`.execute(db);
  });
}
