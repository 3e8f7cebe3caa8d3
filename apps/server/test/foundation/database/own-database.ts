import { pino } from 'pino';
import { type Database, openDatabase } from '../../../src/foundation/database/database.ts';
import { freshDatabase } from '../../database.ts';

/** Runs a test on a migrated database of its own, so that tests of one file can run side by side. */
export async function withDatabase(run: (database: Database) => Promise<void>): Promise<void> {
  const fresh = await freshDatabase();
  const database = openDatabase({ connection: fresh.connection, poolSize: 6, log: pino({ level: 'silent' }) });
  try {
    await run(database);
  } finally {
    await database.close();
    await fresh.drop();
  }
}
