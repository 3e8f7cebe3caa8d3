import { type Kysely, sql } from 'kysely';

export const release = '0.2.0';
export const oldestServer = '0.2.0';

/** Agents that the server itself speaks for: `connection` is what is particular to their kind, and nothing secret. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table agents
      add column connection_type text not null default 'stream' check (connection_type in ('stream', 'realtime', 'script')),
      add column connection jsonb,
      add column api_key text,
      alter column connection_url drop not null,
      add check (connection_type <> 'stream' or connection_url is not null)`.execute(db);
}
