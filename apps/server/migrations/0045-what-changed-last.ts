import { type Kysely, sql } from 'kysely';

const schema = `
-- What is blocked is looked at again once a number or pool of its workspace has changed. Only a query that says the
-- condition can take these: for a number that is looked up by its ID, the planner would read all of its workspace's where
-- it takes them for few.
create index phone_numbers_changed on phone_numbers (workspace_id, updated_at) where updated_at > 'epoch';
create index number_pools_changed on number_pools (workspace_id, updated_at) where updated_at > 'epoch';
`;

/** What a workspace has changed last is found without reading all of its numbers and pools each second. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(schema).execute(db);
}
