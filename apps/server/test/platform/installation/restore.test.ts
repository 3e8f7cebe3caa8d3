import { execFile } from 'node:child_process';
import { rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import { afterEach, expect, test } from 'vitest';
import { newUuid } from '../../../src/foundation/values/ids.ts';
import { newKey } from '../../../src/platform/api-keys/key.ts';
import { copyOf, freshDatabase } from '../../database.ts';
import { campaignRow } from '../../dialing/dialing.ts';
import { statementOn } from '../../foundation/database/statement-on.ts';
import { program } from '../../program.ts';
import { seedCampaign } from '../../seed/campaign.ts';
import { startTestServer, type TestServer } from '../../server.ts';
import { until } from '../../until.ts';

const main = await program('main');
const witnessPath = path.join(tmpdir(), `trunkline-witness-${newUuid()}`);
const apiKey = newKey('test');
const running: TestServer[] = [];
let databases: { drop(): Promise<void> }[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.stop()));
  await Promise.all(databases.map((database) => database.drop()));
  databases = [];
  await rm(witnessPath, { recursive: true, force: true });
});

const CONTACTS = 60;

async function serve(
  database: { connection: { connectionString: string } },
  simulatorSpeed = 100_000,
): Promise<TestServer> {
  const { connectionString } = database.connection;
  const config = { witnessPath, simulatorSpeed };
  const server = await startTestServer({ connectionString, apiKey, config });
  running.push(server);
  return server;
}

const stop = (server: TestServer) => {
  running.splice(running.indexOf(server), 1);
  return server.stop();
};

async function workspaceOf({ database }: TestServer): Promise<string> {
  const { rows } = await database.inEngine(({ db }) => sql<{ id: string }>`select id from workspaces`.execute(db));
  return rows[0]!.id;
}

const placed = async ({ database }: TestServer): Promise<number> => {
  const { rows } = await database.inEngine(({ db }) =>
    sql<{ count: number }>`select count(*) as count from calls where dialed_at is not null`.execute(db),
  );
  return rows[0]!.count;
};

const ready = async ({ url }: TestServer): Promise<string> => (await fetch(`${url}/readyz`)).text();

const confirm = async (connectionString: string): Promise<string> => {
  const env = {
    PATH: process.env['PATH'],
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
    DATABASE_URL: connectionString,
    WITNESS_PATH: witnessPath,
    LOG_LEVEL: 'silent',
  };
  const { stdout } = await promisify(execFile)(process.execPath, [...main, 'confirm-restore'], {
    env,
  });
  return stdout;
};

/** A campaign of which some contacts were called before the backup, and the others after it. */
async function restoredInTheMiddle() {
  const original = await freshDatabase();
  databases.push(original);
  // Its calls take seconds, so that some are up in the backup.
  const before = await serve(original, 10);
  const workspaceId = await workspaceOf(before);
  const { campaignId } = await seedCampaign(before.database, {
    workspaceId,
    contacts: CONTACTS,
    campaign: { calls_per_second: 40 },
  });
  await until(async () => (await placed(before)) >= 10);
  await stop(before);
  const backup = await copyOf(original);
  databases.push(backup);
  const after = await serve(original);
  await until(async () => (await campaignRow(after.database, campaignId)).status === 'completed');
  await stop(after);
  return { backup, campaignId };
}

test('a backup of the middle of a campaign calls nobody until the operator and the owner have said so', async () => {
  const { backup, campaignId } = await restoredInTheMiddle();
  const server = await serve(backup);
  const { client } = server;
  const atBackup = await placed(server);
  expect(atBackup).toBeLessThan(CONTACTS);
  expect(await ready(server)).toContain('dialing is held: the database is older than its witness');
  expect((await client.GET('/v1/workspace')).data!.data.dialingPausedAt).toBeDefined();
  const refused = await client.POST('/v1/workspace/resume-dialing');
  expect(refused.error).toMatchObject({ code: 'unavailable', error: expect.stringContaining('restored') });
  expect((await campaignRow(server.database, campaignId)).status).toBe('running');

  const told = await confirm(backup.connection.connectionString);
  expect(told).toContain(`to be marked as placed: ${CONTACTS - atBackup}.`);
  await until(async () => (await ready(server)) === 'ok\n');
  expect((await client.POST('/v1/workspace/resume-dialing')).error).toBeUndefined();
  // All who were left have been called by then. With calls that were up in the backup it is not over, and was paused.
  expect(await campaignRow(server.database, campaignId)).toMatchObject({ status: 'paused', pending: 0, waiting: 0 });
  await server.database.inEngine(({ db }) =>
    sql`update campaigns set status = 'running', next_claim_at = 'epoch' where id = ${campaignId}`.execute(db),
  );
  await until(async () => (await campaignRow(server.database, campaignId)).status === 'completed');
  expect((await campaignRow(server.database, campaignId)).unknown).toBe(CONTACTS - atBackup);
});

test('a database that becomes older under a server that runs places nothing more', async () => {
  const database = await freshDatabase();
  databases.push(database);
  const server = await serve(database);
  const workspaceId = await workspaceOf(server);
  const first = await seedCampaign(server.database, { workspaceId, contacts: 1 });
  await until(async () => (await campaignRow(server.database, first.campaignId)).status === 'completed');
  await server.database.inEngine(({ db }) => sql`update witness_slots set number = 0`.execute(db));
  await seedCampaign(server.database, { workspaceId, contacts: 20, number: (i) => 14_153_000_000 + i });
  await until(async () => (await ready(server)).includes('older than what this server has seen'));
  const { rows } = await server.database.inEngine(({ db }) => sql`select from simulator_calls`.execute(db));
  expect(rows).toHaveLength(1);
});

test('a witness that is missing where there was one holds dialing; one that was never there does not', async () => {
  const database = await freshDatabase();
  databases.push(database);
  const server = await serve(database);
  expect(await ready(server)).toBe('ok\n');
  await stop(server);
  await rm(witnessPath, { recursive: true });
  const held = await serve(database);
  expect(await ready(held)).toContain('the witness is missing');
  expect(await confirm(database.connection.connectionString)).toContain('Confirmed: the witness is missing');
  await until(async () => (await ready(held)) === 'ok\n');
  expect(await confirm(database.connection.connectionString)).toContain('nothing to confirm');
});

test("a former version's witness is still read, and kept", async () => {
  const database = await freshDatabase();
  databases.push(database);
  const { rows } = await statementOn(database.connection, 'select id from installation');
  await writeFile(witnessPath, JSON.stringify({ id: rows[0].id, watermark: 7 }));
  expect(await ready(await serve(database))).toContain('dialing is held: the database is older than its witness');
  expect(await confirm(database.connection.connectionString)).toContain('Confirmed');
  await until(async () => (await ready(running[0]!)) === 'ok\n');
  expect((await stat(witnessPath)).isFile()).toBe(true);
  await rm(`${witnessPath}.d`, { recursive: true, force: true });
});

test('a witness that can not be read lets nothing be placed, and says so', async () => {
  const database = await freshDatabase();
  databases.push(database);
  await writeFile(witnessPath, 'half a fi');
  const server = await serve(database);
  expect(await ready(server)).toContain('the witness can not be read');
  const { campaignId } = await seedCampaign(server.database, { workspaceId: await workspaceOf(server), contacts: 1 });
  await rm(witnessPath);
  await until(async () => (await campaignRow(server.database, campaignId)).status === 'completed');
  expect(await ready(server)).toBe('ok\n');
});
