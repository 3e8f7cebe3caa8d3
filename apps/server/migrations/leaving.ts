import pg from 'pg';
import type { Connection } from '../src/foundation/database/connection.ts';

/**
 * What the sources do without from the coming release on, so that a migration of the one after it may remove it: a
 * `table`, or a `table.column`. The tests run without it, and `schema.txt` is.
 */
export const leaving: readonly string[] = [];

/**
 * Removes what is leaving from a migrated database.
 * @throws if a row could not be written without it, as the coming release will write it
 */
export async function takeOut(connection: Connection, names = leaving): Promise<void> {
  if (names.length === 0) return;
  const client = new pg.Client(connection);
  await client.connect();
  try {
    for (const name of names) {
      const [table, column] = name.split('.') as [string, string?];
      const { rowCount } = await client.query(
        `select from pg_attribute where attrelid = to_regclass($1) and attname = $2 and attnotnull and not atthasdef`,
        [table, column],
      );
      if (rowCount) throw new Error(`${name} must be given in each row: give it a default before it leaves.`);
      await client.query(column ? `alter table ${table} drop column ${column}` : `drop table ${table}`);
    }
  } finally {
    await client.end();
  }
}
