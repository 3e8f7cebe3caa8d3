import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { pino } from 'pino';
import type { Connection } from '../src/foundation/database/connection.ts';
import { openDatabase } from '../src/foundation/database/database.ts';
import { migrate } from '../src/foundation/database/migrate.ts';
import { removeEmbeddedPostgres, startEmbeddedPostgres } from '../src/foundation/database/postgres/embedded.ts';
import { takeOut } from './leaving.ts';
import { rowTypes } from './row-types.ts';

// Each query gives (table, line), in the order in which the dump shows them. The embedded PostgreSQL has no pg_dump.
const ours = `c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and c.relname <> 'schema_migrations'`;

const tables = `
select c.relname as table,
  'table ' || c.relname
  || coalesce(' partition of ' || (select inhparent::regclass from pg_inherits where inhrelid = c.oid)
    || ' ' || pg_get_expr(c.relpartbound, c.oid), '')
  || coalesce(' partition by ' || pg_get_partkeydef(c.oid), '')
  || coalesce(' with (' || array_to_string(c.reloptions, ', ') || ')', '')
  || case when c.relforcerowsecurity then ', row security forced'
     when c.relrowsecurity then ', row security' else '' end as line
from pg_class c where ${ours} order by 1`;

const columns = `
select c.relname as table,
  quote_ident(a.attname) || ' ' || format_type(a.atttypid, a.atttypmod)
  || case when a.attnotnull then ' not null' else '' end
  || coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '') as line
from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
where ${ours} order by 1, a.attnum`;

// PostgreSQL 18 lists "not null" (n) as constraints too; 15 does not.
const constraints = `
select c.relname as table, pg_get_constraintdef(k.oid) as line
from pg_class c join pg_constraint k on k.conrelid = c.oid and k.contype <> 'n'
where ${ours} order by 1, k.contype, 2`;

const indexes = `
select c.relname as table, pg_get_indexdef(i.indexrelid) as line
from pg_class c join pg_index i on i.indrelid = c.oid
where ${ours} and not exists (select from pg_constraint k where k.conindid = i.indexrelid and k.contype in ('p', 'u'))
order by 1, 2`;

const policies = `
select c.relname as table, 'policy ' || p.policyname
  || case when p.permissive = 'RESTRICTIVE' then ' restrictive' else '' end
  || case when p.cmd <> 'ALL' then ' for ' || lower(p.cmd) else '' end || ' using ' || p.qual as line
from pg_class c join pg_policies p on p.schemaname = 'public' and p.tablename = c.relname
where ${ours} order by 1, 2`;

const triggers = `
select c.relname as table, pg_get_triggerdef(t.oid) as line
from pg_class c join pg_trigger t on t.tgrelid = c.oid and not t.tgisinternal
where ${ours} order by 1, 2`;

// PostgreSQL 15 names the table before each column; 16 and later do not.
const views = `
select 'view ' || table_name || ' as ' || regexp_replace(regexp_replace(view_definition, '\\m\\w+\\.', '', 'g'), '\\s+', ' ', 'g')
  || ' check option ' || check_option as line
from information_schema.views where table_schema = 'public' order by 1`;

const functions = `
select pg_get_functiondef(oid) as line from pg_proc
where pronamespace = 'public'::regnamespace and prokind in ('f', 'p') order by 1`;

/** A database's schema as text: the same on every supported version of PostgreSQL. */
export async function describeSchema(connection: Connection): Promise<string> {
  const client = new pg.Client(connection);
  await client.connect();
  try {
    const blocks = new Map<string, string[]>();
    for (const query of [tables, columns, constraints, indexes, policies, triggers]) {
      const { rows } = await client.query<{ table: string; line: string }>(query);
      for (const { table, line } of rows) {
        const block = blocks.get(table);
        if (block) block.push(`  ${line.replace(/\s+/g, ' ')}`);
        else blocks.set(table, [line]);
      }
    }
    const parts = [...blocks.values()].map((lines) => lines.join('\n'));
    for (const query of [views, functions]) {
      const { rows } = await client.query<{ line: string }>(query);
      parts.push(...rows.map(({ line }) => line.trim()));
    }
    return `${parts.join('\n\n')}\n`;
  } finally {
    await client.end();
  }
}

/** Migrates an empty embedded database, and writes what the sources need of it to a file and the types of its rows to another. */
async function dumpSchema(file: string, types: string): Promise<void> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'trunkline-schema-'));
  const log = pino({ level: 'warn' });
  try {
    const { connection } = await startEmbeddedPostgres({ dataDir, log });
    const database = openDatabase({ connection, poolSize: 2, log });
    await migrate(database, log).finally(() => database.close());
    await takeOut(connection);
    const dump = await describeSchema(connection);
    await writeFile(file, dump);
    await writeFile(types, rowTypes(dump));
  } finally {
    await removeEmbeddedPostgres(dataDir);
    await rm(dataDir, { recursive: true, force: true });
  }
}

const home = import.meta.dirname;
if (import.meta.main) {
  await dumpSchema(path.join(home, 'schema.txt'), path.join(home, '../src/foundation/database/generated/schema.ts'));
}
