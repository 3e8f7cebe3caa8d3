import { type Kysely, sql } from 'kysely';

export const release = '0.3.0';
export const oldestServer = '0.2.0';

/** What is done if a machine answers, and the message that was left with it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table campaigns
      add column voicemail_terms jsonb,
      add column voicemail_counts boolean not null default false`.execute(db);
  await sql`alter table call_intents add column voicemail_terms jsonb`.execute(db);
  await sql`alter table agents add column voicemail_terms jsonb`.execute(db);
  await sql`alter table calls add column message_left jsonb`.execute(db);
}
