import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import type { Logger } from 'pino';
import { type Composition, compose } from './compose.ts';
import type { Overrides } from './compose-services.ts';
import { type Config, ConfigError } from './config.ts';
import type { Connection } from './foundation/database/connection.ts';
import { type Database, openDatabase } from './foundation/database/database.ts';
import { keptNumberKey } from './foundation/database/kept-number-key.ts';
import { migrate } from './foundation/database/migrate.ts';
import { numberKey } from './foundation/database/number-digest.ts';
import { numberKeyFault, OTHER_KEY } from './foundation/database/number-key-fault.ts';
import { keepEmbeddedPostgres, startEmbeddedPostgres } from './foundation/database/postgres/embedded.ts';
import { type EncryptionKeys, loadEncryptionKeys } from './foundation/database/secrets.ts';
import { sessionFault } from './foundation/database/session-fault.ts';
import { reasonOf, waitForStart } from './foundation/database/wait-for-start.ts';
import { listen } from './foundation/http/listen.ts';
import { openTracer } from './foundation/observe/otlp-tracer.ts';
import { setTracer } from './foundation/observe/tracing.ts';
import { type Clock, createMachineClock } from './foundation/values/clock.ts';
import { openDataDir } from './foundation/values/data-dir.ts';
import { withDeadline } from './foundation/values/deadline.ts';
import { ensureFirstKey } from './platform/api-keys/first-key.ts';

export interface ServerOptions {
  config: Config;
  log: Logger;
  clock?: Clock;
  overrides?: Overrides;
}

export interface RunningServer {
  url: string;
  /** The first key, where this start has made it. */
  firstKey: string | undefined;
  database: Database;
  /** Drains and ends within 10 s: no new work, streams told to reconnect, leases given back. */
  stop(): Promise<void>;
}

/** Requests that run get this long to end. */
const REQUESTS_MS = 5_000;
const DATABASE_CHECK_MS = 2_000;
/** Spans that are left get this long to be sent. */
const FLUSH_MS = 2_000;

/** How long a PostgreSQL of one's own is waited for that still starts. */
const DATABASE_START_MS = 60_000;

/**
 * The database of the settings, migrated: that of `DATABASE_URL`, or the embedded one.
 * @param startMs how long it is waited for while it still starts
 * @param keys what erased numbers are known by is sealed under; a command that neither dials nor erases needs none
 */
export async function openMigrated(
  config: Config,
  log: Logger,
  startMs = DATABASE_START_MS,
  keys?: EncryptionKeys,
): Promise<Database> {
  const connection = await connectionOf(config, log);
  const open = (erasedBy: string | undefined) =>
    openDatabase({ connection, poolSize: config.poolSize, log, ...(erasedBy && { numberKey: erasedBy }) });
  let database = open(keys && numberKey(keys[0]));
  try {
    if (config.databaseUrl) {
      await waitForStart(database.connection, log, startMs);
      const fault = await sessionFault(database.connection);
      if (fault) throw new ConfigError(fault);
    }
    await migrate(database, log);
    await refuseUnsafeCommits(database);
    const kept = keys && (await keptNumberKey(database, keys));
    if (keys && !kept) throw new ConfigError(OTHER_KEY);
    if (kept && kept !== database.numberKey) {
      // Its connections were given the one that is made from a later key.
      await database.close();
      database = open(kept);
    }
    const fault = keys && (await database.inEngine(numberKeyFault));
    if (fault) throw new ConfigError(fault);
    return database;
  } catch (error) {
    await database.close();
    throw config.databaseUrl && isUnreachable(error)
      ? new ConfigError(`DATABASE_URL names a database that can not be used: ${reasonOf(error)}. ${ADVICE}`, {
          cause: error,
        })
      : error;
  }
}

/** What is committed must be there after a crash: a call that was placed would be placed again. */
async function refuseUnsafeCommits({ pool }: Database): Promise<void> {
  const { rows } = await pool.query<{ synchronous_commit: string }>('show synchronous_commit');
  if (rows[0]?.synchronous_commit !== 'off') return;
  throw new ConfigError(
    'The database may lose what it has committed: set synchronous_commit to on for it and for the role.',
  );
}

const ADVICE = 'Start PostgreSQL there, or set DATABASE_URL to one that runs and lets this role in.';

/** No such host, nobody answers, or PostgreSQL starts for too long or refuses the role, its password or the database's name. */
function isUnreachable(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  const { code = '' } = error as NodeJS.ErrnoException;
  return /^(E[A-Z_]+|28...|3D000|57P03)$/.test(code) || /^(timeout expired|Connection terminated)/.test(error.message);
}

async function connectionOf({ databaseUrl, dataDir }: Config, log: Logger): Promise<Connection> {
  if (databaseUrl) return { connectionString: databaseUrl };
  return (await startEmbeddedPostgres({ dataDir, log })).connection;
}

/** Starts a whole server and resolves once it is ready. Throws, with nothing left running, where it can't. */
export async function startServer({ config, log, overrides = {}, ...options }: ServerOptions): Promise<RunningServer> {
  const machine = createMachineClock(overrides.machineTime);
  const { clock = machine } = options;
  await openDataDir(config.dataDir);
  const listening = await listen(config.port, config.host);
  const draining = new AbortController();
  let started = false;
  let database: Database | undefined;
  let composition: Composition | undefined;
  let leavePostgres: (() => void) | undefined;
  try {
    // Before the database: what it knows numbers by that were erased is made from it.
    const opened = await openMigrated(config, log, undefined, await loadEncryptionKeys(config));
    database = opened;
    if (!config.databaseUrl) leavePostgres = keepEmbeddedPostgres({ dataDir: config.dataDir, log });
    const tracing = await openTracer(config, log);
    setTracer(tracing);
    const firstKey = await ensureFirstKey(opened, clock, config.bootstrapApiKey);
    const notReady = async () => {
      if (draining.signal.aborted) return 'draining';
      if (!started) return 'starting';
      return (await answers(opened)) ? undefined : 'the database can not be reached';
    };
    const publicUrl = config.publicUrl ?? `http://localhost:${listening.port}`;
    const parts = {
      config,
      database: opened,
      clock,
      machine,
      log,
      publicUrl,
      draining: draining.signal,
      notReady,
      overrides,
    };
    const composed = await compose(parts);
    composition = composed;
    listening.serve(await composed.createApp());
    listening.upgrade(composed.sockets.takers);
    await composed.start();
    started = true;

    const stop = async () => {
      draining.abort();
      leavePostgres?.();
      // Without the database leases can't be given back; they run out then.
      await composed.stop(listening.close(REQUESTS_MS)).finally(() => opened.close());
      // A collector that is away holds up nobody.
      await withDeadline(FLUSH_MS, async () => tracing?.close()).catch((error) =>
        log.warn({ err: error }, 'spans were lost'),
      );
    };
    return { url: publicUrl, firstKey, database: opened, stop };
  } catch (error) {
    leavePostgres?.();
    await listening.close(0);
    await composition?.stop(Promise.resolve());
    await database?.close();
    throw error;
  }
}

async function answers(database: Database): Promise<boolean> {
  const asked = database
    .inEngine((tx) => sql`select 1`.execute(tx.db))
    .then(
      () => true,
      () => false,
    );
  return Promise.race([asked, sleep(DATABASE_CHECK_MS, false)]);
}
