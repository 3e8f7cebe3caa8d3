import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../../src/foundation/database/database.ts';

/** Where some digits stand: in every column of every table of the database, whatever it holds, and in every file. */
export async function whereIs(
  { database, dataDir }: { database: Database; dataDir: string },
  digits: string,
): Promise<string[]> {
  const found = await database.inEngine(async ({ db }) => {
    const { rows: tables } = await sql<{ schema: string; name: string; columns: string[] }>`
      select table_schema as schema, table_name as name, array_agg(column_name::text) as columns
      from information_schema.columns join information_schema.tables using (table_schema, table_name)
      where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')
      group by 1, 2 order by 1, 2`.execute(db);
    const isIn = async (schema: string, table: string, part: RawBuilder<unknown>) => {
      const text = sql`regexp_replace(${part}::text, '[ ().-]', '', 'g')`;
      const like = `%${digits}%`;
      const { rows } = await sql`select from ${sql.id(schema, table)} as t where ${text} like ${like} limit 1`.execute(
        db,
      );
      return rows.length > 0;
    };
    const places: string[] = [];
    for (const { schema, name, columns } of tables) {
      if (!(await isIn(schema, name, sql`t`))) continue;
      for (const column of columns)
        if (await isIn(schema, name, sql.ref(`t.${column}`))) places.push(`${name}.${column}`);
    }
    return places;
  });
  const folder = path.join(dataDir, 'objects');
  for (const name of await readdir(folder, { recursive: true })) {
    const text = await readFile(path.join(folder, name), 'utf8').catch(() => '');
    if (text.includes(digits) || name.includes(digits)) found.push(name);
  }
  return found;
}
