import { type Kysely, sql } from 'kysely';

/** Rises with each change that forbids calls: a call that was claimed under another is looked at again before it is placed. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table workspaces add column do_not_call_revision bigint not null default 0`.execute(db);
}
