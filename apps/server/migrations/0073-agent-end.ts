import { type Kysely, sql } from 'kysely';

export const release = '0.2.0';
export const oldestServer = '0.2.0';

/** Keeps what the agent of a call did. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table calls add column agent_end jsonb`.execute(db);
  await sql`alter table sip_calls add column agent_end jsonb`.execute(db);
}
