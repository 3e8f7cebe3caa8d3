import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createClient } from '@trunkline/client';
import { sql } from 'kysely';
import pg from 'pg';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { openDatabase } from '../../../src/foundation/database/database.ts';
import { newKey } from '../../../src/platform/api-keys/key.ts';
import { freshDatabase } from '../../database.ts';
import { startServerProcess } from '../../server-process.ts';
import { until } from '../../until.ts';
import { DIGITS, NUMBER, seedPerson } from './person.ts';
import { whereIs } from './where-is.ts';

test('a server that is killed in the middle of an erasure leaves the rest to the next, and nothing of the person stays', async () => {
  const { connection, drop } = await freshDatabase();
  const dataDir = await mkdtemp(path.join(tmpdir(), 'trunkline-erasure-'));
  const apiKey = newKey('test');
  const environment = { DATABASE_URL: connection.connectionString, DATA_DIR: dataDir, BOOTSTRAP_API_KEY: apiKey };
  let server = await startServerProcess(environment);
  const database = openDatabase({ connection, poolSize: 2, log: pino({ level: 'silent' }) });
  const other = new pg.Client(connection);
  await other.connect();
  const clientOf = () => createClient({ baseUrl: server.url, apiKey, maxRetries: 0 });
  const count = async (table: string, column: string) => {
    const { rows } = await database.inEngine(({ db }) =>
      sql<{ count: number }>`
        select count(*) as count from ${sql.table(table)} where ${sql.ref(column)}::text like ${`%${DIGITS}%`}`.execute(
        db,
      ),
    );
    return rows[0]!.count;
  };
  try {
    const workspace = await database.inEngine(({ db }) =>
      db.selectFrom('workspaces').select('id').executeTakeFirstOrThrow(),
    );
    await seedPerson(database, workspace.id);
    await other.query(`begin; select set_config('trunkline.engine', 'on', true); select from events for update`);
    const { data } = await clientOf().POST('/v1/erasures', { body: { phoneNumber: NUMBER } });
    await until(async () => {
      const { rows } = await database.pool.query(
        "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
      );
      return rows.length > 0 && (await count('calls', 'to_number')) === 0;
    });
    expect(await count('events', 'data')).toBe(1);
    await server.kill();
    await other.query('commit');
    server = await startServerProcess(environment);
    const params = { path: { erasureId: data!.id } };
    const read = async () => (await clientOf().GET('/v1/erasures/{erasureId}', { params })).data!;
    await until(async () => (await read()).status === 'completed');
    expect(await read()).toMatchObject({ erased: { calls: 2, contacts: 1, runs: 1 } });
    expect(await whereIs({ database, dataDir }, DIGITS)).toEqual([]);
  } finally {
    await server.kill();
    await other.end();
    await database.close();
    await drop();
    await rm(dataDir, { recursive: true, force: true });
  }
});
