import { type Kysely, sql } from 'kysely';

const columns = `
alter table campaigns add column tags text[] not null default '{}';
alter table phone_numbers add column use_same_for_inbound boolean not null default false;
-- What alone an endpoint is told of, by the IDs that clients see; all three null: everything.
alter table webhooks add column campaign_ids text[], add column batch_ids text[], add column tags text[];
`;

/** Tags of campaigns, numbers whose outbound agent takes their calls too, and endpoints for a part of what happens. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(columns).execute(db);
}
