import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pino } from 'pino';
import { type Database, openDatabase } from '../apps/server/src/database/database.ts';
import { removeEmbeddedPostgres, startEmbeddedPostgres } from '../apps/server/src/database/embedded.ts';
import { migrate } from '../apps/server/src/database/migrate.ts';

export const log = pino({ level: 'warn' }, pino.destination(2));

/** A migrated PostgreSQL of the measurement's own, which both sides use. */
export async function benchDatabase(): Promise<{ database: Database; connectionString: string; remove(): Promise<void> }> {
  const dataDir = path.join(tmpdir(), `trunkline-bench-${process.pid}`);
  const { connection } = await startEmbeddedPostgres({ dataDir, log });
  const database = openDatabase({ connection, poolSize: 10, log });
  await migrate(database, log);
  return {
    database,
    connectionString: connection.connectionString,
    remove: async () => {
      await database.close();
      await removeEmbeddedPostgres(dataDir);
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
