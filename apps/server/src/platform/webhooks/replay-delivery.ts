import { newUuid, toId } from '../../foundation/values/ids.ts';
import { notFound } from '../../foundation/values/service-error.ts';
import type { AuditOf } from '../journal/audit-of.ts';
import { audit } from '../journal/record.ts';
import type { DeliveryRow } from './delivery.ts';
import type { WebhookDeps } from './deps.ts';
import { findDelivery, holdWebhook, insertDelivery } from './store.ts';

/** Sends the event of a delivery again, by a new delivery under the same event ID. Throws `not_found`. */
export async function replayDelivery(
  { database, clock }: WebhookDeps,
  workspaceId: string,
  { webhookId, deliveryId }: { webhookId: string; deliveryId: string },
  auditOf: AuditOf,
): Promise<DeliveryRow> {
  return database.inWorkspace(workspaceId, async (tx) => {
    const webhook = await holdWebhook(tx, webhookId);
    const original = webhook && (await findDelivery(tx, webhookId, deliveryId));
    if (!original) throw notFound();
    const now = clock.now();
    const id = newUuid();
    await audit(tx, auditOf('webhook_delivery.replayed', 'webhook_delivery', toId('dlv', deliveryId)), now);
    return insertDelivery(tx, {
      webhook_id: webhookId,
      id,
      event_id: original.event_id,
      event_type: original.event_type,
      order_key: id,
      order_number: 1,
      payload: original.payload,
      status: 'pending',
      next_attempt_at: now,
      created_at: now,
    });
  });
}
