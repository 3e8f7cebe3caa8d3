import { type Kysely, sql } from 'kysely';

/** Both are null where there are none, so that calls without them pay for no index. */
const calls = `
alter table calls add column external_id text, add column tags text[];
create index calls_external_id on calls (workspace_id, external_id, id) where external_id is not null;`;

/** What clients find their calls by again. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw(calls).execute(db);
}
