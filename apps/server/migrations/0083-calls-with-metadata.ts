import { type Kysely, sql } from 'kysely';

export const release = '0.2.0';
export const oldestServer = '0.2.0';

/**
 * Lists calls that have metadata without reading the others. No index on what is in it could be used: behind row-level
 * security only operators may look into one that are leakproof, and those of `jsonb` are not.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index calls_with_metadata on calls (workspace_id, id) where metadata <> '{}'`.execute(db);
}
