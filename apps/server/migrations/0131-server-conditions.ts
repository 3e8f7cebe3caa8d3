import { type Kysely, sql } from 'kysely';

export const release = '0.3.0';
export const oldestServer = '0.2.0';

/** What each server says of itself, so that any of them can tell of all: when it was heard last, and what it warns of. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table servers
      add column renewed_at timestamptz,
      add column draining boolean not null default false,
      add column warnings text[] not null default '{}',
      add column warned_at timestamptz`.execute(db);
}
