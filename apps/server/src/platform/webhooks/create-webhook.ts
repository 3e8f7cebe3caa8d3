import type { components } from '../../foundation/values/generated/contract.ts';
import { newUuid, toId } from '../../foundation/values/ids.ts';
import { ServiceError } from '../../foundation/values/service-error.ts';
import type { AuditOf } from '../journal/audit-of.ts';
import { audit } from '../journal/record.ts';
import { checkFilters } from './check-filters.ts';
import { checkUrl } from './check-url.ts';
import type { WebhookDeps } from './deps.ts';
import { countWebhooks, insertWebhook } from './store.ts';
import { newSecret, secretPlace, type WebhookRow } from './webhook.ts';

/** Each event is kept and sent once for every endpoint that wants it. */
const MOST_ENDPOINTS = 100;

/**
 * Makes an endpoint, which gets events from now on. Throws `invalid_request` for a URL that is not allowed, `not_found` for
 * a campaign or a batch that there is not, and `limit_reached` where the workspace has as many as it can.
 */
export async function createWebhook(
  { database, clock, secrets, guard }: WebhookDeps,
  workspaceId: string,
  body: components['schemas']['CreateWebhook'],
  auditOf: AuditOf,
): Promise<{ row: WebhookRow; secret: string }> {
  checkUrl(guard, body.url);
  const id = newUuid();
  const secret = newSecret();
  const now = clock.now();
  return database.inWorkspace(workspaceId, async (tx) => {
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
  });
}
