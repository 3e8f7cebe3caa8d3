import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import pg from 'pg';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import {
  type Database,
  type EngineTx,
  openDatabase,
  type WorkspaceTx,
} from '../../../src/foundation/database/database.ts';
import { together } from '../../../src/foundation/database/together.ts';
import { freshDatabase } from '../../database.ts';
import { until } from '../../until.ts';

const log = pino({ level: 'silent' });
const [a, b] = [randomUUID(), randomUUID()];
let fresh: Awaited<ReturnType<typeof freshDatabase>>;
let database: Database;

beforeAll(async () => {
  fresh = await freshDatabase();
  database = openDatabase({ connection: fresh.connection, poolSize: 4, log });
  await database.pool.query('create table counters (id integer primary key, n bigint not null)');
});

beforeEach(async () => {
  await database.pool.query('delete from counters; insert into counters values (1, 0), (2, 0)');
});

afterAll(async () => {
  await database.close();
  await fresh.drop();
});

const add = (tx: WorkspaceTx, id: number, n = 1) =>
  sql`update counters set n = n + ${n} where id = ${id}`.execute(tx.db);
const counters = async () =>
  (await database.pool.query<{ n: number }>('select n from counters order by id')).rows.map(({ n }) => n);

test('bigint and its arrays are numbers, timestamps are dates, dates are text', async () => {
  const { rows } = await database.inEngine((tx) =>
    sql`select 9007199254740991::bigint as big, array[1, 2]::bigint[] as bigs,
      '2026-01-02T03:04:05Z'::timestamptz as at, '2026-01-02'::date as day`.execute(tx.db),
  );
  expect(rows).toEqual([
    { big: Number.MAX_SAFE_INTEGER, bigs: [1, 2], at: new Date('2026-01-02T03:04:05Z'), day: '2026-01-02' },
  ]);
});

test('a transaction is kept when its function returns and undone when it throws', async () => {
  await database.inWorkspace(a, (tx) => add(tx, 1));
  const fault = new Error('no');
  const undone = database.inWorkspace(a, async (tx) => {
    await add(tx, 1);
    throw fault;
  });
  await expect(undone).rejects.toBe(fault);
  expect(await counters()).toEqual([1, 0]);
});

test('a function that swallows the error of a statement does not seem to have succeeded', async () => {
  const swallowed = database.inWorkspace(a, async (tx) => {
    await add(tx, 1);
    await sql`select 1 / 0`.execute(tx.db).catch(() => {});
  });
  await expect(swallowed).rejects.toThrow('failed before its commit');
  expect(await counters()).toEqual([0, 0]);
  const unread = database.inSnapshot(a, ({ db }) => sql`select 1 / 0`.execute(db).catch(() => {}));
  await expect(unread).rejects.toThrow('failed before its commit');
});

test('a handle that is kept past the end of its transaction is refused', async () => {
  const kept = await database.inWorkspace(a, async (tx) => tx);
  await expect(add(kept, 1)).rejects.toThrow('after the end');
  expect(await counters()).toEqual([0, 0]);
});

test('a workspace is named by its UUID only', async () => {
  await expect(database.inWorkspace(`x', true); drop table counters; --`, async () => {})).rejects.toThrow(TypeError);
});

test('both sides of a deadlock come through', async () => {
  let bothHold: () => void;
  const held = new Promise<void>((resolve) => {
    bothHold = resolve;
  });
  let holding = 0;
  let runs = 0;
  const crossing = (first: number, second: number) =>
    database.inWorkspace(a, async (tx) => {
      runs += 1;
      await add(tx, first);
      holding += 1;
      if (holding === 2) bothHold();
      await held;
      await add(tx, second);
    });
  await Promise.all([crossing(1, 2), crossing(2, 1)]);
  expect(await counters()).toEqual([2, 2]);
  expect(runs).toBeGreaterThan(2);
});

test('a serialization failure is tried three more times, then thrown', async () => {
  let runs = 0;
  const failing = (failures: number) =>
    database.inEngine(async (tx) => {
      runs += 1;
      if (runs <= failures) await sql`do $$ begin raise sqlstate '40001'; end $$`.execute(tx.db);
      return runs;
    });
  expect(await failing(3)).toBe(4);
  runs = 0;
  await expect(failing(4)).rejects.toMatchObject({ code: '40001' });
  expect(runs).toBe(4);
});

test('a serialization failure is tried again also where what went out behind it is heard of first', async () => {
  let runs = 0;
  const failing = async (tx: EngineTx) => {
    runs += 1;
    const statement = runs === 1 ? sql`do $$ begin raise sqlstate '40001'; end $$` : sql`select 0`;
    return statement.execute(tx.db);
  };
  await database.inEngine((tx) => {
    // What a function throws goes a longer way than what a statement throws.
    const asked = together(tx, [async () => await failing(tx), sql`select 1`]);
    // The process is busy until both are answered, and reads both answers at once.
    setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200));
    return asked;
  });
  expect(runs).toBe(2);
});

test('a statement is prepared by name once it comes again, its text whole', async () => {
  const text = `select ${Math.floor(Math.random() * 1e9)} as found`;
  const prepared = await database.inEngine(async (tx) => {
    for (let round = 0; round < 3; round += 1) await sql.raw(text).execute(tx.db);
    return sql<{ name: string }>`select name from pg_prepared_statements where statement = ${text}`.execute(tx.db);
  });
  expect(prepared.rows).toHaveLength(1);
});

test('a prepared statement outlives a migration of its table', async () => {
  const read = () => database.inEngine((tx) => sql`select * from counters where id = 1`.execute(tx.db));
  for (let round = 0; round < 20; round += 1) await read();
  await database.pool.query('alter table counters add column extra integer');
  const reads = await Promise.all([read(), read(), read(), read()]);
  for (const { rows } of reads) expect(rows).toEqual([{ id: 1, n: 0, extra: null }]);
  await database.pool.query('alter table counters drop column extra');
});

test('a killed connection is `unavailable`, and the next transaction works', async () => {
  const cut = database.inEngine((tx) => sql`select pg_terminate_backend(pg_backend_pid())`.execute(tx.db));
  await expect(cut).rejects.toMatchObject({ code: 'unavailable' });
  const idle = database.inEngine(async (tx) => {
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(tx.db);
    await database.pool.query('select pg_terminate_backend($1)', [rows[0]?.pid]);
    await until(async () => {
      const gone = await database.pool.query('select from pg_stat_activity where pid = $1', [rows[0]?.pid]);
      return gone.rows.length === 0;
    });
    await sql`select 1`.execute(tx.db);
  });
  await expect(idle).rejects.toMatchObject({ code: 'unavailable' });
  expect(await database.inEngine(async () => 'works')).toBe('works');
});

test('a database that is not there is `unavailable`', async () => {
  const connection = { connectionString: 'postgresql://nobody@127.0.0.1:1/nothing' };
  const nowhere = openDatabase({ connection, poolSize: 1, log });
  await expect(nowhere.inWorkspace(b, async () => {})).rejects.toMatchObject({ code: 'unavailable' });
  await nowhere.close();
});

test('queries sent side by side run in turn, and one that nobody waits for is not cut off', async () => {
  const warnings: string[] = [];
  const listen = (warning: Error) => warnings.push(warning.message);
  process.on('warning', listen);
  await database.inWorkspace(a, async (tx) => {
    void add(tx, 1);
    await Promise.all([add(tx, 1), add(tx, 2)]);
    void add(tx, 2);
    await new Promise((resolve) => setImmediate(resolve));
  });
  process.off('warning', listen);
  expect(await counters()).toEqual([2, 2]);
  expect(warnings).toEqual([]);
});

test('a snapshot shows the database of one instant, and changes nothing', async () => {
  const seen = await database.inSnapshot(a, async (tx) => {
    const read = () => sql<{ n: number }>`select n from counters order by id`.execute(tx.db);
    const before = await read();
    await database.inWorkspace(a, (other) => add(other, 1));
    return [before.rows, (await read()).rows];
  });
  expect(seen[1]).toEqual(seen[0]);
  expect(await counters()).toEqual([1, 0]);
  await expect(database.inSnapshot(a, (tx) => add(tx, 1))).rejects.toThrow('read-only');
  expect(await counters()).toEqual([1, 0]);
});

test('nobody waits for the end of a snapshot, and what comes behind it on its connection is its own', async () => {
  const only = openDatabase({ connection: fresh.connection, poolSize: 1, log });
  const seen = ({ db }: WorkspaceTx) =>
    sql<{ workspace: string; isReadOnly: string }>`
      select current_setting('trunkline.workspace') as workspace, current_setting('transaction_read_only') as "isReadOnly"`
      .execute(db)
      .then(({ rows }) => rows[0]);
  await only.inSnapshot(a, seen);
  const query = vi.spyOn(pg.Client.prototype, 'query');
  try {
    await only.inSnapshot(a, seen);
    const at = query.mock.calls.findIndex(([text]) => (text as unknown) === 'commit');
    const commit = query.mock.results[at]!.value as Promise<unknown>;
    const thisTurn = new Promise((resolve) => process.nextTick(resolve, 'under way'));
    expect(await Promise.race([commit.then(() => 'over'), thisTurn])).toBe('under way');
    expect(await only.inWorkspace(b, seen)).toEqual({ workspace: b, isReadOnly: 'off' });
    expect(await commit).toMatchObject({ command: 'COMMIT' });
  } finally {
    query.mockRestore();
    await only.close();
  }
});

test('who waits for a lock for 5 s, or runs for 30, is told to try again, and the engine waits on', async () => {
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  let locked = () => {};
  const taken = new Promise<void>((resolve) => {
    locked = resolve;
  });
  // A query now and then: a transaction that idles loses its connection.
  const holder = database.inEngine(async (tx) => {
    await sql`update counters set n = 1 where id = 1`.execute(tx.db);
    locked();
    for (let over = false; !over; ) {
      await sql`select 1`.execute(tx.db);
      over = await Promise.race([held.then(() => true), sleep(500, false)]);
    }
  });
  await taken;
  const engine = database.inEngine((tx) => sql`update counters set n = n + 1 where id = 1`.execute(tx.db));
  const began = performance.now();
  const refused = { code: 'unavailable', message: expect.stringContaining('too long') };
  await expect(database.inWorkspace(a, (tx) => add(tx, 1))).rejects.toMatchObject(refused);
  expect(performance.now() - began).toBeGreaterThan(4500);
  release();
  await Promise.all([holder, engine]);
  expect(await counters()).toEqual([2, 0]);
  const slow = database.inWorkspace(a, async (tx) => {
    const { rows } = await sql<{ setting: string }>`show statement_timeout`.execute(tx.db);
    expect(rows[0]).toEqual({ statement_timeout: '30s' });
    await sql`set local statement_timeout = 10`.execute(tx.db);
    await sql`select pg_sleep(5)`.execute(tx.db);
  });
  await expect(slow).rejects.toMatchObject(refused);
});

test('what says that it may take long has no limit', async () => {
  const limits = (tx: WorkspaceTx) =>
    sql`select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock`.execute(
      tx.db,
    );
  const { rows } = await database.inWorkspace(a, limits, { mayTakeLong: true });
  expect(rows).toEqual([{ statement: '0', lock: '0' }]);
});

test('a transaction that idles for 3 s has let go of its locks', async () => {
  const idle = database.inWorkspace(a, async (tx) => {
    await add(tx, 1);
    await until(async () => {
      await database.inWorkspace(b, (other) => add(other, 1));
    });
    await add(tx, 1);
  });
  await expect(idle).rejects.toMatchObject({ code: 'unavailable' });
  expect(await counters()).toEqual([1, 0]);
});
