import { Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';
import type { Logger } from 'pino';
import * as initial from '../../../migrations/0065-initial.ts';
import * as witnessSlots from '../../../migrations/0066-witness-slots.ts';
import { appliedTo, type Migration, noteApplied, openAppliedMigrations } from './applied-migrations.ts';
import type { Database } from './database.ts';
import { watchPool } from './silence.ts';

/** Every migration, in the order of its name. They go forward only. */
export const migrations: Record<string, Migration> = {
  '0065-initial': initial,
  '0066-witness-slots': witnessSlots,
};

/** Any number that no other advisory lock of ours has: one process migrates, and others wait. */
const LOCK_ID = 7_065_200;

/**
 * Brings the database's tables to the newest state, in one transaction. Several servers may call this at once: one works
 * and the others wait. Throws a `ConfigError` if the tables are of a version that leads nowhere from here, or what a
 * migration threw; nothing of it is kept then.
 */
export async function migrate(database: Database, log: Logger): Promise<void> {
  // Connections without the limits of the others: it takes its time, and waits for who migrates already.
  const pool = new pg.Pool({ ...database.connection, connectionTimeoutMillis: 10_000, application_name: 'trunkline' });
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  const silence = watchPool(pool, { connection: database.connection, log });
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) });
  try {
    await warnOfPrivileges(db, log);
    const done = await db.transaction().execute(async (tx) => {
      await sql`select pg_advisory_xact_lock(${sql.lit(LOCK_ID)})`.execute(tx);
      return bringUpToDate(tx, log);
    });
    if (done.length > 0) log.info({ migrations: done.length, newest: done.at(-1) }, 'migrated');
  } finally {
    await db.destroy();
    silence.close();
  }
}

/** Does what is not done yet, and answers what that was. */
async function bringUpToDate(tx: Kysely<unknown>, log: Logger): Promise<string[]> {
  await openAppliedMigrations(tx);
  const applied = await appliedTo(tx);
  const pending = Object.entries(migrations).filter(([name]) => !applied.some((each) => each.name === name));
  for (const [name, migration] of pending) {
    await migration.up(tx).catch((error) => {
      log.error({ migration: name }, 'a migration failed');
      throw error;
    });
    await noteApplied(tx, name, migration);
  }
  return pending.map(([name]) => name);
}

/** Row-level security is the second wall between workspaces, and such a role walks through it. */
async function warnOfPrivileges(db: Kysely<unknown>, log: Logger): Promise<void> {
  const { rows } = await sql<{ unbound: boolean }>`
    select rolsuper or rolbypassrls as unbound from pg_roles where rolname = current_user`.execute(db);
  if (rows[0]?.unbound) {
    log.warn(
      'the database role is a superuser or has BYPASSRLS: row-level security does not bind it; use another role',
    );
  }
}
