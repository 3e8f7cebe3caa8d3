import { type Kysely, sql } from 'kysely';

/** How often one person may be called in so many hours: a list of `{attempts, hours}`; null where nothing of it binds. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table workspaces add column max_attempts_per_person jsonb`.execute(db);
}
