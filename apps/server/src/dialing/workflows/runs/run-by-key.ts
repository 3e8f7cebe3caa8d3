import { type RawBuilder, sql } from 'kysely';

/**
 * The end of a statement that looks up one run by its key. By `=` an index that only begins with the workspace looks as cheap while
 * there are few runs, and PostgreSQL 15 then walks all of the workspace for each; only the primary key has runs in the order of
 * their IDs.
 */
export const whereRunIs = (workspaceId: RawBuilder<unknown>, id: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`where t.workspace_id = ${workspaceId} and t.id >= ${id} and t.id <= ${id} order by t.id limit 1`;
