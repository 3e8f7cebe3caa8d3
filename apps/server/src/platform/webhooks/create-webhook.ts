import type { WorkspaceTx } from '../../foundation/database/database.ts';
import type { Made } from '../../foundation/database/idempotency-keys.ts';
import { type Asked, answerOnce } from '../../foundation/database/kept-answers.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { newUuid, toId } from '../../foundation/values/ids.ts';
import { existing, ServiceError } from '../../foundation/values/service-error.ts';
import type { AuditOf } from '../journal/audit-of.ts';
import { audit } from '../journal/record.ts';
import { checkFilters } from './check-filters.ts';
import { checkUrl } from './check-url.ts';
import type { WebhookDeps } from './deps.ts';
import { countWebhooks, findWebhook, insertWebhook } from './store.ts';
import { newSecret, secretPlace, type WebhookRow } from './webhook.ts';

/** Each event is kept and sent once for every endpoint that wants it. */
const MOST_ENDPOINTS = 100;

/**
 * Makes an endpoint, which gets events from now on. Throws `invalid_request` for a URL that is not allowed, `not_found` for
 * a campaign or a batch that there is not, `limit_reached` where the workspace has as many as it can, and
 * `idempotency_key_reused`.
 */
export async function createWebhook(
  { database, clock, secrets, guard }: WebhookDeps,
  workspaceId: string,
  body: components['schemas']['CreateWebhook'],
  auditOf: AuditOf,
  { idempotencyKey, apiKeyId }: Asked,
): Promise<Made<{ row: WebhookRow; secret: string }>> {
  checkUrl(guard, body.url);
  const id = newUuid();
  const secret = newSecret();
  const now = clock.now();
  const operation = 'createWebhook';
  const named = idempotencyKey
    ? { operation, key: idempotencyKey, request: body, resourceId: id, now, secrets, onlyFor: apiKeyId }
    : undefined;
  const make = async (tx: WorkspaceTx) => {
    if ((await countWebhooks(tx)) >= MOST_ENDPOINTS) {
      throw new ServiceError('limit_reached', `A workspace has at most ${MOST_ENDPOINTS} endpoints. Delete one first.`);
    }
    await checkFilters(tx, body);
    const row = await insertWebhook(tx, {
      id,
      url: body.url,
      description: body.description ?? null,
      event_types: body.eventTypes,
      campaign_ids: body.campaignIds ?? null,
      batch_ids: body.batchIds ?? null,
      tags: body.tags ?? null,
      status: 'enabled',
      secret: secrets.encrypt(secret, secretPlace(workspaceId, id)),
      created_at: now,
      updated_at: now,
    });
    await audit(tx, auditOf('webhook.created', 'webhook', toId('whk', id)), now);
    return { row, secret };
  };
  return database.inWorkspace(workspaceId, (tx) =>
    answerOnce(
      tx,
      named,
      () => make(tx),
      (made) => made.secret,
      async (shown, made) => ({ row: await existing(findWebhook(tx, made)), secret: shown }),
    ),
  );
}
