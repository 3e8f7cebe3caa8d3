import { pino } from 'pino';
import { expect, test } from 'vitest';
import { createMachineClock } from '../../src/clock.ts';
import { openLease } from '../../src/database/lease.ts';
import { blankDatabase } from '../database.ts';
import { until } from '../until.ts';
import { withDatabase } from './own-database.ts';
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
  await until(async () => (await others()) === 0);
  await database.drop();
});

test.each([
  { what: 'the first answer', slow: 1, looks: 2, fault: /7200 s ahead/ },
  { what: 'each answer', slow: Number.POSITIVE_INFINITY, looks: 6, fault: /could not be compared/ },
])('a wrong clock is not believed where $what is slow', ({ slow, looks, fault }) =>
  withDatabase(async (database) => {
    const clock = createMachineClock(() => Date.now() + 7_200_000);
    let looked = 0;
    const compare = (asked: number, theirs: Date) => {
      looked += 1;
      clock.compare(looked <= slow ? asked - 1001 : asked, theirs);
    };
    const lease = await openLease({ database, seconds: 60, log, machine: { ...clock, compare } });
    expect(looked).toBe(looks);
    expect(lease.isHeld()).toBe(false);
    expect(clock.fault()).toMatch(fault);
    await lease.release();
  }),
);
