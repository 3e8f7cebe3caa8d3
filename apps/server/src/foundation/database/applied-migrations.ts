import { type Kysely, type QueryExecutorProvider, sql } from 'kysely';
import { ConfigError } from '../../config.ts';

export interface Migration {
  /** The version of the server that brings it. */
  release: string;
  /**
   * The oldest version whose servers work with the tables after it: the former release if it only adds, or removes what
   * that one has done without; else `release` itself.
   */
  oldestServer: string;
  up(db: Kysely<unknown>): Promise<void>;
}

/** As the database remembers it, also of migrations that this server does not know. */
export interface AppliedMigration {
  name: string;
  release: string;
  oldest_server: string;
}

const INITIAL: AppliedMigration = { name: '0065-initial', release: '0.2.0', oldest_server: '0.2.0' };
/** The last of those that came to the same tables one by one. */
const LAST_OF_BEFORE = '0063-required-consent';

/**
 * What was applied to a database, in the order of its name. Writes nothing. Throws `ConfigError` where its tables are older
 * than what migrations begin with now.
 */
export async function appliedTo(db: QueryExecutorProvider): Promise<AppliedMigration[]> {
  if (await exists(db, 'schema_migrations')) {
    const { rows } = await sql<AppliedMigration>`
      select name, release, oldest_server from schema_migrations order by name`.execute(db);
    return rows;
  }
  const before = await newestOfBefore(db);
  if (!before) return [];
  if (before === LAST_OF_BEFORE) return [INITIAL];
  throw new ConfigError(
    `The database is at migration ${before}, older than ${INITIAL.release} can read: start a checkout of the last commit ` +
      `that has apps/server/migrations/${LAST_OF_BEFORE}.ts once, and then this version.`,
  );
}

/** Makes the table that remembers migrations. A database whose tables were made one by one is marked as of 0.2.0. */
export async function openAppliedMigrations(db: Kysely<unknown>): Promise<void> {
  if (await exists(db, 'schema_migrations')) return;
  const before = await appliedTo(db);
  await sql`
    create table schema_migrations (
      name text primary key,
      release text not null,
      oldest_server text not null,
      applied_at timestamptz not null default clock_timestamp()
    )`.execute(db);
  await sql`drop table if exists kysely_migration, kysely_migration_lock`.execute(db);
  for (const each of before) await noteApplied(db, each.name, { ...each, oldestServer: each.oldest_server });
}

/** Remembers that a migration was applied, for servers that do not know it. */
export async function noteApplied(
  db: Kysely<unknown>,
  name: string,
  { release, oldestServer }: Pick<Migration, 'release' | 'oldestServer'>,
): Promise<void> {
  await sql`
    insert into schema_migrations (name, release, oldest_server) values (${name}, ${release}, ${oldestServer})`.execute(
    db,
  );
}

async function newestOfBefore(db: QueryExecutorProvider): Promise<string | null> {
  if (!(await exists(db, 'kysely_migration'))) return null;
  const { rows } = await sql<{ newest: string | null }>`select max(name) as newest from kysely_migration`.execute(db);
  return rows[0]!.newest;
}

async function exists(db: QueryExecutorProvider, table: string): Promise<boolean> {
  const { rows } = await sql<{ found: boolean }>`select to_regclass(${table}) is not null as found`.execute(db);
  return rows[0]!.found;
}
