import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import type { TestProject } from 'vitest/node';
import { type Connection, withDatabase } from '../src/database/connection.ts';
import { openDatabase } from '../src/database/database.ts';
import { migrate } from '../src/database/migrate.ts';
import { removeEmbeddedPostgres, startEmbeddedPostgres } from '../src/database/postgres/embedded.ts';
import { statementOn } from './database/statement-on.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The test server, and the migrated database there that `freshDatabase` clones. */
    testServer: { connection: Connection; template: string; embedded: boolean };
  }
}

const log = pino({ level: 'warn' });

/** One PostgreSQL for the whole run, embedded or the one of TEST_DATABASE_URL, with a migrated template database. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await testServer(process.env['TEST_DATABASE_URL']);
  await refuseSuperuser(server.connection);
  const template = `trunkline_template_${randomBytes(6).toString('hex')}`;
  await statementOn(server.connection, `create database ${template}`);
  const database = openDatabase({ connection: withDatabase(server.connection, template), poolSize: 2, log });
  await migrate(database, log);
  await database.close();
  project.provide('testServer', { connection: server.connection, template, embedded: server.embedded });
  const statuses = await mkdtemp(path.join(tmpdir(), `${folderStart}${process.pid}-statuses-`));
  project.provide('statuses', { folder: statuses, wholeRun: runsEveryTest(project) });
  return async () => {
    await rm(statuses, { recursive: true });
    await statementOn(server.connection, `drop database ${template} with (force)`);
    await server.remove();
  };
}

/** Whether no words and no pattern on the command line leave tests out; vitest keeps the words to itself. */
function runsEveryTest({ vitest }: TestProject): boolean {
  const { filenamePattern: words } = vitest as unknown as { filenamePattern?: string[] };
  return !words && !vitest.getGlobalTestNamePattern();
}

async function testServer(url: string | undefined) {
  if (url) return { connection: { connectionString: url }, embedded: false, remove: async () => {} };
  await removeWhatKilledRunsLeft();
  const dataDir = path.join(tmpdir(), `${folderStart}${process.pid}-${randomBytes(4).toString('hex')}`);
  const { connection } = await startEmbeddedPostgres({ dataDir, log });
  return { connection, embedded: true, remove: () => remove(dataDir) };
}

/** Row-level security wouldn't bind it, and the tests of tenancy would show nothing. */
async function refuseSuperuser(connection: Connection): Promise<void> {
  const { rows } = await statementOn(connection, 'select from pg_roles where rolname = current_user and rolsuper');
  if (rows.length > 0) throw new Error('TEST_DATABASE_URL must name a role with CREATEDB that is no superuser.');
}

const folderStart = 'trunkline-test-';

/** The embedded PostgreSQL outlives its parent, and so a test run that was killed. The folder's name holds its process. */
async function removeWhatKilledRunsLeft(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const pid = Number(name.match(/^trunkline-test-(\d+)-/)?.[1]);
    if (pid && !runs(pid)) await remove(path.join(tmpdir(), name)).catch(() => {});
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
