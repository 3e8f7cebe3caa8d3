import { type Kysely, sql } from 'kysely';

export const release = '0.2.0';
export const oldestServer = '0.2.0';

/** Names the headers of calls that arrive over a trunk which the agent is told. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table trunks add column headers_to_agent text[] not null default '{}'`.execute(db);
}
