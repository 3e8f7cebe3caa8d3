import type { Row } from '../../foundation/database/schema.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { toId } from '../../foundation/values/ids.ts';

export type DeliveryRow = Row<'webhook_deliveries'>;
type Delivery = components['schemas']['WebhookDelivery'];

/** The states that a delivery can move to, as the contract's `x-transitions` show them. */
export const deliveryTransitions = {
  pending: ['delivered', 'failed'],
  delivered: [],
  failed: [],
} as const satisfies Record<DeliveryRow['status'], readonly DeliveryRow['status'][]>;

/** A delivery as clients see it. */
export const presentDelivery = (row: DeliveryRow): Delivery => ({
  id: toId('dlv', row.id),
  webhookId: toId('whk', row.webhook_id),
  eventId: toId('evt', row.event_id),
  eventType: row.event_type as Delivery['eventType'],
  status: row.status,
  attempts: row.attempts,
  ...(row.last_status_code !== null && { lastStatusCode: row.last_status_code }),
  ...(row.last_error !== null && { lastError: row.last_error }),
  ...(row.last_duration_ms !== null && { lastDurationMs: row.last_duration_ms }),
  ...(row.next_attempt_at && { nextAttemptAt: row.next_attempt_at.toISOString() }),
  createdAt: row.created_at.toISOString(),
  ...(row.delivered_at && { deliveredAt: row.delivered_at.toISOString() }),
});
