import { sql } from 'kysely';
import type { Clock } from '../clock.ts';
import { type Database, forWorkspace } from '../database/database.ts';
import { type AuditEntry, audit } from '../journal/record.ts';

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
  const woken = await deps.database.inEngine(async (tx) => {
    const { rows } = await sql<{ concurrency_key: string }>`
      update workflow_runs r set due_at = ${now}, wake_at = ${now}, revision = revision + 1, updated_at = ${now}
      from concurrency_keys k
      where k.workspace_id = ${workspaceId} and k.key = any(${concurrencyKeys}::text[])
        and r.workspace_id = k.workspace_id and r.id = k.active_run and r.workflow_id = ${workflowId}
        and r.status = 'waiting_schedule' and r.wake_at > ${now}
      returning r.concurrency_key`.execute(tx.db);
    await audit(forWorkspace(tx, workspaceId), actor, now);
    return rows.map((row) => row.concurrency_key);
  });
  if (woken.length > 0) deps.nudge();
  return woken;
}
