import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createClient } from '@trunkline/client';
import { sql } from 'kysely';
import pg from 'pg';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { openDatabase } from '../../../src/foundation/database/database.ts';
import { newUuid } from '../../../src/foundation/values/ids.ts';
import { newKey } from '../../../src/platform/api-keys/key.ts';
import { stepNames } from '../../../src/records/erasures/steps.ts';
import { freshDatabase } from '../../database.ts';
import { laterVersion, otherRelease, ownVersion } from '../../other-release.ts';
import { startServerProcess } from '../../server-process.ts';
import { until } from '../../until.ts';
import { DIGITS, NUMBER, seedPerson } from './person.ts';
import { whereIs } from './where-is.ts';

const letters = `
create table letters (workspace_id uuid not null, id uuid primary key, to_number bigint not null, text text not null);
update installation set erasure_steps = array_append(erasure_steps, 'letters')`;
/** Among the first, so that it is at another place in the order than what follows. */
const storeOfLetters = (text: string) =>
  text.replace(
    'stores: readonly Store[] = [',
    `$& { table: 'letters', key: id, columns: { text: 'text' }, numbers: ['to_number'], emptied: sql\`to_number = \${erased}\` },`,
  );

test('an erasure that an older server goes on with during an upgrade waits for what only the newer one knows of, and nothing of the person stays', async () => {
  const { connection, drop } = await freshDatabase();
  const dataDir = await mkdtemp(path.join(tmpdir(), 'trunkline-upgrade-'));
  const apiKey = newKey('test');
  const environment = { DATABASE_URL: connection.connectionString, DATA_DIR: dataDir, BOOTSTRAP_API_KEY: apiKey };
  const next = laterVersion(1);
  const adds = { '9001-letters': { release: next, oldestServer: ownVersion, sql: letters } };
  const release = await otherRelease(next, adds, { 'src/platform/person-data/stores.ts': storeOfLetters });
  const older = await startServerProcess(environment);
  let newer: Awaited<ReturnType<typeof startServerProcess>> | undefined;
  const database = openDatabase({ connection, poolSize: 2, log: pino({ level: 'silent' }) });
  const other = new pg.Client(connection);
  await other.connect();
  const one = async <T>(query: string) => {
    const { rows } = await database.inEngine(({ db }) => sql<T>`${sql.raw(query)}`.execute(db));
    return rows[0]!;
  };
  const erasure = () =>
    one<{ status: string; step: string; passed: string[] }>('select status, step, passed from erasures');
  try {
    const { id: workspace } = await one<{ id: string }>('select id from workspaces');
    await seedPerson(database, workspace);
    await other.query(`begin; select set_config('trunkline.engine', 'on', true); select from events for update`);
    const client = createClient({ baseUrl: older.url, apiKey, maxRetries: 0 });
    expect((await client.POST('/v1/erasures', { body: { phoneNumber: NUMBER } })).response.status).toBe(202);
    await until(async () => (await erasure()).step === 'events');
    newer = await startServerProcess(environment, release.main);
    await database.pool.query(`insert into letters values ($1, $2, $3, $4)`, [
      ...[workspace, newUuid(), DIGITS, `To ${NUMBER}`],
    ]);
    await newer.kill();
    await other.query('commit');
    await until(async () => (await erasure()).step === 'letters');
    const passed = stepNames.toSorted();
    expect(await erasure()).toMatchObject({ status: 'running' });
    expect((await erasure()).passed.toSorted()).toEqual(passed);
    expect(await whereIs({ database, dataDir }, DIGITS)).toEqual(
      expect.arrayContaining(['letters.text', 'letters.to_number']),
    );
    newer = await startServerProcess(environment, release.main);
    await until(async () => (await erasure()).status === 'completed');
    expect(await whereIs({ database, dataDir }, DIGITS)).toEqual([]);
  } finally {
    await newer?.kill();
    await older.kill();
    await release.remove();
    await other.end();
    await database.close();
    await drop();
    await rm(dataDir, { recursive: true, force: true });
  }
});
