import { sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { from } from '../../foundation/database/moves.ts';
import { GIVE_AGAIN, isSameOrigin } from '../../foundation/outbound-http/same-origin.ts';
import { checkEdition } from '../../foundation/values/edition.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { toId } from '../../foundation/values/ids.ts';
import { existing, refuse } from '../../foundation/values/service-error.ts';
import type { AuditOf } from '../journal/audit-of.ts';
import { audit } from '../journal/record.ts';
import { checkFilters } from './check-filters.ts';
import { checkUrl } from './check-url.ts';
import type { WebhookDeps } from './deps.ts';
import { disableWebhook } from './disable-webhook.ts';
import { changeWebhook, lockWebhook } from './store.ts';
import { replacedSecret, type WebhookRow, webhookTransitions } from './webhook.ts';

/** Changes what the body names. Throws `not_found`, also for a campaign or a batch, `changed_meanwhile`, and `invalid_request` for a URL that is not allowed, or that would take the secret to another origin. */
export async function updateWebhook(
  { database, clock, secrets, guard }: WebhookDeps,
  workspaceId: string,
  webhookId: string,
  body: components['schemas']['UpdateWebhook'],
  auditOf: AuditOf,
  ifMatch?: string,
): Promise<WebhookRow> {
  const { url, secret, description, eventTypes, campaignIds, batchIds, tags, status } = body;
  return database.inWorkspace(workspaceId, async (tx) => {
    const before = await existing(lockWebhook(tx, webhookId));
    checkEdition(before, ifMatch);
    if (url !== undefined) checkUrl(guard, url);
    const isMoved = url !== undefined && !isSameOrigin(url, before.url);
    if (isMoved && secret === undefined) refuse([{ path: '/body/secret', message: GIVE_AGAIN }]);
    await checkFilters(tx, body);
    if (Object.keys(body).length === 0) return before;
    const now = clock.now();
    if (status === 'disabled') await disableWebhook(tx, { workspaceId, webhookId }, { reason: 'requested' }, now);
    if (status === 'enabled') await enableWebhook(tx, webhookId);
    const row = await changeWebhook(tx, webhookId, {
      // Another address, or one that is told to be up again, need not rest for what the last one answered.
      ...((url !== undefined || status === 'enabled') && { resting_until: null }),
      ...(url !== undefined && { url }),
      ...(secret !== undefined && replacedSecret(before, secret, secrets, now)),
      ...(isMoved && { previous_secret: null, previous_secret_until: null }),
      ...(description !== undefined && { description }),
      ...(eventTypes !== undefined && { event_types: eventTypes }),
      ...(campaignIds !== undefined && { campaign_ids: campaignIds }),
      ...(batchIds !== undefined && { batch_ids: batchIds }),
      ...(tags !== undefined && { tags }),
      updated_at: now,
    });
    await audit(tx, auditOf('webhook.updated', 'webhook', toId('whk', webhookId)), now);
    return row;
  });
}

async function enableWebhook(tx: WorkspaceTx, webhookId: string): Promise<void> {
  await sql`
    update webhooks set status = 'enabled', disabled_reason = null
    where workspace_id = ${tx.workspaceId} and id = ${webhookId} and status in ${from(webhookTransitions, 'enabled')}`.execute(
    tx.db,
  );
}
