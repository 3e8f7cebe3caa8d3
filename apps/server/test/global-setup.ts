import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import type { TestProject } from 'vitest/node';
import { type Connection, withDatabase } from '../src/database/connection.ts';
import { openDatabase } from '../src/database/database.ts';
import { removeEmbeddedPostgres, startEmbeddedPostgres } from '../src/database/embedded.ts';
import { migrate } from '../src/database/migrate.ts';
import { statementOn } from './statement-on.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The test server, and the migrated database there that `freshDatabase` clones. */
    testServer: { connection: Connection; template: string };
  }
}

const log = pino({ level: 'warn' });

/** One PostgreSQL for the whole run, embedded or the one of TEST_DATABASE_URL, with a migrated template database. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await testServer(process.env['TEST_DATABASE_URL']);
  const template = `trunkline_template_${randomBytes(6).toString('hex')}`;
  await statementOn(server.connection, `create database ${template}`);
  const database = openDatabase({ connection: withDatabase(server.connection, template), poolSize: 2, log });
  await migrate(database, log);
  await database.close();
  project.provide('testServer', { connection: server.connection, template });
  return async () => {
    await statementOn(server.connection, `drop database ${template} with (force)`);
    await server.remove();
  };
}

async function testServer(url: string | undefined) {
  if (url) return { connection: { connectionString: url }, remove: async () => {} };
  const dataDir = await mkdtemp(path.join(tmpdir(), 'trunkline-test-'));
  const { connection } = await startEmbeddedPostgres({ dataDir, log });
  return {
    connection,
    remove: async () => {
      await removeEmbeddedPostgres(dataDir);
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
