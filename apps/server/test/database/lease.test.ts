import { pino } from 'pino';
import { expect, test } from 'vitest';
import { openLease } from '../../src/database/lease.ts';
import { blankDatabase } from '../database.ts';
import { until } from '../until.ts';
import { statementOn } from './statement-on.ts';

const log = pino({ level: 'silent' });

test('a lease that can not be taken leaves no connection behind', async () => {
  const database = await blankDatabase();
  await expect(openLease({ database, seconds: 3, log })).rejects.toThrow('"servers" does not exist');
  const others = async () =>
    (
      await statementOn(
        database.connection,
        `select pid from pg_stat_activity where datname = current_database() and application_name = 'trunkline'`,
      )
    ).rowCount;
  await until(async () => (await others()) === 0, 5);
  await database.drop();
});
