import { sql } from 'kysely';
import type { EngineTx, WorkspaceTx } from '../database/database.ts';

/**
 * Disables an endpoint. It gets nothing from now on, and its senders end what waits (`ending_before`).
 * @returns whether it was enabled
 */
export async function disableWebhook(
  tx: WorkspaceTx | EngineTx,
  { workspaceId, webhookId }: { workspaceId: string; webhookId: string },
  reason: 'requested' | 'gone',
  now: Date,
): Promise<boolean> {
  const { rows } = await sql`
    update webhooks set status = 'disabled', disabled_reason = ${reason}, ending_before = ${now}, updated_at = ${now}
    where workspace_id = ${workspaceId} and id = ${webhookId} and status = 'enabled' returning id`.execute(tx.db);
  return rows.length === 1;
}
