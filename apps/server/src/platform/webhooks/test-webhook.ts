import { newUuid, toId } from '../../foundation/values/ids.ts';
import { existing } from '../../foundation/values/service-error.ts';
import type { AuditOf } from '../journal/audit-of.ts';
import { audit } from '../journal/record.ts';
import type { DeliveryRow } from './delivery.ts';
import type { WebhookDeps } from './deps.ts';
import { disableWebhook } from './disable-webhook.ts';
import { findWebhook, insertDelivery } from './store.ts';
import { createSigner, tryDelivery } from './try-delivery.ts';
import { secretsOf } from './webhook.ts';

const TEST_MS = 10_000;

/**
 * Sends a test event once, also to a disabled endpoint, and keeps what came of it as a delivery. Throws `not_found`, also
 * where the endpoint was deleted meanwhile.
 */
export async function testWebhook(
  { database, clock, secrets, send, metrics }: WebhookDeps,
  workspaceId: string,
  webhookId: string,
  auditOf: AuditOf,
): Promise<DeliveryRow> {
  const webhook = await existing(database.inWorkspace(workspaceId, (tx) => findWebhook(tx, webhookId)));
  const now = clock.now();
  const id = newUuid();
  const eventId = newUuid();
  const data = { webhookId: toId('whk', webhookId) };
  const payload = JSON.stringify({ type: 'webhook.test', timestamp: now.toISOString(), data });
  const sign = createSigner(secretsOf(webhook, secrets, now));
  const tried = await tryDelivery(
    send,
    webhook.url,
    { eventId, payload },
    { workspaceId, sign, timeoutMs: TEST_MS, now },
  );
  metrics.tried(tried.verdict);
  return database.inWorkspace(workspaceId, async (tx) => {
    await existing(findWebhook(tx, webhookId));
    const after = clock.now();
    if (tried.verdict === 'gone')
      await disableWebhook(tx, { workspaceId, webhookId }, { reason: 'gone', url: webhook.url }, after);
    await audit(tx, auditOf('webhook.tested', 'webhook', toId('whk', webhookId)), after);
    return insertDelivery(tx, {
      webhook_id: webhookId,
      id,
      event_id: eventId,
      event_type: 'webhook.test',
      order_key: id,
      order_number: 1,
      payload,
      status: tried.verdict === 'delivered' ? 'delivered' : 'failed',
      attempts: 1,
      last_status_code: tried.statusCode ?? null,
      last_error: tried.error ?? null,
      last_duration_ms: tried.durationMs,
      delivered_at: tried.verdict === 'delivered' ? after : null,
      created_at: now,
    });
  });
}
