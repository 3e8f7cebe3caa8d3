import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, statfs } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import type { TestProject } from 'vitest/node';
import { takeOut } from '../migrations/leaving.ts';
import { type Connection, withDatabase } from '../src/foundation/database/connection.ts';
import { openDatabase } from '../src/foundation/database/database.ts';
import { migrate } from '../src/foundation/database/migrate.ts';
import { removeEmbeddedPostgres, startEmbeddedPostgres } from '../src/foundation/database/postgres/embedded.ts';
import { openJobs } from '../src/platform/jobs/jobs.ts';
import { roleOf, statementOn } from './foundation/database/statement-on.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The test server, and the migrated database there that `freshDatabase` clones. */
    testServer: {
      connection: Connection;
      /** As who may make databases: the server's role needs to make none. */
      maker: Connection;
      template: string;
      embedded: boolean;
    };
  }
}

const log = pino({ level: 'warn' });
/** A test may run four servers and more, and several tests run at once. */
const CONNECTIONS = 500;

/** One PostgreSQL for the whole run, embedded or the one of TEST_DATABASE_URL, with a migrated template database. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await testServer(process.env['TEST_DATABASE_URL']);
  await refuseSuperuser(server.connection);
  const template = `trunkline_template_${randomBytes(6).toString('hex')}`;
  const { maker } = server;
  await statementOn(maker, `create database ${template} owner ${roleOf(server.connection)}`);
  const connection = withDatabase(server.connection, template);
  const database = openDatabase({ connection, poolSize: 2, log });
  await migrate(database, log);
  await database.close();
  await takeOut(connection);
  // The first server of each clone would make the queue's tables, which takes longer than the clone.
  const jobs = await openJobs({ connection, connections: 1, log, registry: new Registry() });
  await jobs.close();
  project.provide('testServer', { connection: server.connection, maker, template, embedded: server.embedded });
  // `npm test` keeps those of the whole run, for files that it runs again.
  const kept = process.env['TEST_STATUSES'];
  const statuses = kept ?? (await mkdtemp(path.join(tmpdir(), `${folderStart}${process.pid}-statuses-`)));
  await mkdir(statuses, { recursive: true });
  project.provide('statuses', { folder: statuses, wholeRun: kept !== undefined || runsEveryTest(project) });
  // Below the package, so that what it needs is found.
  const programs = path.join(import.meta.dirname, '../node_modules/.cache', `${folderStart}${process.pid}-programs`);
  process.env['TEST_PROGRAMS'] = programs;
  return async () => {
    await rm(programs, { recursive: true, force: true });
    if (!kept) await rm(statuses, { recursive: true });
    await statementOn(maker, `drop database ${template} with (force)`);
    await server.remove();
  };
}

/** Whether no words and no pattern on the command line leave tests out; vitest keeps the words to itself. */
function runsEveryTest({ vitest }: TestProject): boolean {
  const { filenamePattern: words } = vitest as unknown as { filenamePattern?: string[] };
  return !words && !vitest.getGlobalTestNamePattern();
}

async function testServer(url: string | undefined) {
  const given = { connectionString: url ?? '' };
  if (url) return { connection: given, maker: given, embedded: false, remove: async () => {} };
  await removeWhatKilledRunsLeft();
  const dataDir = path.join(await parentFolder(), `${folderStart}${process.pid}-${randomBytes(4).toString('hex')}`);
  const { connection } = await startEmbeddedPostgres({ dataDir, log, connections: CONNECTIONS });
  const maker = { connectionString: connection.connectionString.replace('//trunkline@', '//postgres@') };
  // No test pulls the plug. What a killed process has written, the kernel has.
  for (const setting of ['fsync', 'full_page_writes']) await statementOn(maker, `alter system set ${setting} = off`);
  await statementOn(maker, 'select pg_reload_conf()');
  return { connection, maker, embedded: true, remove: () => remove(dataDir) };
}

/** Row-level security wouldn't bind it, and the tests of tenancy would show nothing. */
async function refuseSuperuser(connection: Connection): Promise<void> {
  const { rows } = await statementOn(connection, 'select from pg_roles where rolname = current_user and rolsuper');
  if (rows.length > 0) throw new Error('TEST_DATABASE_URL must name a role with CREATEDB that is no superuser.');
}

const folderStart = 'trunkline-test-';

const MEMORY = '/dev/shm';
/** The databases of tests that run at once take some 300 MB, and what is logged of them as much. */
const NEEDED_BYTES = 4 * 2 ** 30;

/** Memory, where there is much: a database is a thousand files, and a disk's file system takes long to make and delete them. */
async function parentFolder(): Promise<string> {
  const memory = await statfs(MEMORY).catch(() => undefined);
  return memory && memory.bavail * memory.bsize > NEEDED_BYTES ? MEMORY : tmpdir();
}

/** The embedded PostgreSQL outlives its parent, and so a test run that was killed. The folder's name holds its process. */
async function removeWhatKilledRunsLeft(): Promise<void> {
  for (const parent of [tmpdir(), MEMORY])
    for (const name of await readdir(parent).catch(() => [])) {
      const pid = Number(name.match(/^trunkline-test-(\d+)-/)?.[1]);
      if (pid && !runs(pid)) await remove(path.join(parent, name)).catch(() => {});
    }
}

function runs(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

async function remove(dataDir: string): Promise<void> {
  await removeEmbeddedPostgres(dataDir);
  await rm(dataDir, { recursive: true, force: true });
}
