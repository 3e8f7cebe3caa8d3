import { randomUUID } from 'node:crypto';
import dns from 'node:dns';
import { sql } from 'kysely';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { copyRows } from '../../../src/audience/contact-lists/copy-rows.ts';
import { openStaging } from '../../../src/audience/contact-lists/staging.ts';
import { type Database, openDatabase } from '../../../src/foundation/database/database.ts';
import { openNotifications } from '../../../src/foundation/database/notifications.ts';
import { newUuid } from '../../../src/foundation/values/ids.ts';
import { freshDatabase } from '../../database.ts';
import { campaignRow, untilCompleted } from '../../dialing/dialing.ts';
import { seedCampaign } from '../../seed/campaign.ts';
import { startTestServer } from '../../server.ts';
import { until } from '../../until.ts';
import { type Front, frontOf } from './front.ts';

vi.mock('../../../src/foundation/database/silence-limits.ts', () => ({
  ...{ SILENCE_MS: 1000, SILENCE_OF_SEVERAL_MS: 1000, LOOK_MS: 100, ASK_MS: 5000 },
}));

let fresh: Awaited<ReturnType<typeof freshDatabase>>;
let front: Front;
/** It stands behind the front, and sees the database as it is. */
let behind: Database;
const lines: { msg: string; connections?: number }[] = [];
const log = pino({ level: 'info' }, { write: (line) => void lines.push(JSON.parse(line)) });
const told = (msg: string) => lines.filter((line) => line.msg === msg).length;
const GIVEN_UP = 'database connections were given up: nothing came over them';

beforeAll(async () => {
  fresh = await freshDatabase();
  front = await frontOf(fresh.connection);
  behind = openDatabase({ connection: fresh.connection, poolSize: 2, log });
});
afterAll(async () => {
  await front.become('gone');
  await behind.close();
  await fresh.drop();
});

test('a server whose database went without a word goes on once new connections get through', async () => {
  await front.become('open');
  const config = { leaseSeconds: 2, simulatorSpeed: 100 };
  const { connectionString } = front.connection;
  const server = await startTestServer({ connectionString, log, config });
  const ready = async () => (await fetch(`${server.url}/readyz`)).status;
  const asked = async () =>
    (await fetch(`${server.url}/v1/audit-log`, { headers: { 'X-API-Key': server.apiKey } })).status;
  const { campaignId } = await seedCampaign(behind, { contacts: 60, campaign: { calls_per_second: 10 } });
  const attempts = async () => (await campaignRow(behind, campaignId)).attempts;
  await until(async () => (await attempts()) > 5);

  // Another one has taken its address.
  front.fallSilent();
  await front.become('open');
  await until(async () => (await ready()) === 200 && (await asked()) === 200);
  expect(told(GIVEN_UP)).toBeGreaterThan(0);
  const before = await attempts();
  await until(async () => (await attempts()) > before);

  // Nobody is there for a while.
  front.fallSilent();
  await until(async () => (await asked()) === 503);
  await until(() => told('the lease could not be renewed') > 0);
  await front.become('open');
  await until(async () => (await ready()) === 200 && (await asked()) === 200);
  await untilCompleted(behind, campaignId);
  const { rows } = await behind.inEngine(({ db }) =>
    sql<{ numbers: number; placed: number }>`
      select count(distinct to_number)::int as numbers, sum(placements)::int as placed from simulator_calls`.execute(
      db,
    ),
  );
  expect(rows[0]).toEqual({ numbers: 60, placed: 60 });
  await server.stop();
});

test('a statement that takes long is not given up, and one whose answer can not get through is', async () => {
  await front.become('open');
  const database = openDatabase({ connection: front.connection, poolSize: 2, log });
  lines.length = 0;
  await database.inEngine(({ db }) => sql`select pg_sleep(2.5)`.execute(db));
  expect(lines).toEqual([]);

  const large = database.inEngine(({ db }) =>
    sql`select repeat('x', 1000000) from generate_series(1, 30), pg_sleep(1)`.execute(db),
  );
  front.fallSilent();
  await front.become('open');
  await expect(large).rejects.toMatchObject({ code: 'unavailable' });
  await database.close();
});

test('a statement that takes long is not given up while the name of its database can not be looked up', async () => {
  await front.become('open');
  const url = new URL(front.connection.connectionString);
  url.hostname = 'localhost';
  const database = openDatabase({ connection: { connectionString: url.href }, poolSize: 2, log });
  await database.inEngine(async ({ db }) => {
    await sql`select 1`.execute(db);
    const lookup = vi
      .spyOn(dns, 'lookup')
      .mockImplementation(((_name: string, _options: unknown, callback: (e: Error) => void) =>
        callback(Object.assign(new Error('The name server fails.'), { code: 'EAI_AGAIN' }))) as never);
    await sql`select pg_sleep(2.5)`.execute(db);
    expect(lookup).toHaveBeenCalled();
    lookup.mockRestore();
  });
  await database.close();
});

test('what waits is given up only when it is known that nobody works for it, and a close waits for no longer', async () => {
  await front.become('open');
  const database = openDatabase({ connection: front.connection, poolSize: 2, log });
  const waiting = database.inEngine(async ({ db }) => {
    await sql`select 1`.execute(db);
    front.fallSilent();
    await front.become('starting');
    await sql`select 2`.execute(db);
  });
  const refused = expect(waiting).rejects.toMatchObject({ code: 'unavailable' });
  const closed = database.close();
  lines.length = 0;
  await until(() => front.refused() > 3);
  expect(lines).toEqual([]);
  await front.become('open');
  await refused;
  await closed;
  expect(told(GIVEN_UP)).toBe(1);
});

test('who listens hears again after a database went without a word', async () => {
  await front.become('open');
  const notifications = openNotifications({ connection: front.connection, log });
  const topic = randomUUID();
  const heard = vi.fn();
  notifications.subscribe(topic, heard);
  const hears = () =>
    until(async () => {
      await behind.pool.query(`select pg_notify('trunkline_events', $1)`, [topic]);
      expect(heard).toHaveBeenCalled();
    });
  await hears();
  front.fallSilent();
  await front.become('open');
  heard.mockClear();
  await hears();
  await notifications.close();
});

test('an import whose database went without a word fails, and one that is over ends', async () => {
  await front.become('open');
  const open = () => openStaging(front.connection, { workspaceId: newUuid(), uploadId: newUuid() }, async () => true);
  const [copying, over] = [(await open())!, (await open())!];
  const ada = {
    row: 2,
    phoneColumn: 0,
    phoneNumber: 14155550101,
    country: 'US',
    name: 'Ada',
    timezone: undefined,
    values: [],
  };
  await copying.write(copyRows(newUuid(), newUuid(), [])([ada]), 1);
  front.fallSilent();
  await front.become('open');
  await expect(copying.flush()).rejects.toThrow('Connection terminated: nothing came over it');
  await Promise.all([copying.close(), over.close()]);
});
