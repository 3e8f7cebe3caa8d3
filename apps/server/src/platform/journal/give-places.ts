import { sql } from 'kysely';
import type { EngineTx } from '../../foundation/database/database.ts';
import type { EventToHandOver } from './hand-over.ts';

/**
 * Gives events the next places in the feeds of their workspaces: by time, those of one resource by their revisions. Who hands
 * over is alone at it until its transaction ends, so a place is never seen before a lower one. Readers are told.
 */
export async function givePlaces(tx: EngineTx, events: EventToHandOver[]): Promise<void> {
  for (const { workspace_id } of events) tx.tell(workspace_id);
  await sql`
    with e as materialized (
      select e.workspace_id, e.resource_id, e.revision, e.type, e.created_at
      from unnest(${events.map((event) => event.workspace_id)}::uuid[],
        ${events.map((event) => event.resource_id)}::uuid[], ${events.map((event) => event.revision)}::bigint[])
        as x (workspace_id, resource_id, revision)
      join events e
        on e.workspace_id = x.workspace_id and e.resource_id = x.resource_id and e.revision = x.revision),
    told as (
      select *, max(created_at) over (partition by workspace_id, resource_id order by revision) as told_at from e),
    placed as (
      select *, row_number() over (partition by workspace_id order by told_at, resource_id, revision) as place from told),
    feed as (
      update event_feeds f set last_place = f.last_place + own.events
      from (select workspace_id, count(*) as events from e group by workspace_id) as own
      where f.workspace_id = own.workspace_id
      returning f.workspace_id, f.last_place - own.events as behind)
    insert into feed_places (workspace_id, place, resource_id, revision, type, created_at)
    select p.workspace_id, f.behind + p.place, p.resource_id, p.revision, p.type, p.created_at
    from placed p join feed f on f.workspace_id = p.workspace_id`.execute(tx.db);
}
