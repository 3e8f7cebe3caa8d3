import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { type Database, openDatabase } from '../../src/foundation/database/database.ts';
import { spawnAs, unprivilegedAccount } from '../../src/foundation/database/postgres/account.ts';
import {
  findEmbeddedPostgres,
  removeEmbeddedPostgres,
  startEmbeddedPostgres,
  stopEmbeddedPostgres,
} from '../../src/foundation/database/postgres/embedded.ts';
import { newKey } from '../../src/platform/api-keys/key.ts';
import { startServerProcess } from '../server-process.ts';
import { until } from '../until.ts';

/** What libfaketime is loaded by, where it is installed (Debian: `faketime`). */
const preload = spawnSync('faketime', ['-f', '+0', 'printenv', 'LD_PRELOAD'], { encoding: 'utf8' }).stdout?.trim();
export const hasFaketime = Boolean(preload);

/** How long programs keep to an offset that they have read, in seconds. */
const KEPT_SECONDS = 1;

/** A server and its PostgreSQL in processes of their own, whose clock a test sets. */
export interface FakeMachine {
  database: Database;
  /** Has the clock read a time. Resolves once the server goes by it. */
  set(time: Date): Promise<void>;
  stop(): Promise<void>;
}

/** Starts them at a time. The database is PostgreSQL's embedded one, for the two must have one clock. */
export async function startFakeMachine(at: Date): Promise<FakeMachine> {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'trunkline-fake-machine-'));
  await chmod(dataDir, 0o755);
  const offsetFile = path.join(dataDir, 'offset');
  const write = (time: Date) => {
    const ahead = (time.getTime() - Date.now()) / 1000;
    writeFileSync(offsetFile, `${ahead < 0 ? '' : '+'}${ahead}`);
  };
  write(at);
  const env = {
    LD_PRELOAD: preload!,
    FAKETIME_TIMESTAMP_FILE: offsetFile,
    FAKETIME_CACHE_DURATION: `${KEPT_SECONDS}`,
    // What waits, and how long something took, stays true.
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    DONT_FAKE_MONOTONIC: '1',
    NO_FAKE_STAT: '1',
  };
  const log = pino({ level: 'silent' });
  const { connection } = await startEmbeddedPostgres({ dataDir, log });
  const { data } = (await findEmbeddedPostgres(dataDir))!;
  const [program, ...args] = readFileSync(path.join(data, 'postmaster.opts'), 'utf8')
    .trim()
    .split(/ (?=")/);
  await stopEmbeddedPostgres(dataDir);
  const postgres = spawnAs(
    unprivilegedAccount(),
    program!,
    args.map((arg) => arg.slice(1, -1)),
    {
      env: { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC', ...env },
      stdio: 'ignore',
    },
  );
  const ended = once(postgres, 'exit');
  const database = openDatabase({ connection, poolSize: 2, log });
  await until(() => database.pool.query('select').then(() => true));
  const settings = { SIMULATOR_SPEED: '1000', LEASE_SECONDS: '3', BOOTSTRAP_API_KEY: newKey('test') };
  const server = await startServerProcess({ ...env, ...settings, DATA_DIR: dataDir });
  return {
    database,
    set: async (time) => {
      write(time);
      await until(async () => {
        const held = database.inEngine(({ db }) =>
          db.selectFrom('servers').select('id').where('lease_until', '>', time).executeTakeFirst(),
        );
        return (await held) !== undefined;
      });
    },
    stop: async () => {
      await server.kill();
      await database.close();
      await removeEmbeddedPostgres(dataDir);
      await ended;
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
