import type { WorkspaceTx } from '../../foundation/database/database.ts';
import type { Made } from '../../foundation/database/idempotency-keys.ts';
import { type Asked, answerOnce } from '../../foundation/database/kept-answers.ts';
import { newUuid, toId } from '../../foundation/values/ids.ts';
import { existing } from '../../foundation/values/service-error.ts';
import type { AuditOf } from '../journal/audit-of.ts';
import { audit } from '../journal/record.ts';
import type { WebhookDeps } from './deps.ts';
import { changeWebhook, findWebhook, lockWebhook } from './store.ts';
import { newSecret, replacedSecret, type WebhookRow } from './webhook.ts';

/**
 * Gives an endpoint a new secret. Only the one before it signs on: rotating twice ends a secret at once. Throws `not_found`
 * and `idempotency_key_reused`.
 */
export async function rotateSecret(
  { database, clock, secrets }: WebhookDeps,
  workspaceId: string,
  webhookId: string,
  auditOf: AuditOf,
  { idempotencyKey, apiKeyId }: Asked,
): Promise<Made<{ row: WebhookRow; secret: string }>> {
  const secret = newSecret();
  const now = clock.now();
  const operation = 'rotateWebhookSecret';
  const asked = { request: { webhookId }, resourceId: newUuid(), now, secrets, onlyFor: apiKeyId };
  const named = idempotencyKey ? { operation, key: idempotencyKey, ...asked } : undefined;
  const rotate = async (tx: WorkspaceTx) => {
    const before = await existing(lockWebhook(tx, webhookId));
    const row = await changeWebhook(tx, webhookId, {
      ...replacedSecret(before, secret, secrets, now),
      updated_at: now,
    });
    await audit(tx, auditOf('webhook.secret_rotated', 'webhook', toId('whk', webhookId)), now);
    return { row, secret };
  };
  return database.inWorkspace(workspaceId, (tx) =>
    answerOnce(
      tx,
      named,
      () => rotate(tx),
      (made) => made.secret,
      async (shown) => ({ row: await existing(findWebhook(tx, webhookId)), secret: shown }),
    ),
  );
}
