import { toId } from '../../foundation/values/ids.ts';
import { existing } from '../../foundation/values/service-error.ts';
import type { AuditOf } from '../journal/audit-of.ts';
import { audit } from '../journal/record.ts';
import type { WebhookDeps } from './deps.ts';
import { disableWebhook } from './disable-webhook.ts';
import { changeWebhook, lockWebhook } from './store.ts';

/** Deletes an endpoint: gone at once for clients and senders, its rows by background work. Throws `not_found`. */
export async function deleteWebhook(
  { database, clock }: WebhookDeps,
  workspaceId: string,
  webhookId: string,
  auditOf: AuditOf,
): Promise<void> {
  await database.inWorkspace(workspaceId, async (tx) => {
    await existing(lockWebhook(tx, webhookId));
    const now = clock.now();
    await disableWebhook(tx, { workspaceId, webhookId }, { reason: 'requested' }, now);
    await changeWebhook(tx, webhookId, { deleted_at: now });
    await audit(tx, auditOf('webhook.deleted', 'webhook', toId('whk', webhookId)), now);
  });
}
