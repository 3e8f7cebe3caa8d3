import { type Kysely, sql } from 'kysely';

export const release = '0.3.0';
export const oldestServer = '0.2.0';

/** Who answered a call, as it was heard, and by what that was judged. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table calls
      add column answered_by text,
      add column answered_by_evidence jsonb`.execute(db);
}
