import { sql } from 'kysely';
import { type Config, ConfigError } from '../../config.ts';
import { appliedTo } from '../../foundation/database/applied-migrations.ts';
import type { Database } from '../../foundation/database/database.ts';
import { migrations } from '../../foundation/database/migrate.ts';
import { versionFault, versionOfTables } from '../../foundation/database/versions.ts';
import { createMachineClock } from '../../foundation/values/clock.ts';
import { type Finding, mend, note, ok } from './finding.ts';

const OLDEST = 150_000;
/** Connections that a server opens beside those of POOL_SIZE (operations.md, "The database"). */
const BESIDE_POOL = 12;
const LOOKS = 3;

/** Looks at PostgreSQL, and at the role. */
export async function checkPostgres(database: Database, { poolSize }: Config): Promise<Finding[]> {
  const { rows } = await database.inEngine(({ db }) =>
    sql<
      Record<'version' | 'role' | 'commits', string> &
        Record<'unbound' | 'makes' | 'standby', boolean> &
        Record<'number' | 'connections', number>
    >`
      select current_setting('server_version') as version, current_setting('server_version_num')::int as number,
        current_user as role, rolsuper or rolbypassrls as unbound,
        has_schema_privilege(current_user, 'public', 'create') as makes,
        current_setting('synchronous_commit') as commits, pg_is_in_recovery() as standby,
        current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as connections
      from pg_roles where rolname = current_user`.execute(db),
  );
  const { version, number, role, unbound, makes, commits, standby, connections } = rows[0]!;
  const needs = poolSize + BESIDE_POOL;
  const wrong: Finding[] = [];
  const say = (fault: boolean, subject: string, text: string) => fault && wrong.push(mend(subject, text));
  say(number < OLDEST, 'database', `PostgreSQL ${version} is too old: update it to 15 or newer.`);
  say(standby, 'database', 'It is a standby, which takes no writes: set DATABASE_URL to the primary.');
  say(
    commits === 'off',
    'database',
    'It may lose what it has committed: set synchronous_commit to on for it and for the role.',
  );
  say(
    connections < needs,
    'database',
    `It takes ${connections} connections and a server needs ${needs}: raise max_connections, or lower POOL_SIZE.`,
  );
  say(
    unbound,
    'role',
    `${role} is a superuser or has BYPASSRLS, so row-level security does not bind it: use a role that has neither.`,
  );
  say(
    !makes,
    'role',
    `${role} may make no tables: make it the owner of the database (alter database … owner to ${role}).`,
  );
  const right = [ok('database', `PostgreSQL ${version} answers.`), ok('role', `${role} has what it needs.`)];
  return [...right.filter(({ subject }) => wrong.every((each) => each.subject !== subject)), ...wrong];
}

/** Compares the tables with those of this version. */
export async function checkTables(database: Database): Promise<Finding> {
  const applied = await database
    .inEngine(({ db }) => appliedTo(db))
    .catch((error) => {
      if (error instanceof ConfigError) return error;
      throw error;
    });
  if (applied instanceof ConfigError) return mend('tables', applied.message);
  const fault = versionFault(applied, migrations);
  if (fault) return mend('tables', fault);
  const missing = Object.keys(migrations).filter((name) => !applied.some((each) => each.name === name)).length;
  const isNewer = applied.some(({ name }) => !(name in migrations));
  if (isNewer) return ok('tables', `They are of ${versionOfTables(applied)}, which this version can work with.`);
  if (missing === 0) return ok('tables', 'They are those of this version.');
  if (applied.length === 0) return note('tables', 'There are none yet: `migrate` or the first start makes them.');
  return note(
    'tables',
    `Migrations that are to be done: ${missing}. \`migrate\` or the next start does them. Back up first.`,
  );
}

/**
 * Compares the machine's clock with the database's.
 * @param machineTime what the machine's reads, in milliseconds since the epoch
 */
export async function checkClock(database: Database, machineTime?: () => number): Promise<Finding> {
  const machine = createMachineClock(machineTime);
  for (let look = 0; look < LOOKS; look += 1)
    await database.inEngine(async ({ db }) => {
      const asked = performance.now();
      const { rows } = await sql<{ now: Date }>`select clock_timestamp() as now`.execute(db);
      machine.compare(asked, rows[0]!.now);
    });
  const fault = machine.fault();
  if (fault === undefined)
    return ok('clock', `${((machine.aheadMs() ?? 0) / 1000).toFixed(1)} s ahead of the database's.`);
  return mend(
    'clock',
    `${fault[0]!.toUpperCase()}${fault.slice(1)}. Mend the time service of whichever is wrong (timedatectl, chronyc tracking).`,
  );
}

/** Tells which servers share the database. */
export async function checkLeases(database: Database): Promise<Finding> {
  const { rows } = await database.inEngine(({ db }) =>
    sql<{ servers: number }>`
      select count(*)::int as servers from servers where lease_until > clock_timestamp()`.execute(db),
  );
  const { servers } = rows[0]!;
  if (servers === 0) return note('lease', 'No server has a lease: none runs on this database.');
  return ok('lease', `Servers that have one: ${servers}.`);
}
