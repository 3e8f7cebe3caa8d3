import { execFile } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import { afterEach, expect, test } from 'vitest';
import { confirmRestore } from '../../../src/commands/confirm-restore.ts';
import { newUuid, toId } from '../../../src/foundation/values/ids.ts';
import { newKey } from '../../../src/platform/api-keys/key.ts';
import { readInstallation } from '../../../src/platform/installation/installation.ts';
import { copyOf, freshDatabase } from '../../database.ts';
import { campaignRow } from '../../dialing/dialing.ts';
import { seedCampaign } from '../../seed/campaign.ts';
import { startTestServer, type TestServer } from '../../server.ts';
import { until } from '../../until.ts';

const main = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));
const witnessPath = path.join(tmpdir(), `trunkline-witness-${newUuid()}.json`);
const apiKey = newKey('test');
const running: TestServer[] = [];
let databases: { drop(): Promise<void> }[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.stop()));
  await Promise.all(databases.map((database) => database.drop()));
  databases = [];
  await rm(witnessPath, { force: true });
});

const CONTACTS = 60;

async function serve(database: { connection: { connectionString: string } }): Promise<TestServer> {
  const { connectionString } = database.connection;
  const config = { witnessPath, simulatorSpeed: 100_000 };
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
    DATABASE_URL: connectionString,
    WITNESS_PATH: witnessPath,
    LOG_LEVEL: 'silent',
  };
  const { stdout } = await promisify(execFile)(process.execPath, ['--conditions=source', main, 'confirm-restore'], {
    env,
  });
  return stdout;
};

/** A campaign of which some contacts were called before the backup, and the others after it. */
async function restoredInTheMiddle() {
  const original = await freshDatabase();
  databases.push(original);
  const before = await serve(original);
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

  expect(await confirm(backup.connection.connectionString)).toContain('Campaigns and batches that were paused: 1');
  await until(async () => (await ready(server)) === 'ok\n');
  const params = { params: { path: { id: toId('cmp', campaignId) } } };
  expect((await client.GET('/v1/calls/campaigns/{id}', params)).data!.data.status).toBe('paused');
  expect((await client.POST('/v1/workspace/resume-dialing')).error).toBeUndefined();
  expect(await placed(server)).toBe(atBackup);
  await client.POST('/v1/calls/campaigns/{id}/resume', params);
  await until(async () => (await placed(server)) === CONTACTS);
});

test('a database that becomes older under a server that runs places nothing more', async () => {
  const database = await freshDatabase();
  databases.push(database);
  const server = await serve(database);
  const workspaceId = await workspaceOf(server);
  const first = await seedCampaign(server.database, { workspaceId, contacts: 1 });
  await until(async () => (await campaignRow(server.database, first.campaignId)).status === 'completed');
  await server.database.inEngine(({ db }) => sql`update installation set watermark = 0`.execute(db));
  await seedCampaign(server.database, { workspaceId, contacts: 20, number: (i) => 14_153_000_000 + i });
  await until(async () => (await ready(server)).includes('older than what this server has seen'));
  expect(await placed(server)).toBe(1);
});

test('a witness that is missing where there was one holds dialing; one that was never there does not', async () => {
  const database = await freshDatabase();
  databases.push(database);
  const server = await serve(database);
  expect(await ready(server)).toBe('ok\n');
  await stop(server);
  await rm(witnessPath);
  expect(await ready(await serve(database))).toContain('the witness is missing');
  expect(await confirm(database.connection.connectionString)).toContain('Confirmed: the witness is missing');
  expect(JSON.parse(await readFile(witnessPath, 'utf8'))).toMatchObject({ watermark: expect.any(Number) });
  expect(await confirm(database.connection.connectionString)).toContain('nothing to confirm');
});

test('a confirmation is told to the witness before a server can see it, which would hold dialing again by the old one', async () => {
  const database = await freshDatabase();
  databases.push(database);
  const server = await serve(database);
  await stop(server);
  await rm(witnessPath);
  const { database: again } = await serve(database);
  const heldAtWrite: (string | null)[] = [];
  const witness = {
    read: async () => undefined,
    write: async () => {
      heldAtWrite.push((await again.inEngine(readInstallation)).held_reason);
      // As long as a store that is far away may take, and longer than other transactions may wait.
      await new Promise((resolve) => setTimeout(resolve, 3500));
    },
  };
  expect(await confirmRestore(again, witness, new Date())).toMatchObject({ reason: 'the witness is missing' });
  expect(heldAtWrite).toEqual(['the witness is missing']);
});

test('a witness that holds something else lets nothing be placed, and says so', async () => {
  const database = await freshDatabase();
  databases.push(database);
  await writeFile(witnessPath, 'half a fi');
  const server = await serve(database);
  expect(await ready(server)).toContain('the witness can not be read');
});
