import { type Kysely, sql } from 'kysely';

export const release = '0.2.0';
export const oldestServer = '0.2.0';

/** Until when nobody is called for an agent, since its model had no rate or quota left. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table agent_health add column limited_until timestamptz`.execute(db);
}
