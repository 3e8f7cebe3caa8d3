import { type Kysely, sql } from 'kysely';

const schema = `
-- What is blocked is looked at again once a number or pool of its workspace has changed.
create index phone_numbers_changed on phone_numbers (workspace_id, updated_at);
create index number_pools_changed on number_pools (workspace_id, updated_at);
`;

/** What a workspace has changed last is found without reading all of its numbers and pools each second. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(schema).execute(db);
}
