import { type Kysely, sql } from 'kysely';

export const release = '0.2.0';
export const oldestServer = '0.2.0';

/** Counts of each trunk the INVITEs in a row that it has left without any answer. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table trunk_health add column unanswered_invites smallint not null default 0`.execute(db);
}
