import { type Kysely, sql } from 'kysely';

export const release = '0.3.0';
export const oldestServer = '0.2.0';

/** What a call keeps to that an agent has asked for, and the one that follows it: the hours of the first, and how many there were. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table call_intents add column call_back_terms jsonb`.execute(db);
  await sql`alter table calls add column call_back_terms jsonb`.execute(db);
}
