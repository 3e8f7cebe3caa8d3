import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, openSync } from 'node:fs';
import { mkdir, readFile, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Logger } from 'pino';
import type { Connection } from '../connection.ts';
import { tellOfWait } from '../wait-for-start.ts';
import { giveTo, runAs, spawnAs } from './account.ts';
import { postgresBinaries } from './binaries.ts';
import { findPlace, type Place } from './place.ts';
import { postmasterRuns } from './postmaster.ts';

/** A running embedded PostgreSQL. */
export interface EmbeddedPostgres {
  /** As the role `trunkline`, which owns the database and is no superuser: row-level security binds it. */
  connection: Connection;
  /** Ends the server for every process that uses it. It outlives this process otherwise. */
  stop(): Promise<void>;
}

const MAJOR_VERSION = '18';
const ROLE = 'trunkline';
/** A start fails while the processes of a killed server are still ending, so more than one is tried. */
const MOST_FAILURES = 10;
/** Recovery after a crash may take minutes. */
const LONGEST_START_MS = 600_000;
/** So long a start takes without a word about it. */
const QUIET_MS = 2000;
const LONGEST_CONNECT_MS = 2000;
/** So often a server looks whether it still runs. */
const LOOK_MS = 2000;

const settings = {
  listen_addresses: '',
  unix_socket_permissions: '0700',
  shared_buffers: '128MB',
  maintenance_work_mem: '128MB',
  max_wal_size: '2GB',
  min_wal_size: '128MB',
  checkpoint_timeout: '15min',
  random_page_cost: '1.1',
  autovacuum_naptime: '15s',
  idle_in_transaction_session_timeout: '60s',
  jit: 'off',
  // Errors would bring statements, and so people's numbers, into the file.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_checkpoints: 'off',
};

interface StartOptions {
  dataDir: string;
  log: Logger;
  startMs?: number;
  /** How many it takes, unless it runs already. */
  connections?: number;
}

/**
 * Starts the PostgreSQL of this data folder, or attaches to the one that runs. Several processes may do so at once.
 * Throws when PostgreSQL can't be started here, or takes longer than `startMs` for it; the message says why.
 */
export async function startEmbeddedPostgres(options: StartOptions): Promise<EmbeddedPostgres> {
  const place = await findPlace(options.dataDir);
  const binaries = await postgresBinaries(place.account);
  await initialise(binaries, place);
  const connection = connectionTo(place.sockets);
  if (await answers(connection)) options.log.info('attached to the embedded PostgreSQL');
  else await launch(binaries, place, connection, options);
  await takeCreateDb(place.sockets);
  return { connection, stop: () => stopEmbeddedPostgres(options.dataDir) };
}

/**
 * Has the PostgreSQL of this data folder start again whenever it was killed, as by a machine that has no memory left.
 * @returns what ends that
 */
export function keepEmbeddedPostgres({ dataDir, log }: Pick<StartOptions, 'dataDir' | 'log'>): () => void {
  const over = new AbortController();
  const { signal } = over;
  const keep = async () => {
    const place = await findPlace(dataDir);
    for (;;) {
      await sleep(LOOK_MS, undefined, { ref: false, signal });
      await startIfKilled(place, log).catch((error) =>
        log.error({ err: error }, 'the embedded PostgreSQL could not be started again'),
      );
    }
  };
  keep().catch((error) => {
    if (!signal.aborted) log.error({ err: error }, 'nobody looks whether the embedded PostgreSQL runs');
  });
  return () => over.abort();
}

/** Starts a PostgreSQL again that was killed. One that was told to end has taken its note away. */
export async function startIfKilled(place: Place, log: Logger): Promise<void> {
  if (!existsSync(path.join(place.data, 'postmaster.pid')) || (await postmasterRuns(place.data))) return;
  log.warn({ dataFolder: place.data }, 'the embedded PostgreSQL was killed, and is started again');
  await launch(await postgresBinaries(place.account), place, connectionTo(place.sockets), { log });
}

/**
 * The PostgreSQL of this data folder as it is, with nothing started: where its data lie, and how it is reached where it runs.
 * Undefined where there is none yet.
 */
export async function findEmbeddedPostgres(
  dataDir: string,
): Promise<{ data: string; connection?: Connection } | undefined> {
  const made = ['postgres', 'postgres.location'].some((name) => existsSync(path.join(dataDir, name)));
  if (!made) return undefined;
  const { data, sockets } = await findPlace(dataDir);
  const found = await readVersion(data);
  if (!found) return undefined;
  if (found !== MAJOR_VERSION) throw new Error(ofOtherVersion(data, found));
  return { data, ...((await postmasterRuns(data)) && { connection: connectionTo(sockets) }) };
}

/** Ends the PostgreSQL of this data folder, with its clients' transactions rolled back. Does nothing if none runs. */
export async function stopEmbeddedPostgres(dataDir: string): Promise<void> {
  await end(await findPlace(dataDir), 'fast');
}

async function end(place: Place, mode: 'fast' | 'immediate'): Promise<void> {
  if (!(await postmasterRuns(place.data))) return;
  const binaries = await postgresBinaries(place.account);
  const args = ['stop', '-D', place.data, '-m', mode, '-w', '-t', '60'];
  await runAs(place.account, path.join(binaries, 'bin/pg_ctl'), args).catch(async (error) => {
    if (await postmasterRuns(place.data)) throw error;
  });
}

/** Ends the PostgreSQL of this data folder and deletes its data, wherever they lie. For tests and the demo. */
export async function removeEmbeddedPostgres(dataDir: string): Promise<void> {
  const place = await findPlace(dataDir);
  await end(place, 'immediate');
  for (const folder of [place.data, place.sockets]) await rm(folder, { recursive: true, force: true });
  await rm(path.join(dataDir, 'postgres.location'), { force: true });
}

/** To bring a thousand files to the disk one by one takes most of a first start. */
const syncAtOnce = process.platform === 'linux' ? ['--sync-method=syncfs'] : [];

/** Makes the data folder aside and moves it into place whole, so that a crash or a race leaves none half made. */
async function initialise(binaries: string, { account, data }: Place): Promise<void> {
  const found = await readVersion(data);
  if (found === MAJOR_VERSION) return;
  if (found) throw new Error(ofOtherVersion(data, found));

  const draft = `${data}.init-${randomUUID()}`;
  try {
    await mkdir(draft, { mode: 0o700 });
    await giveTo(account, draft);
    const locale = ['--locale=C.UTF-8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '-E', 'UTF8'];
    const options = ['-D', draft, '-U', 'postgres', '-A', 'trust', ...locale, ...syncAtOnce];
    await runAs(account, path.join(binaries, 'bin/initdb'), options);
    const statements = `create role ${ROLE} login\ncreate database ${ROLE} owner ${ROLE}\n`;
    const single = ['--single', '-D', draft, '-c', 'exit_on_error=on', 'postgres'];
    await runAs(account, path.join(binaries, 'bin/postgres'), single, statements);
    await rename(draft, data);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    if ((await readVersion(data)) !== MAJOR_VERSION) throw error;
  }
}

const ofOtherVersion = (data: string, found: string) =>
  `${data} is of PostgreSQL ${found}; this server brings ${MAJOR_VERSION}.`;

/** Any number that no other advisory lock of ours has: of several servers that start, one at a time changes the role. */
const ROLE_LOCK = 7_210_002;

/** The role of data folders that an earlier version has made could make databases, for which it has no use. */
async function takeCreateDb(sockets: string): Promise<void> {
  const client = new pg.Client({ ...connectionTo(sockets, 'postgres'), connectionTimeoutMillis: LONGEST_CONNECT_MS });
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query(`
      select pg_advisory_xact_lock(${ROLE_LOCK});
      do $$ begin
        if (select rolcreatedb from pg_roles where rolname = '${ROLE}') then alter role ${ROLE} nocreatedb; end if;
      end $$`);
  } finally {
    await client.end();
  }
}

const readVersion = (data: string) =>
  readFile(path.join(data, 'PG_VERSION'), 'utf8').then(
    (text) => text.trim(),
    () => undefined,
  );

/** Starts the server until it answers. When another process starts it too, PostgreSQL's own lock lets one win. */
async function launch(
  binaries: string,
  place: Place,
  connection: Connection,
  { log, startMs = LONGEST_START_MS, connections }: Omit<StartOptions, 'dataDir'>,
): Promise<void> {
  const began = performance.now();
  const goOn = tellOfWait(log, startMs);
  let failures = 0;
  let child: ChildProcess | undefined;
  while (!(await answers(connection))) {
    // As long as a server runs, it is waited for.
    if (!child && !(await postmasterRuns(place.data))) {
      child = spawnServer(binaries, place, connections);
      const ended = (error: unknown) => {
        failures += 1;
        child = undefined;
        if (error instanceof Error) log.warn({ reason: error.message }, 'PostgreSQL could not be run');
      };
      child.once('error', ended).once('exit', ended);
    }
    if (failures === MOST_FAILURES) throw new Error(`PostgreSQL doesn't start; ${logFile(place)} says why.`);
    if (performance.now() - began > QUIET_MS && !goOn()) throw new Error(notYet(place, startMs));
    await sleep(failures === 0 ? 20 : 300);
  }
  log.info({ dataFolder: place.data }, 'started the embedded PostgreSQL');
}

const notYet = (place: Place, startMs: number) =>
  `PostgreSQL has not started within ${startMs / 1000} s; ${logFile(place)} says how far it is. It goes on: start the server again to wait for it.`;

const logFile = (place: Place) => path.join(place.data, 'postgres.log');

function spawnServer(binaries: string, place: Place, connections = 200): ChildProcess {
  const all = { ...settings, max_connections: String(connections), unix_socket_directories: place.sockets };
  const args = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const file = openSync(logFile(place), 'a', 0o600);
  try {
    const child = spawnAs(place.account, path.join(binaries, 'bin/postgres'), ['-D', place.data, ...args], {
      detached: true,
      stdio: ['ignore', file, file],
    });
    child.unref();
    return child;
  } finally {
    closeSync(file);
  }
}

const connectionTo = (sockets: string, role = ROLE): Connection => ({
  connectionString: `postgresql://${role}@${encodeURIComponent(sockets)}/${ROLE}`,
  isEmbedded: true,
});

/** False while nobody answers or the server starts or stops (57P03); throws what won't pass by itself. */
async function answers(connection: Connection): Promise<boolean> {
  const client = new pg.Client({ ...connection, connectionTimeoutMillis: LONGEST_CONNECT_MS });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query('select 1');
    return true;
  } catch (error) {
    if (error instanceof pg.DatabaseError && error.code !== '57P03') throw error;
    if ((error as NodeJS.ErrnoException).code === 'EACCES') throw error;
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}
