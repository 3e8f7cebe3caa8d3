import { toId } from '../../foundation/values/ids.ts';
import { existing } from '../../foundation/values/service-error.ts';
import type { AuditOf } from '../journal/audit-of.ts';
import { audit } from '../journal/record.ts';
import type { WebhookDeps } from './deps.ts';
import { changeWebhook, lockWebhook } from './store.ts';
import { newSecret, replacedSecret, type WebhookRow } from './webhook.ts';

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
      ...replacedSecret(before, secret, secrets, now),
      updated_at: now,
    });
    await audit(tx, auditOf('webhook.secret_rotated', 'webhook', toId('whk', webhookId)), now);
    return { row, secret };
  });
}
