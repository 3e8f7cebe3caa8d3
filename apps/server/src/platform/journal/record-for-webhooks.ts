import { sql } from 'kysely';
import type { Tx } from '../../foundation/database/database.ts';
import { newUuid } from '../../foundation/values/ids.ts';
import { getsEvent, getsType, hasFeed } from './wanted-events.ts';

/** An event that nothing but webhooks and the feed is told of. */
export interface WebhookOnlyEvent {
  workspaceId: string;
  resourceId: string;
  /** Its place among the events of the resource. */
  revision: number;
  data: object;
  /** When it happened. */
  at: Date;
}

/** Those of some workspaces that have an endpoint for events of a type, or a feed. */
export async function workspacesWithEndpoints(
  tx: Tx,
  workspaceIds: ReadonlySet<string>,
  type: string,
): Promise<Set<string>> {
  const { rows } = await sql<{ workspace_id: string }>`
    select workspace_id from webhooks
    where workspace_id = any(${[...workspaceIds]}::uuid[]) and ${getsType(sql`${type}::text`)}
    union select id from workspaces where id = any(${[...workspaceIds]}::uuid[]) and event_feed`.execute(tx.db);
  return new Set(rows.map((row) => row.workspace_id));
}

/** Writes events of one type as a set, each once, if an endpoint wants them or the workspace has a feed. */
export async function recordForWebhooks(tx: Tx, type: string, events: WebhookOnlyEvent[]): Promise<void> {
  await sql`
    with made as (
      insert into events (workspace_id, resource_id, revision, id, type, data, created_at)
      select x.workspace_id, x.resource_id, x.revision, x.id, ${type}, x.data, x.created_at
      from unnest(${events.map((event) => event.workspaceId)}::uuid[],
        ${events.map((event) => event.resourceId)}::uuid[], ${events.map((event) => event.revision)}::bigint[],
        ${events.map(newUuid)}::uuid[], ${events.map((event) => JSON.stringify(event.data))}::jsonb[],
        ${events.map((event) => event.at)}::timestamptz[])
        as x (workspace_id, resource_id, revision, id, data, created_at)
      where exists (select from webhooks
        where workspace_id = x.workspace_id and ${getsEvent(sql`${type}::text`, sql`x.data`)})
        or ${hasFeed(sql`x.workspace_id`)}
      on conflict do nothing returning workspace_id, resource_id, revision, data)
    insert into events_to_hand_over (workspace_id, resource_id, revision, webhook_ids)
    select e.workspace_id, e.resource_id, e.revision, coalesce(w.ids, '{}') from made e cross join lateral (
      select array_agg(id) as ids from webhooks
      where workspace_id = e.workspace_id and ${getsEvent(sql`${type}::text`, sql`e.data`)}) w
    where w.ids is not null or ${hasFeed(sql`e.workspace_id`)}`.execute(tx.db);
}
