import { sql } from 'kysely';
import type { EngineTx } from '../../foundation/database/database.ts';
import type { Row } from '../../foundation/database/schema.ts';
import { together } from '../../foundation/database/together.ts';
import type { DueTime } from '../jobs/quiet.ts';
import type { WebhookRow } from './webhook.ts';

// A plan made while next to nothing waits takes one index for as good as another. What stands here and in
// `mark-deliveries.ts` leaves no choice: an `order by` that only the right one gives; keys that come with the rows to
// change; and no word of `pending` where the primary key is meant (what is pending has a `next_attempt_at`, and nothing else).

/** An endpoint, named for the engine's loops. */
export interface EndpointKey {
  workspaceId: string;
  webhookId: string;
}

/** When an endpoint is due to be sent to; while there are events to be handed over, at once. */
export const firstToSend: DueTime = sql`least(
  (select 'epoch'::timestamptz from events_to_hand_over limit 1),
  (select min(greatest(c.resting_until, case when c.ending_before is null then d.next_attempt_at else 'epoch' end))
    from webhooks c left join lateral (
      select d.next_attempt_at from webhook_deliveries d
      where d.workspace_id = c.workspace_id and d.webhook_id = c.id and d.status = 'pending'
      order by d.next_attempt_at limit 1) as d on true
    where c.deleted_at is null and (c.ending_before is not null or d.next_attempt_at is not null)))`;

/** A delivery that is due. */
export type DueDelivery = Pick<
  Row<'webhook_deliveries'>,
  'id' | 'event_id' | 'order_key' | 'order_number' | 'attempts' | 'payload' | 'created_at'
>;

interface ClaimTerms {
  serverId: string;
  /** Those that this server is at already, and those of them that share their places with these. */
  held: readonly EndpointKey[];
  sharing: readonly EndpointKey[];
  now: Date;
  /** Of the places, those that nobody holds: a workspace takes one only while it holds fewer than are free. */
  free: number;
  /** Those that had to rest after the last round are taken apart from the others, whom they must not hold up. */
  rested: boolean;
}

interface DueTerms {
  serverId: string;
  busy: readonly string[];
  now: Date;
  limit: number;
  limitBytes: number;
}

/**
 * Takes endpoints that have something to do and that no living server holds. One server at a time sends to an endpoint,
 * so that it alone sees to the order and to how much is sent at once. Workspaces take one by turns, each that which is due
 * for longest.
 */
export async function claimEndpoints(
  tx: EngineTx,
  { serverId, held, sharing, now, free, rested }: ClaimTerms,
): Promise<EndpointKey[]> {
  const isNobodys = sql`
    (c.server_id is null or c.server_id = ${serverId} or not exists (
      select from servers s where s.id = c.server_id and s.lease_until > clock_timestamp()))`;
  // The n-th that a workspace would hold, taken as the m-th, is taken while n - 1 < free - (m - 1).
  const { rows } = await sql<EndpointKey>`
    with held as (
      select workspace_id, count(*) as places from unnest(${sharing.map((each) => each.workspaceId)}::uuid[]) as workspace_id
      group by workspace_id),
    due as (
      select c.workspace_id, c.id, row_number() over (partition by c.workspace_id order by d.next_attempt_at, c.id)
        + coalesce((select places from held where held.workspace_id = c.workspace_id), 0) as turn
      from webhooks c left join lateral (
        select d.next_attempt_at from webhook_deliveries d
        where d.workspace_id = c.workspace_id and d.webhook_id = c.id and d.status = 'pending'
        order by d.next_attempt_at limit 1) as d on true
      where c.deleted_at is null and c.id <> all(${held.map((each) => each.webhookId)}::uuid[])
        and ${rested ? sql`c.resting_until <= ${now}` : sql`c.resting_until is null`}
        and ${isNobodys} and (c.ending_before is not null or d.next_attempt_at <= ${now})),
    placed as (select workspace_id, id, turn, row_number() over (order by turn, id) as place from due)
    update webhooks w set server_id = ${serverId}
    where (w.workspace_id, w.id) in (
      select c.workspace_id, c.id from placed p join webhooks c on c.workspace_id = p.workspace_id and c.id = p.id
      where p.turn + p.place <= ${free + 1}::int and c.deleted_at is null and ${isNobodys}
      for update of c skip locked)
    returning w.workspace_id as "workspaceId", w.id as "webhookId"`.execute(tx.db);
  return rows;
}

/** Lets an endpoint go, so that any server can take it; until then nothing more is sent to it. */
export async function releaseEndpoint(
  tx: EngineTx,
  { workspaceId, webhookId }: EndpointKey,
  { serverId, restingUntil, url }: { serverId: string; restingUntil: Date | null; url: string | null },
): Promise<void> {
  // What another URL has asked for says nothing of the one that it has now.
  await sql`
    update webhooks set server_id = null, resting_until = case when url = coalesce(${url}, url) then ${restingUntil}::timestamptz end
    where workspace_id = ${workspaceId} and id = ${webhookId} and server_id = ${serverId}`.execute(tx.db);
}

/**
 * What a server has to send to an endpoint that it holds, in the order in which it is due. A delivery is left out while the
 * first of its resource that waits is due after it.
 * @param busy resources to leave out, as some of them may be sent already
 * @param limitBytes no more is read once that much is
 * @returns nothing where the endpoint is gone, or another server has taken it
 */
export async function dueDeliveries(
  tx: EngineTx,
  { workspaceId, webhookId }: EndpointKey,
  { serverId, busy, now, limit, limitBytes }: DueTerms,
): Promise<{ webhook: WebhookRow; due: DueDelivery[] } | undefined> {
  const [webhooks, due] = await together(tx, [
    sql<WebhookRow>`
      select * from webhooks
      where workspace_id = ${workspaceId} and id = ${webhookId} and server_id = ${serverId} and deleted_at is null`,
    sql<DueDelivery>`
      select id, event_id, order_key, order_number, attempts, payload, created_at from (
        select *, sum(octet_length(payload)) over (order by next_attempt_at, id) - octet_length(payload) as bytes_before
        from (
          select d.* from webhook_deliveries d
          where d.workspace_id = ${workspaceId} and d.webhook_id = ${webhookId} and d.status = 'pending'
            and d.next_attempt_at <= ${now} and d.order_key not in (select unnest(${`{${busy.join()}}`}::uuid[]))
            and (select (e.next_attempt_at, e.id) <= (d.next_attempt_at, d.id) from webhook_deliveries e
              where e.workspace_id = d.workspace_id and e.webhook_id = d.webhook_id and e.order_key = d.order_key
                and e.status = 'pending'
              order by e.order_number limit 1)
          order by d.next_attempt_at, d.id limit ${limit}) as due) as measured
      where bytes_before < ${limitBytes} order by next_attempt_at, id`,
  ]);
  const [webhook] = webhooks.rows;
  return webhook && { webhook, due: due.rows };
}
