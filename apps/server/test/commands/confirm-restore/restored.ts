import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { sql } from 'kysely';
import { pino } from 'pino';
import { expect, onTestFinished } from 'vitest';
import { confirmByWord, confirmOptions } from '../../../src/commands/confirm-restore/by-word.ts';
import { type Config, loadConfig } from '../../../src/config.ts';
import { type Database, openDatabase } from '../../../src/foundation/database/database.ts';
import { numberKey } from '../../../src/foundation/database/number-digest.ts';
import { findEncryptionKeys } from '../../../src/foundation/database/secrets.ts';
import { toId } from '../../../src/foundation/values/ids.ts';
import { newKey } from '../../../src/platform/api-keys/key.ts';
import { readInstallation } from '../../../src/platform/installation/installation.ts';
import { openMigrated } from '../../../src/server.ts';
import { copyOf, freshDatabase } from '../../database.ts';
import { campaignRow } from '../../dialing/dialing.ts';
import { program } from '../../program.ts';
import { startTestServer, type TestServer } from '../../server.ts';
import { until } from '../../until.ts';

const main = await program('main');
const encryptionKey = Buffer.alloc(32, 7);
const log = pino({ level: 'silent' });

type Fresh = Awaited<ReturnType<typeof freshDatabase>>;

/** A call as the simulated provider has it. */
export interface ProviderCall {
  room: string;
  to: string;
  placements: number;
  at: Date;
}

/** An installation whose database is backed up, and later put back as it was then. */
export interface Installation {
  /** Starts a server on the database as it is now. */
  serve(config?: Partial<Config>): Promise<TestServer>;
  /** Keeps the database as it is now. No server may run. */
  backUp(): Promise<void>;
  /** Puts it back. No server may run. */
  restore(): Promise<void>;
  /** Makes the database as it was before all of its calls were placed, each claimed and no more. No server may run. */
  rewind(): Promise<void>;
  /** Takes away what the witness knows. */
  loseWitness(): Promise<void>;
  /** Does what `confirm-restore` does with these arguments, and answers what it says. */
  confirm(...args: string[]): Promise<string>;
  /** The same in a process of its own, which is killed when `isDue` says so. */
  confirmAndKill(isDue: (database: Database) => Promise<boolean>, ...args: string[]): Promise<void>;
  /** What the provider has of the calls that were placed, in the lost database and in that of now. */
  provider(): Promise<ProviderCall[]>;
  database(): Database;
  witnessFolder(): Promise<string>;
  folder: string;
}

/** Starts with an empty database. */
export async function installation(): Promise<Installation> {
  const folder = await mkdtemp(path.join(tmpdir(), 'trunkline-restored-'));
  const witnessPath = path.join(folder, 'witness');
  const apiKey = newKey('test');
  const all: Fresh[] = [];
  const opened = new Map<Fresh, Database>();
  const running = new Set<TestServer>();
  const add = (database: Fresh) => {
    all.push(database);
    return database;
  };
  const open = (fresh: Fresh) => {
    const known = opened.get(fresh);
    if (known) return known;
    const options = { connection: fresh.connection, poolSize: 2, log, numberKey: numberKey(encryptionKey) };
    const database = openDatabase(options);
    opened.set(fresh, database);
    return database;
  };
  const closeAll = async () => {
    for (const server of running) await server.stop();
    running.clear();
    for (const database of opened.values()) await database.close();
    opened.clear();
  };
  let current = add(await freshDatabase());
  let backup: Fresh | undefined;
  const lost: Fresh[] = [];
  onTestFinished(async () => {
    await closeAll();
    for (const database of all) await database.drop();
    await rm(folder, { recursive: true, force: true });
  });
  const environment = () => ({
    PATH: process.env['PATH'],
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
    DATABASE_URL: current.connection.connectionString,
    WITNESS_PATH: witnessPath,
    DATA_DIR: path.join(folder, 'data'),
    ENCRYPTION_KEY: encryptionKey.toString('base64'),
    LOG_LEVEL: 'silent',
  });
  const argumentsOf = (args: string[]) => [...main, 'confirm-restore', ...args];
  return {
    folder,
    serve: async (config) => {
      const server = await startTestServer({
        connectionString: current.connection.connectionString,
        apiKey,
        config: { witnessPath, encryptionKey, simulatorSpeed: 100_000, ...config },
      });
      running.add(server);
      return server;
    },
    backUp: async () => {
      await closeAll();
      backup = add(await copyOf(current));
    },
    restore: async () => {
      await closeAll();
      lost.push(current);
      current = backup!;
    },
    rewind: async () => {
      await open(current).inEngine(({ db }) =>
        sql`
          with rows as (update witness_slots set number = 0), sent as (delete from simulator_calls)
          update calls set status = 'queued', dialed_at = null, ringing_at = null, answered_at = null`.execute(db),
      );
    },
    loseWitness: () => rm(witnessPath, { recursive: true, force: true }),
    confirm: async (...args) => {
      const config = loadConfig(environment());
      const database = await openMigrated(config, log, undefined, await findEncryptionKeys(config));
      let told = '';
      const tell = (text: string) => {
        told += text;
      };
      const { values } = parseArgs({ args, options: confirmOptions });
      await confirmByWord(config, database, values, tell).finally(database.close);
      return told;
    },
    confirmAndKill: async (isDue, ...args) => {
      const child = spawn(process.execPath, argumentsOf(args), { env: environment(), stdio: 'ignore' });
      const gone = new Promise<void>((resolve) => child.once('exit', () => resolve()));
      while (child.exitCode === null && !(await isDue(open(current))));
      child.kill('SIGKILL');
      await gone;
      if (child.signalCode !== 'SIGKILL') throw new Error('It had ended before it was due to be killed.');
    },
    provider: async () => {
      const databases = [...lost, current];
      const found = await Promise.all(
        databases.map((each) =>
          open(each).inEngine(({ db }) =>
            sql<ProviderCall>`
              select room_id as room, to_number as to, placements, placed_at as at from simulator_calls`.execute(db),
          ),
        ),
      );
      return [...new Map(found.flatMap(({ rows }) => rows).map((row) => [row.room, row])).values()];
    },
    database: () => open(current),
    witnessFolder: async () => path.join(witnessPath, (await open(current).inEngine(readInstallation)).id),
  };
}

export const workspaceOf = async ({ database }: TestServer): Promise<string> => {
  const { rows } = await database.inEngine(({ db }) => sql<{ id: string }>`select id from workspaces`.execute(db));
  return rows[0]!.id;
};

export const ready = async ({ url }: TestServer): Promise<string> => (await fetch(`${url}/readyz`)).text();

/** Has a restored database call the rest, as its owner would after the operator's word. */
export async function goOn(server: TestServer, campaignId: string): Promise<void> {
  const params = { params: { path: { id: toId('cmp', campaignId) } } };
  expect((await server.client.POST('/v1/workspace/resume-dialing')).error).toBeUndefined();
  expect((await server.client.POST('/v1/calls/campaigns/{id}/resume', params)).error).toBeUndefined();
  await until(async () => expect((await campaignRow(server.database, campaignId)).status).toBe('completed'));
}

/** By the provider's own record. */
export async function expectEachCalledOnce(place: Installation): Promise<void> {
  const calls = await place.provider();
  expect(new Set(calls.map((call) => call.to)).size).toBe(calls.length);
  expect(calls.filter((call) => call.placements > 1)).toEqual([]);
}
