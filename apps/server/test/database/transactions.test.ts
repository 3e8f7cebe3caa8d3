import { sql } from 'kysely';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../src/database/database.ts';
import { freshDatabase } from '../database.ts';

let database: Database;
let drop: () => Promise<void>;

beforeAll(async () => {
  const fresh = await freshDatabase();
  drop = fresh.drop;
  database = openDatabase({ connection: fresh.connection, poolSize: 4, log: pino({ level: 'silent' }) });
});

afterAll(async () => {
  await database.close();
  await drop();
});

test('bigint and its arrays are numbers, timestamps are dates, dates are text', async () => {
  const { rows } = await database.inEngine((tx) =>
    sql`select 9007199254740991::bigint as big, array[1, 2]::bigint[] as bigs,
      '2026-01-02T03:04:05Z'::timestamptz as at, '2026-01-02'::date as day`.execute(tx.db),
  );
  expect(rows).toEqual([
    { big: Number.MAX_SAFE_INTEGER, bigs: [1, 2], at: new Date('2026-01-02T03:04:05Z'), day: '2026-01-02' },
  ]);
});
