import { type Kysely, sql } from 'kysely';

export const release = '0.2.0';
export const oldestServer = '0.2.0';

/** Lets campaigns say after how many hours they call again who answered and found no agent; null for never. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table campaigns add column abandoned_retry_hours smallint`.execute(db);
}
