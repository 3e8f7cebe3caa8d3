import { type Kysely, sql } from 'kysely';

export const release = '0.2.0';
export const oldestServer = '0.2.0';

/** Counts the changes that clients make of these too. The draft of a workflow has its own count, and an entry needs none. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of ['workspaces', 'trunks', 'phone_numbers', 'contact_lists', 'campaigns']) {
    await sql`alter table ${sql.table(table)} add column edition bigint not null default 1`.execute(db);
  }
}
