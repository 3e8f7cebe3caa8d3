import { toId } from '../../foundation/values/ids.ts';
import { existing } from '../../foundation/values/service-error.ts';
import type { AuditOf } from '../journal/audit-of.ts';
import { audit } from '../journal/record.ts';
import type { WebhookDeps } from './deps.ts';
import { changeWebhook, lockWebhook } from './store.ts';
import { newSecret, secretPlace, type WebhookRow } from './webhook.ts';

/** How long the secret before signs too. */
const OVERLAP_MS = 24 * 3600 * 1000;

/** Gives an endpoint a new secret. Only the one before it signs on: rotating twice ends a secret at once. Throws `not_found`. */
export async function rotateSecret(
  { database, clock, secrets }: WebhookDeps,
  workspaceId: string,
  webhookId: string,
  auditOf: AuditOf,
): Promise<{ row: WebhookRow; secret: string }> {
  const secret = newSecret();
  return database.inWorkspace(workspaceId, async (tx) => {
    const before = await existing(lockWebhook(tx, webhookId));
    const now = clock.now();
    const row = await changeWebhook(tx, webhookId, {
      secret: secrets.encrypt(secret, secretPlace(workspaceId, webhookId)),
      previous_secret: before.secret,
      previous_secret_until: new Date(now.getTime() + OVERLAP_MS),
      updated_at: now,
    });
    await audit(tx, auditOf('webhook.secret_rotated', 'webhook', toId('whk', webhookId)), now);
    return { row, secret };
  });
}
