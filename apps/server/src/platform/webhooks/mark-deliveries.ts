import { sql } from 'kysely';
import type { EngineTx } from '../../foundation/database/database.ts';
import { from } from '../../foundation/database/moves.ts';
import type { DueDelivery, EndpointKey } from './claim-endpoints.ts';
import { deliveryTransitions } from './delivery.ts';
import type { Tried } from './try-delivery.ts';

/** A delivery, what came of sending it, and when it is tried again, if it is. */
export interface TriedDelivery {
  delivery: DueDelivery;
  tried: Tried;
  at: Date;
  nextAttemptAt: Date | undefined;
}

/** Writes what came of deliveries. One that another server has tried too, or that has ended, is left as it is. */
export async function markDeliveries(
  tx: EngineTx,
  { workspaceId, webhookId }: EndpointKey,
  results: TriedDelivery[],
): Promise<void> {
  await sql`
    update webhook_deliveries d set
      status = case
        when x.delivered_at is not null and d.status in ${from(deliveryTransitions, 'delivered')} then 'delivered'
        when x.next_attempt_at is null and d.status in ${from(deliveryTransitions, 'failed')} then 'failed'
        else d.status end,
      attempts = d.attempts + 1, last_status_code = x.status_code, last_error = x.error,
      last_duration_ms = x.duration_ms, next_attempt_at = x.next_attempt_at, delivered_at = x.delivered_at
    from unnest(${results.map(() => workspaceId)}::uuid[], ${results.map(() => webhookId)}::uuid[],
      ${results.map(({ delivery }) => delivery.id)}::uuid[],
      ${results.map(({ delivery }) => delivery.attempts)}::smallint[],
      ${results.map(({ tried, at }) => (tried.verdict === 'delivered' ? at : null))}::timestamptz[],
      ${results.map((each) => each.nextAttemptAt ?? null)}::timestamptz[],
      ${results.map(({ tried }) => tried.statusCode ?? null)}::smallint[],
      ${results.map(({ tried }) => tried.error ?? null)}::text[],
      ${results.map(({ tried }) => tried.durationMs)}::integer[])
      as x (workspace_id, webhook_id, id, attempts, delivered_at, next_attempt_at, status_code, error, duration_ms)
    where d.workspace_id = x.workspace_id and d.webhook_id = x.webhook_id and d.id = x.id
      and d.next_attempt_at is not null and d.attempts = x.attempts`.execute(tx.db);
  const again = results.filter((each) => each.nextAttemptAt !== undefined);
  if (again.length === 0) return;
  // Events that are just being handed over are there by then, or see the next try.
  await sql`
    select from webhooks where workspace_id = ${workspaceId} and id = ${webhookId} for no key update`.execute(tx.db);
  // Later events of the same resources can't be sent before, so they need not be looked at before.
  await sql`
    update webhook_deliveries d set next_attempt_at = x.next_attempt_at
    from unnest(${again.map(({ delivery }) => delivery.order_key)}::uuid[],
      ${again.map(({ delivery }) => delivery.order_number)}::bigint[],
      ${again.map((each) => each.nextAttemptAt!)}::timestamptz[]) as x (order_key, order_number, next_attempt_at)
    cross join lateral (
      select p.workspace_id, p.webhook_id, p.id from webhook_deliveries p
      where p.workspace_id = ${workspaceId} and p.webhook_id = ${webhookId} and p.status = 'pending'
        and p.order_key = x.order_key and p.order_number > x.order_number
      order by p.order_number limit ${MOST_LATER}) as later
    where d.workspace_id = later.workspace_id and d.webhook_id = later.webhook_id and d.id = later.id
      and d.next_attempt_at < x.next_attempt_at`.execute(tx.db);
}

/** What is beyond is looked at, and waits all the same. */
const MOST_LATER = 1000;

/** Gives up deliveries that have waited for so long that nobody should be surprised by them. */
export async function giveUpDeliveries(
  tx: EngineTx,
  { workspaceId, webhookId }: EndpointKey,
  deliveries: DueDelivery[],
): Promise<void> {
  await sql`
    update webhook_deliveries d set next_attempt_at = null,
      status = case when d.status in ${from(deliveryTransitions, 'failed')} then 'failed' else d.status end,
      last_error = 'The endpoint did not take it within seven days.'
    from unnest(${deliveries.map(() => workspaceId)}::uuid[], ${deliveries.map(() => webhookId)}::uuid[],
      ${deliveries.map(({ id }) => id)}::uuid[]) as x (workspace_id, webhook_id, id)
    where d.workspace_id = x.workspace_id and d.webhook_id = x.webhook_id and d.id = x.id
      and d.next_attempt_at is not null`.execute(tx.db);
}

/**
 * Ends deliveries of a disabled endpoint, at most `limit`: those that were made before it was disabled and still wait. Where
 * none is left, notes that.
 */
export async function endWaiting(
  tx: EngineTx,
  { workspaceId, webhookId }: EndpointKey,
  { before, limit }: { before: Date; limit: number },
): Promise<void> {
  const { rows } = await sql`
    update webhook_deliveries d set status = 'failed', next_attempt_at = null, last_error = 'The endpoint was disabled.'
    where d.workspace_id = ${workspaceId} and d.webhook_id = ${webhookId} and d.next_attempt_at is not null
      and d.id = any(array(
        select p.id from webhook_deliveries p
        where p.workspace_id = ${workspaceId} and p.webhook_id = ${webhookId}
          and p.status in ${from(deliveryTransitions, 'failed')} and p.created_at <= ${before} limit ${limit}))
    returning d.id`.execute(tx.db);
  if (rows.length === limit) return;
  await sql`
    update webhooks set ending_before = null
    where workspace_id = ${workspaceId} and id = ${webhookId} and ending_before = ${before}`.execute(tx.db);
}
