import { randomBytes } from 'node:crypto';
import type { Row } from '../../foundation/database/schema.ts';
import type { Secrets } from '../../foundation/database/secrets.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { toId } from '../../foundation/values/ids.ts';

export type WebhookRow = Row<'webhooks'>;
export type EventType = components['schemas']['WebhookEventType'];
type Webhook = components['schemas']['Webhook'];

/** The states that an endpoint can move to, as the contract's `x-transitions` show them. */
export const webhookTransitions = {
  enabled: ['disabled'],
  disabled: ['enabled'],
} as const satisfies Record<WebhookRow['status'], readonly WebhookRow['status'][]>;

/** A new secret as Standard Webhooks writes them: 32 random bytes. */
export const newSecret = (): string => `whsec_${randomBytes(32).toString('base64')}`;

/** What an endpoint's secrets, the present and the one before, are encrypted for. */
export const secretPlace = (workspaceId: string, webhookId: string): string =>
  `webhooks.secret ${workspaceId} ${webhookId}`;

/** How long the secret before signs too. */
const OVERLAP_MS = 24 * 3600 * 1000;

/** The columns that another secret changes: the one before signs on for a day. */
export const replacedSecret = (before: WebhookRow, secret: string, secrets: Secrets, now: Date) => ({
  secret: secrets.encrypt(secret, secretPlace(before.workspace_id, before.id)),
  previous_secret: before.secret,
  previous_secret_until: new Date(now.getTime() + OVERLAP_MS),
});

/** The secrets that sign what is sent now: the present one first, and the one before while it still holds. */
export function secretsOf(row: WebhookRow, secrets: Secrets, now: Date): string[] {
  const place = secretPlace(row.workspace_id, row.id);
  const { previous_secret: previous, previous_secret_until: until } = row;
  const holds = previous !== null && until !== null && until > now;
  return [row.secret, ...(holds ? [previous] : [])].map((each) => secrets.decrypt(each, place));
}

/** An endpoint as clients see it. */
export const presentWebhook = (row: WebhookRow): Webhook => ({
  id: toId('whk', row.id),
  url: row.url,
  ...(row.description !== null && { description: row.description }),
  eventTypes: row.event_types as Webhook['eventTypes'],
  ...(row.campaign_ids && { campaignIds: row.campaign_ids }),
  ...(row.batch_ids && { batchIds: row.batch_ids }),
  ...(row.tags && { tags: row.tags }),
  status: row.status,
  ...(row.disabled_reason && { disabledReason: row.disabled_reason }),
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
});
