import { sql } from 'kysely';
import type { EngineTx, WorkspaceTx } from '../../foundation/database/database.ts';
import { from } from '../../foundation/database/moves.ts';
import { webhookTransitions } from './webhook.ts';

/** Why an endpoint is disabled: a client wants it, or the URL that it had has answered 410. */
export type DisableCause = { reason: 'requested' } | { reason: 'gone'; url: string };

/**
 * Disables an endpoint, if it is enabled and still has the URL that is gone. It gets nothing from now on, and its senders
 * end what waits (`ending_before`).
 */
export async function disableWebhook(
  tx: WorkspaceTx | EngineTx,
  { workspaceId, webhookId }: { workspaceId: string; webhookId: string },
  cause: DisableCause,
  now: Date,
): Promise<void> {
  await sql`
    update webhooks set status = 'disabled', disabled_reason = ${cause.reason}, ending_before = ${now}, updated_at = ${now}
    where workspace_id = ${workspaceId} and id = ${webhookId} and status in ${from(webhookTransitions, 'disabled')}
      ${'url' in cause ? sql`and url = ${cause.url}` : sql``}`.execute(tx.db);
}
