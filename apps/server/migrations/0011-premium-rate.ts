import { type Kysely, sql } from 'kysely';

/** Premium-rate numbers are called by no workspace that did not ask for it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table workspaces add column premium_rate_allowed boolean not null default false`.execute(db);
}
