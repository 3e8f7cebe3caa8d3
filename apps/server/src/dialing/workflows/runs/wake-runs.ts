import { sql } from 'kysely';
import type { Database } from '../../../foundation/database/database.ts';
import { together } from '../../../foundation/database/together.ts';
import type { Clock } from '../../../foundation/values/clock.ts';
import { type AuditEntry, audit } from '../../../platform/journal/record.ts';

/**
 * Has runs of a workflow that sleep at a wait go on at once: those that hold one of the keys. Answers their keys. A run
 * that is due already, or was just woken, is not woken again, also by a server whose clock is behind.
 */
export async function wakeRuns(
  deps: { database: Database; clock: Clock; nudge: () => void },
  workspaceId: string,
  workflowId: string,
  concurrencyKeys: readonly string[],
  auditEntry: AuditEntry,
): Promise<string[]> {
  const now = deps.clock.now();
  const woken = await deps.database.inWorkspace(workspaceId, async (tx) => {
    // Each by its whole key: a list of keys is looked for in all of a workspace, by a plan from when there were few runs.
    const held = await sql<{ active_run: string }>`
      select k.active_run from unnest(${concurrencyKeys}::text[]) as x (key)
      cross join lateral (
        select active_run from concurrency_keys
        where workspace_id = ${workspaceId} and key = x.key and active_run is not null limit 1) as k
      order by k.active_run`.execute(tx.db);
    const updates = held.rows.map(
      ({ active_run }) => sql<{ concurrency_key: string }>`
        update workflow_runs set due_at = ${now}, wake_at = ${now}, revision = revision + 1, updated_at = ${now}
        where workspace_id = ${workspaceId} and workflow_id = ${workflowId} and id = ${active_run}
          and status = 'waiting_schedule' and wake_at > greatest(${now}, updated_at)
        returning concurrency_key`,
    );
    const woken = await together(tx, updates);
    await audit(tx, auditEntry, now);
    return woken.flatMap(({ rows }) => rows.map((row) => row.concurrency_key));
  });
  if (woken.length > 0) deps.nudge();
  return woken;
}
