import { sql } from 'kysely';
import type { EngineTx } from '../database/database.ts';

/** An event that webhook endpoints wait for. */
export interface EventToHandOver {
  workspace_id: string;
  resource_id: string;
  revision: number;
  /** UUIDs of the endpoints that wanted it when it happened. */
  hand_over_to: string[];
}

/** Names the one server that hands events over. */
const TURN = 0x7765_6268;

/**
 * The events that are to be handed over, those of one resource by their revisions. One server is at it at a time, until its
 * transaction ends, so that none is handed over while an earlier one of the same resource is still on its way.
 * @returns nothing where another server is at it
 */
export async function eventsToHandOver(tx: EngineTx, limit: number): Promise<EventToHandOver[]> {
  const [turn, events] = await Promise.all([
    sql<{ mine: boolean }>`select pg_try_advisory_xact_lock(${sql.lit(TURN)}) as mine`.execute(tx.db),
    sql<EventToHandOver>`
      select workspace_id, resource_id, revision, hand_over_to from events where hand_over_to is not null
      order by workspace_id, resource_id, revision limit ${limit}`.execute(tx.db),
  ]);
  return turn.rows[0]!.mine ? events.rows : [];
}

/** Notes that events have been handed over. */
export async function markHandedOver(tx: EngineTx, events: EventToHandOver[]): Promise<void> {
  await sql`
    update events e set hand_over_to = null
    from unnest(${events.map((event) => event.workspace_id)}::uuid[],
      ${events.map((event) => event.resource_id)}::uuid[], ${events.map((event) => event.revision)}::bigint[])
      as x (workspace_id, resource_id, revision)
    where e.workspace_id = x.workspace_id and e.resource_id = x.resource_id and e.revision = x.revision`.execute(tx.db);
}
