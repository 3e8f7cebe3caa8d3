import { type RawBuilder, sql } from 'kysely';
import type { EngineTx } from '../../foundation/database/database.ts';
import { together } from '../../foundation/database/together.ts';
import { hasFeed } from './wanted-events.ts';

/** An event that webhook endpoints wait for, or a feed. */
export interface EventToHandOver {
  workspace_id: string;
  resource_id: string;
  revision: number;
  /** UUIDs of the endpoints that wanted it when it happened. */
  webhook_ids: string[];
  /** Whether its workspace has a feed now. */
  in_feed: boolean;
}

/** Names the one server that hands events over. */
export const TURN = 0x7765_6268;

/**
 * The events that are to be handed over, those of one resource by their revisions. One server is at it at a time, until its
 * transaction ends, so that none is handed over while an earlier one of the same resource is still on its way.
 * @param after UUID of the workspace that comes last: the others have their turn before it has its next
 * @returns nothing where another server is at it
 */
export async function eventsToHandOver(tx: EngineTx, after: string, limit: number): Promise<EventToHandOver[]> {
  const some = (which: RawBuilder<unknown>) => sql`(
    select workspace_id, resource_id, revision, webhook_ids, ${hasFeed(sql`workspace_id`)} as in_feed
    from events_to_hand_over where ${which} order by workspace_id, resource_id, revision limit ${limit})`;
  const [turn, events] = await together(tx, [
    sql<{ mine: boolean }>`select pg_try_advisory_xact_lock(${sql.lit(TURN)}) as mine`,
    sql<EventToHandOver>`
      ${some(sql`workspace_id > ${after}`)} union all ${some(sql`workspace_id <= ${after}`)} limit ${limit}`,
  ]);
  return turn.rows[0]!.mine ? events.rows : [];
}

/** Notes that events have been handed over. */
export async function markHandedOver(tx: EngineTx, events: EventToHandOver[]): Promise<void> {
  await sql`
    delete from events_to_hand_over e
    using unnest(${events.map((event) => event.workspace_id)}::uuid[],
      ${events.map((event) => event.resource_id)}::uuid[], ${events.map((event) => event.revision)}::bigint[])
      as x (workspace_id, resource_id, revision)
    where e.workspace_id = x.workspace_id and e.resource_id = x.resource_id and e.revision = x.revision`.execute(tx.db);
}
