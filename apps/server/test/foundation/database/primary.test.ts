import { sql } from 'kysely';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { loadConfig } from '../../../src/config.ts';
import type { Connection } from '../../../src/foundation/database/connection.ts';
import { openDatabase } from '../../../src/foundation/database/database.ts';
import { openMigrated } from '../../../src/server.ts';
import { freshDatabase } from '../../database.ts';
import { campaignRow, untilCompleted } from '../../dialing/dialing.ts';
import { seedCampaign } from '../../seed/campaign.ts';
import { startTestServer } from '../../server.ts';
import { until } from '../../until.ts';
import { fakeStandby } from './fake-standby.ts';
import { type Front, frontOf } from './front.ts';

let fresh: Awaited<ReturnType<typeof freshDatabase>>;
const fronts: Front[] = [];
const log = pino({ level: 'silent' });

beforeAll(async () => {
  fresh = await freshDatabase();
});
afterAll(async () => {
  for (const front of fronts) await front.become('gone');
  await fresh.drop();
});

async function newFront(state: 'open' | 'gone'): Promise<Front> {
  const front = await frontOf(fresh.connection);
  fronts.push(front);
  if (state === 'open') await front.become('open');
  return front;
}

/** A URL of these hosts, in this order. */
function listOf(...hosts: (Front | { host: string })[]): Connection {
  const url = (front: Front) => new URL(front.connection.connectionString);
  const list = hosts.map((each) => ('host' in each ? each.host : url(each).host)).join(',');
  const { username, password, pathname } = url(fronts[0]!);
  return { connectionString: `postgresql://${username}${password && `:${password}`}@${list}${pathname}` };
}

/** Opens a database of one connection, until the test is over. */
function openOne(connection: Connection) {
  const database = openDatabase({ connection, poolSize: 1, log });
  onTestFinished(database.close);
  return database;
}

test('a connection goes to the host that is the primary, past one that is silent, one that is gone and a standby', async () => {
  const [silent, primary] = [await newFront('open'), await newFront('open')];
  silent.fallSilent();
  const standby = await fakeStandby();
  onTestFinished(standby.stop);
  const database = openOne(listOf(silent, await newFront('gone'), standby, primary));
  const { rows } = await database.inEngine(({ db }) => sql`select pg_is_in_recovery() as standby`.execute(db));
  expect([rows, standby.asked()]).toEqual([[{ standby: false }], 1]);
});

test('once another host is the primary, connections to the last one are cut off', async () => {
  const [one, other] = [await newFront('open'), await newFront('gone')];
  const connection = listOf(one, other);
  const [idle, busy] = [openOne(connection), openOne(connection)];
  await idle.pool.query('select 1');
  let hasBegun = false;
  const cutOff = busy.inEngine(async ({ db }) => {
    one.fallSilent();
    await other.become('open');
    hasBegun = true;
    await sql`select 1`.execute(db);
  });
  const told = expect(cutOff).rejects.toMatchObject({ code: 'unavailable' });
  await until(() => hasBegun);
  await openOne(connection).pool.query('select 1');
  await told;
  await until(() => idle.pool.totalCount === 0);
  await busy.inEngine(({ db }) => sql`select 1`.execute(db));
});

test('a connection to what has become a standby is thrown away', async () => {
  const database = openOne(listOf(await newFront('open'), await newFront('gone')));
  await database.pool.query('set default_transaction_read_only = on');
  const write = () => database.inEngine(({ db }) => sql`create table written_there ()`.execute(db));
  await expect(write()).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining('no writes') });
  await write();
});

test('a start waits for a primary, and says of each host why it is none; it does not wait where all refuse', async () => {
  const standby = await fakeStandby();
  onTestFinished(standby.stop);
  const gone = await newFront('gone');
  const { connectionString } = listOf(standby, gone);
  const open = (databaseUrl: string, waitMs = 0) => openMigrated({ ...loadConfig({}), databaseUrl }, log, waitMs);
  await expect(open(connectionString)).rejects.toThrow(
    /^DATABASE_URL names .* used: none of its hosts is the primary \(127\.0\.0\.1:\d+: it is a standby; 127.*ECONNREFUSED/,
  );
  const asked = standby.asked();
  const opening = open(connectionString, 30_000);
  await until(() => standby.asked() > asked + 1);
  await gone.become('open');
  await (await opening).close();
  const url = listOf(gone, await newFront('open')).connectionString.replace(/[^/]+$/, 'nowhere');
  await expect(open(url)).rejects.toThrow('used: database "nowhere" does not exist.');
});

test('a server dials on from one host to the next, and to nobody twice', async () => {
  const [one, other] = [await newFront('open'), await newFront('gone')];
  const server = await startTestServer({
    connectionString: listOf(one, other).connectionString,
    config: { leaseSeconds: 2, simulatorSpeed: 100 },
  });
  onTestFinished(server.stop);
  const { campaignId } = await seedCampaign(server.database, { contacts: 60, campaign: { calls_per_second: 10 } });
  await until(async () => (await campaignRow(server.database, campaignId)).attempts > 5);
  await one.become('gone');
  await other.become('open');
  await untilCompleted(server.database, campaignId);
  await until(async () => {
    const { rows } = await server.database.pool.query(
      `select count(*)::int as listening from pg_stat_activity
      where application_name = 'trunkline listen' and datname = current_database()`,
    );
    expect(rows).toEqual([{ listening: 2 }]);
  });
  const { rows } = await server.database.inEngine(({ db }) =>
    sql`select count(distinct to_number)::int as numbers, sum(placements)::int as placed from simulator_calls`.execute(
      db,
    ),
  );
  expect(rows).toEqual([{ numbers: 60, placed: 60 }]);
});
