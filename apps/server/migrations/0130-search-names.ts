import { type Kysely, sql } from 'kysely';

export const release = '0.3.0';
export const oldestServer = '0.2.0';

/**
 * Names as they are searched. Columns of their own: row-level security lets no index on `lower(name)` be used, since `lower`
 * might tell what it sees.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of ['campaigns', 'contact_lists', 'contact_list_entries']) {
    await sql`
      alter table ${sql.table(table)} add column search_name text generated always as (lower(name)) stored`.execute(db);
    await sql`
      create index ${sql.id(`${table}_search_name`)} on ${sql.table(table)}
        (workspace_id, search_name text_pattern_ops) where search_name <> ''`.execute(db);
  }
}
