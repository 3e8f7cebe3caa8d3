import { sql } from 'kysely';
import type { Clock } from '../../clock.ts';
import type { Database } from '../../database/database.ts';
import { type AuditEntry, audit } from '../../journal/record.ts';

/**
 * Has runs of a workflow that sleep at a wait go on at once: those that hold one of the keys. Answers their keys. A run
 * that is due already, or was just woken, is not woken again.
 */
export async function wakeRuns(
  deps: { database: Database; clock: Clock; nudge: () => void },
  workspaceId: string,
  workflowId: string,
  concurrencyKeys: readonly string[],
  actor: AuditEntry,
): Promise<string[]> {
  const now = deps.clock.now();
  const woken = await deps.database.inWorkspace(workspaceId, async (tx) => {
    // By constant keys: joined, without statistics every run of the workflow was read for each key.
    const held = await sql<{ active_run: string }>`
      select active_run from concurrency_keys
      where workspace_id = ${workspaceId} and key = any(${concurrencyKeys}::text[]) and active_run is not null`.execute(
      tx.db,
    );
    const ids = held.rows.map((row) => row.active_run).sort();
    const { rows } = await sql<{ concurrency_key: string }>`
      update workflow_runs set due_at = ${now}, wake_at = ${now}, revision = revision + 1, updated_at = ${now}
      where workspace_id = ${workspaceId} and id = any(${ids}::uuid[]) and workflow_id = ${workflowId}
        and status = 'waiting_schedule' and wake_at > ${now}
      returning concurrency_key`.execute(tx.db);
    await audit(tx, actor, now);
    return rows.map((row) => row.concurrency_key);
  });
  if (woken.length > 0) deps.nudge();
  return woken;
}
