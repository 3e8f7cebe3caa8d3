import { type Kysely, sql } from 'kysely';

/** Whether a campaign calls only people whose list says that they have agreed to it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table campaigns add column require_consent boolean not null default false`.execute(db);
}
