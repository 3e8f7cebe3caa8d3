import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../src/foundation/database/database.ts';
import { freshDatabase } from '../database.ts';
import { until } from '../until.ts';

const [noisy, quiet] = [randomUUID(), randomUUID()];
let fresh: Awaited<ReturnType<typeof freshDatabase>>;
let database: Database;

beforeAll(async () => {
  fresh = await freshDatabase();
  database = openDatabase({ connection: fresh.connection, poolSize: 4, log: pino({ level: 'silent' }) });
});
afterAll(async () => {
  await database.close();
  await fresh.drop();
});

const one = (workspaceId: string) => database.inWorkspace(workspaceId, ({ db }) => sql`select 1`.execute(db));

test('slow statements of one workspace take half of the connections, and hold up neither others nor the engine', async () => {
  const blocker = await database.pool.connect();
  let underWay = 0;
  await blocker.query('begin; select pg_advisory_xact_lock(1)');
  const slow = Array.from({ length: 20 }, () =>
    database
      .inWorkspace(
        noisy,
        async ({ db }) => {
          underWay += 1;
          await sql`select pg_advisory_xact_lock_shared(1)`.execute(db);
        },
        { mayTakeLong: true },
      )
      .then(() => 'done'),
  );
  await until(() => expect(underWay).toBe(2));
  await one(quiet);
  await database.inEngine(({ db }) => sql`select 1`.execute(db));
  expect(underWay).toBe(2);
  await blocker.query('commit');
  blocker.release();
  expect(new Set(await Promise.all(slow))).toEqual(new Set(['done']));
});
