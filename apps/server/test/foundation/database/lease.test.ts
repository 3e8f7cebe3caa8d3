import { pino } from 'pino';
import { expect, test } from 'vitest';
import { openLease } from '../../../src/foundation/database/lease.ts';
import { createMachineClock } from '../../../src/foundation/values/clock.ts';
import { blankDatabase } from '../../database.ts';
import { until } from '../../until.ts';
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
    expect(lease.leftMs()).toBeGreaterThan(0);
    expect(clock.fault()).toMatch(fault);
    await lease.release();
  }),
);

test('a machine that has slept for longer than its lease has lost it, though little time has passed for it', () =>
  withDatabase(async (database) => {
    let slept = 0;
    const machine = createMachineClock(() => Date.now() + slept);
    const lease = await openLease({ database, seconds: 60, log, machine });
    slept = 61_000;
    expect(lease.leftMs()).toBe(0);
    slept = -61_000;
    expect(lease.leftMs()).toBeGreaterThan(0);
    await lease.release();
    expect(lease.leftMs()).toBe(0);
  }));

test('a lease that was renewed late is steady only since then', () =>
  withDatabase(async (database) => {
    const lease = await openLease({ database, seconds: 3, log });
    const blocker = await database.pool.connect();
    await blocker.query("begin; select set_config('trunkline.engine', 'on', true); select from servers for update");
    const blocked = performance.now();
    await until(() => performance.now() - blocked > 1600);
    expect(lease.steadySince()).toBeLessThan(blocked);
    const released = performance.now();
    await blocker.query('commit');
    blocker.release();
    await until(() => lease.steadySince() > released);
    // It counts from when it was asked for: the answer was long in coming.
    const [left, at] = [lease.leftMs(), performance.now()];
    const { rows } = await statementOn(
      database.connection,
      'select 1000 * extract(epoch from lease_until - clock_timestamp()) as left_ms from servers',
    );
    expect(left - (performance.now() - at)).toBeLessThanOrEqual(Number(rows[0].left_ms));
    await lease.release();
  }));

test('a server whose renewals waited for the database loses its lease once', () =>
  withDatabase(async (database) => {
    const lost: string[] = [];
    const write = (line: string) => void (line.includes('was lost') && lost.push(line));
    const lease = await openLease({ database, seconds: 1, log: pino({ level: 'info' }, { write }) });
    const blocker = await database.pool.connect();
    await blocker.query("begin; select set_config('trunkline.engine', 'on', true); select from servers for update");
    await until(() => lost.length > 0 && lease.isHeld());
    await blocker.query('commit');
    blocker.release();
    await lease.release();
    expect(lost).toHaveLength(1);
  }));
