import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { pino } from 'pino';
import { withDatabase } from '../apps/server/src/foundation/database/connection.ts';
import { type Database, openDatabase } from '../apps/server/src/foundation/database/database.ts';
import { migrate } from '../apps/server/src/foundation/database/migrate.ts';
import {
  removeEmbeddedPostgres,
  startEmbeddedPostgres,
} from '../apps/server/src/foundation/database/postgres/embedded.ts';
import { atEnd } from './at-end.ts';

export const log = pino({ level: 'warn' }, pino.destination(2));

/** Connections of each side's pool. */
export const POOL_SIZE = 10;

const FOLDER_START = 'trunkline-bench-';

/** A PostgreSQL of the measurement's own, which both sides use. */
export interface Postgres {
  /** A new, empty, migrated database, with nothing left to write of the one before. */
  database(): Promise<{ database: Database; connectionString: string; drop(): Promise<void> }>;
  /** Where a server finds it as its own, by `DATA_DIR`. */
  dataDir: string;
  /** To the database of such a server. */
  connectionString: string;
  /** The process whose children are all of PostgreSQL. */
  pid: number;
}

/**
 * Starts an embedded PostgreSQL in a folder of its own, which goes with the measurement.
 * @param settings that it has besides
 */
export async function startPostgres(settings: Record<string, string> = {}): Promise<Postgres> {
  await removeWhatKilledRunsLeft();
  const dataDir = await temporaryFolder();
  const starting = startEmbeddedPostgres({ dataDir, log });
  atEnd(async () => {
    // One that still starts would come up after its data are gone.
    await starting.catch(() => {});
    await removeEmbeddedPostgres(dataDir);
  });
  const { connection, stop } = await starting;
  const changes = Object.entries(settings).map(([name, value]) => `alter system set ${name} = '${value}'`);
  if (changes.length > 0) {
    await asSuperuser(connection.connectionString, ...changes);
    await stop();
    await startEmbeddedPostgres({ dataDir, log });
  }
  return {
    dataDir,
    connectionString: connection.connectionString,
    pid: await postmasterOf(connection.connectionString),
    database: async () => {
      const name = `bench_${randomBytes(4).toString('hex')}`;
      await asSuperuser(connection.connectionString, `create database ${name} owner trunkline`);
      const own = withDatabase(connection, name);
      const database = openDatabase({ connection: own, poolSize: POOL_SIZE, log });
      let closed: Promise<void> | undefined;
      const close = () => {
        closed ??= database.close();
        return closed;
      };
      atEnd(close);
      await migrate(database, log);
      await asSuperuser(own.connectionString, 'checkpoint');
      const drop = async () => {
        await close();
        await asSuperuser(connection.connectionString, `drop database ${name} with (force)`);
      };
      return { database, connectionString: own.connectionString, drop };
    },
  };
}

/** The process whose children are all of PostgreSQL. */
export async function postmasterOf(connectionString: string): Promise<number> {
  const lines = "select pg_read_file('postmaster.pid') as lines";
  return Number.parseInt((await asSuperuser<{ lines: string }>(connectionString, lines)).lines, 10);
}

/** Tidies up after much was written, so that no measurement pays for the one before it. */
export const settle = (connectionString: string): Promise<unknown> =>
  asSuperuser(connectionString, 'vacuum analyze', 'checkpoint');

/** Runs statements past row-level security. Returns the first row of the last. */
export async function asSuperuser<Row>(connectionString: string, ...statements: string[]): Promise<Row> {
  const client = new pg.Client(connectionString.replace('//trunkline@', '//postgres@'));
  await client.connect();
  try {
    let rows: Row[] = [];
    for (const statement of statements) rows = (await client.query(statement)).rows;
    return rows[0]!;
  } finally {
    await client.end();
  }
}

/** A folder that goes with the measurement. */
export async function temporaryFolder(): Promise<string> {
  const folder = path.join(tmpdir(), `${FOLDER_START}${process.pid}-${randomBytes(4).toString('hex')}`);
  await mkdir(folder);
  atEnd(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function removeWhatKilledRunsLeft(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const pid = name.startsWith(FOLDER_START) && Number.parseInt(name.slice(FOLDER_START.length), 10);
    if (!pid || runs(pid)) continue;
    const folder = path.join(tmpdir(), name);
    await removeEmbeddedPostgres(folder);
    await rm(folder, { recursive: true, force: true });
  }
}

function runs(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
