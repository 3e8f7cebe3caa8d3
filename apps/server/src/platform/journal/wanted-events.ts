import { type RawBuilder, sql } from 'kysely';

/** SQL for whether a row of `webhooks` gets events of a type, by its name or by its family. */
export const getsType = (type: RawBuilder<unknown>): RawBuilder<boolean> => sql`
  (status = 'enabled' and event_types && array[${type}, split_part(${type}, '.', 1) || '.*'])`;

/** SQL for whether the events of a workspace have places in its feed. */
export const hasFeed = (workspaceId: RawBuilder<unknown>): RawBuilder<boolean> => sql`
  exists (select from workspaces where id = ${workspaceId} and event_feed)`;

/** SQL for whether it gets an event: also what the event is of, where the endpoint is told of some things only. */
export const getsEvent = (type: RawBuilder<unknown>, data: RawBuilder<unknown>): RawBuilder<boolean> => sql`
  (${getsType(type)} and (coalesce(campaign_ids, batch_ids, tags) is null
    or array[${data} ->> 'campaignId', ${data} ->> 'id'] && campaign_ids
    or ${data} ->> 'batchId' = any(batch_ids)
    or ${data} -> 'tags' ?| tags))`;
