import { type Kysely, sql } from 'kysely';
import { tenancy } from './tenancy.ts';

const tables = `
drop index events_to_hand_over;
-- To note on an event that it has been handed over would write its whole row again, and all its indexes.
create table events_to_hand_over (
  workspace_id uuid not null,
  resource_id uuid not null,
  revision bigint not null,
  webhook_ids uuid[] not null,
  primary key (workspace_id, resource_id, revision)
) with (autovacuum_vacuum_scale_factor = 0.02);
insert into events_to_hand_over
  select workspace_id, resource_id, revision, hand_over_to from events where hand_over_to is not null;
alter table events drop column hand_over_to;

-- The transaction that makes a delivery takes its event from the list, so no event comes to an endpoint twice.
drop index webhook_deliveries_event;
`;

/** Keeps a list of the events that are to be handed over, and fewer indexes on what they become. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(tables).execute(db);
  await sql.raw(tenancy('events_to_hand_over')).execute(db);
}
