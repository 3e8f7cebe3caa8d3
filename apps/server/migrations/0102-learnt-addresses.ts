import { type Kysely, sql } from 'kysely';

export const release = '0.2.0';
export const oldestServer = '0.2.0';

/**
 * Tells addresses that calls led to, which are given up if none does any more, from those that an operator's grant led to;
 * and grants that trunks of an only workspace brought, which last as long as they are named, from an operator's. What is
 * there already may be either, and is the operator's.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table trunk_grant_addresses add column seen_at timestamptz`.execute(db);
  await sql`alter table trunk_grants add column by_operator boolean not null default true`.execute(db);
}
