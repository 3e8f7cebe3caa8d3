import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { inject } from 'vitest';
import { type Connection, withDatabase } from '../src/foundation/database/connection.ts';
import { roleOf, statementOn } from './foundation/database/statement-on.ts';

const INSUFFICIENT_PRIVILEGE = '42501';

interface FreshDatabase {
  connection: Connection;
  drop(): Promise<void>;
}

/** A migrated, empty database of this test file's own. Make one a file, not one a test: a clone takes 0.1 to 0.5 s. */
export const freshDatabase = (): Promise<FreshDatabase> => clone(inject('testServer').template);

/** A database without a table in it. */
export const blankDatabase = (): Promise<FreshDatabase> => clone('template1');

/** A copy of a database as it is now, as one that was restored from a backup. Nobody may be connected to it. */
export const copyOf = ({ connection }: Pick<FreshDatabase, 'connection'>): Promise<FreshDatabase> =>
  clone(new URL(connection.connectionString).pathname.slice(1));

async function clone(template: string): Promise<FreshDatabase> {
  const { connection, maker } = inject('testServer');
  const name = `trunkline_test_${randomBytes(6).toString('hex')}`;
  // The files are copied as they are: to log each page takes longer, and lets a drop wait for them all to be written.
  await statementOn(
    maker,
    `create database ${name} template ${template} owner ${roleOf(connection)} strategy file_copy`,
  );
  return {
    connection: withDatabase(connection, name),
    drop: () => dropDatabase(maker, name),
  };
}

/** The server refuses it while its own vacuum is at work there, which a role that is no superuser can't end. */
async function dropDatabase(connection: Connection, name: string): Promise<void> {
  for (let tries = 1; ; tries += 1)
    try {
      await statementOn(connection, `drop database if exists ${name} with (force)`);
      return;
    } catch (error) {
      if ((error as { code?: string }).code !== INSUFFICIENT_PRIVILEGE || tries === 50) throw error;
      await sleep(100);
    }
}
