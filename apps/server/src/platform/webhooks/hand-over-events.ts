import { sql } from 'kysely';
import { NIL } from 'uuid';
import type { Database, EngineTx } from '../../foundation/database/database.ts';
import { together } from '../../foundation/database/together.ts';
import { newUuid } from '../../foundation/values/ids.ts';
import { givePlaces } from '../journal/give-places.ts';
import { type EventToHandOver, eventsToHandOver, markHandedOver } from '../journal/hand-over.ts';

const AT_ONCE = 500;

/**
 * Makes deliveries of the events that endpoints wait for, one for each event and endpoint, at most of 500 events, and gives
 * events their places in the feeds. An endpoint that was disabled or deleted meanwhile gets none.
 * @param after UUID of the workspace that was last: however much waits of one, the others have their turn
 * @returns whether there may be more, and the workspace that is last now
 */
export async function handOverEvents(
  database: Database,
  now: Date,
  after: string = NIL,
): Promise<{ hasMore: boolean; after: string }> {
  return database.inHotLoop(async (tx) => {
    const events = await eventsToHandOver(tx, after, AT_ONCE);
    if (events.length === 0) return { hasMore: false, after };
    const fed = events.filter((event) => event.in_feed);
    const wanted = events.filter((event) => event.webhook_ids.length > 0);
    const deliver = [() => holdEndpoints(tx, wanted), () => insertDeliveries(tx, wanted, now)];
    await together(tx, [
      ...(wanted.length > 0 ? deliver : []),
      ...(fed.length > 0 ? [() => givePlaces(tx, fed)] : []),
      () => markHandedOver(tx, events),
    ]);
    return { hasMore: events.length === AT_ONCE, after: events.at(-1)!.workspace_id };
  });
}

/** So that none is disabled, and no try of an earlier event is put off, before the deliveries are there. */
async function holdEndpoints(tx: EngineTx, events: EventToHandOver[]): Promise<void> {
  const wanted = events.flatMap((event) => event.webhook_ids.map((id) => [event.workspace_id, id] as const));
  const distinct = new Map(wanted.map((each) => [each.join(), each]));
  const keys = [...distinct.keys()].toSorted().map((key) => distinct.get(key)!);
  await sql`
    select from unnest(${keys.map(([workspaceId]) => workspaceId)}::uuid[], ${keys.map(([, id]) => id)}::uuid[])
      as x (workspace_id, id)
    join webhooks w on w.workspace_id = x.workspace_id and w.id = x.id for share of w`.execute(tx.db);
}

/**
 * An event waits for the next try of the one before it of its resource, where that is still to come. What an endpoint gets
 * after it was enabled again is made after what it ended when it was disabled.
 */
async function insertDeliveries(tx: EngineTx, events: EventToHandOver[], now: Date): Promise<void> {
  const wanted = events.flatMap((event) => event.webhook_ids.map((webhookId) => ({ ...event, webhookId })));
  await sql`
    insert into webhook_deliveries (workspace_id, webhook_id, id, event_id, event_type, order_key, order_number,
      payload, status, next_attempt_at, created_at)
    select w.workspace_id, w.id, x.id, e.id, e.type, e.resource_id, e.revision,
      json_build_object('type', e.type,
        'timestamp', to_char(e.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'data', e.data)::text,
      'pending',
      greatest(${now}, (select p.next_attempt_at from webhook_deliveries p
        where p.workspace_id = w.workspace_id and p.webhook_id = w.id and p.order_key = e.resource_id
          and p.status = 'pending' order by p.order_number desc limit 1)),
      greatest(${now}, w.ending_before + interval '1 microsecond')
    from unnest(${wanted.map((each) => each.workspace_id)}::uuid[], ${wanted.map((each) => each.resource_id)}::uuid[],
      ${wanted.map((each) => each.revision)}::bigint[], ${wanted.map((each) => each.webhookId)}::uuid[],
      ${wanted.map(newUuid)}::uuid[]) as x (workspace_id, resource_id, revision, webhook_id, id)
    join events e on e.workspace_id = x.workspace_id and e.resource_id = x.resource_id and e.revision = x.revision
    join webhooks w on w.workspace_id = x.workspace_id and w.id = x.webhook_id
    where w.status = 'enabled'`.execute(tx.db);
}
