import { type Kysely, sql } from 'kysely';

export const release = '0.2.0';
export const oldestServer = '0.2.0';

/** Keeps of a campaign that waits for its time whether its agent is tested before it starts. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table campaigns add column asks_agent boolean not null default true`.execute(db);
}
