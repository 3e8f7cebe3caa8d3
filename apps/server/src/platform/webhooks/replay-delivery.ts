import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { type Made, makeOnce } from '../../foundation/database/idempotency-keys.ts';
import { newUuid, toId } from '../../foundation/values/ids.ts';
import { existing, notFound } from '../../foundation/values/service-error.ts';
import type { AuditOf } from '../journal/audit-of.ts';
import { audit } from '../journal/record.ts';
import type { DeliveryRow } from './delivery.ts';
import type { WebhookDeps } from './deps.ts';
import { findDelivery, holdWebhook, insertDelivery } from './store.ts';

/** Sends the event of a delivery again, by a new delivery under the same event ID. Throws `not_found` and `idempotency_key_reused`. */
export async function replayDelivery(
  { database, clock }: WebhookDeps,
  workspaceId: string,
  ids: { webhookId: string; deliveryId: string },
  auditOf: AuditOf,
  idempotencyKey?: string,
): Promise<Made<DeliveryRow>> {
  const { webhookId, deliveryId } = ids;
  const [id, now] = [newUuid(), clock.now()];
  const named = idempotencyKey
    ? { operation: 'replayWebhookDelivery', key: idempotencyKey, request: ids, resourceId: id, now }
    : undefined;
  const make = async (tx: WorkspaceTx) => {
    const webhook = await holdWebhook(tx, webhookId);
    const original = webhook && (await findDelivery(tx, webhookId, deliveryId));
    if (!original) throw notFound();
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
  };
  return database.inWorkspace(workspaceId, (tx) =>
    makeOnce(
      tx,
      named,
      () => make(tx),
      (made) => existing(findDelivery(tx, webhookId, made)),
    ),
  );
}
