import { type Kysely, sql } from 'kysely';

export const release = '0.2.0';
export const oldestServer = '0.2.0';

/** Counts the changes that clients make, so that one who changes what somebody else has changed meanwhile is told. */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of ['agents', 'number_pools', 'webhooks', 'knowledge_bases']) {
    await sql`alter table ${sql.table(table)} add column edition bigint not null default 1`.execute(db);
  }
}
