import { type Kysely, sql } from 'kysely';
import { tenancy } from './tenancy.ts';

export const release = '0.3.0';
export const oldestServer = '0.2.0';

/**
 * The event feed of a workspace. Events get their places in it when they are handed over, after the commit that made them,
 * and under one lock: so none appears behind a reader.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table workspaces add column event_feed boolean not null default false`.execute(db);
  // The last place that was given, and the one behind which everything is there. Written with every hand-over.
  await sql`
    create table event_feeds (
      workspace_id uuid primary key references workspaces,
      last_place bigint not null,
      begins_behind bigint not null
    ) with (fillfactor = 50)`.execute(db);
  await sql`
    create table feed_places (
      workspace_id uuid not null,
      place bigint not null,
      resource_id uuid not null,
      revision bigint not null,
      type text not null,
      created_at timestamptz not null,
      primary key (workspace_id, place)
    )`.execute(db);
  for (const table of ['event_feeds', 'feed_places']) await sql.raw(tenancy(table)).execute(db);
}
