import { Writable } from 'node:stream';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ConfigError, loadConfig } from '../../../src/config.ts';
import { openMigrated } from '../../../src/server.ts';
import { freshDatabase } from '../../database.ts';
import { campaignRow } from '../../dialing/dialing.ts';
import { seedCampaign } from '../../seed/campaign.ts';
import { startTestServer } from '../../server.ts';
import { until } from '../../until.ts';
import { type Front, frontOf } from './front.ts';

const lines: { msg: string; reason?: string; waitedSeconds?: number; longestSeconds?: number }[] = [];
const log = pino(
  { level: 'info' },
  new Writable({
    write: (line, _, done) => {
      lines.push(JSON.parse(line.toString()));
      done();
    },
  }),
);
const waiting = () => lines.filter((line) => line.msg === 'waiting for PostgreSQL to start');
let database: Awaited<ReturnType<typeof freshDatabase>>;
let front: Front;

beforeAll(async () => {
  database = await freshDatabase();
  front = await frontOf(database.connection);
});
afterAll(async () => {
  await front.become('gone');
  await database.drop();
});

test('a database that does not start in time ends the start, with what would be right', async () => {
  const config = { ...loadConfig({}), databaseUrl: front.connection.connectionString };
  const fault = await openMigrated(config, log, 600).catch((error) => error);
  expect(fault).toBeInstanceOf(ConfigError);
  expect(fault.message).toMatch(/^DATABASE_URL names a .* used: connect ECONNREFUSED 127.* Start PostgreSQL there/);
  await front.become('starting');
  await expect(openMigrated(config, log, 600)).rejects.toThrow('used: the database system is starting up. Start');
  expect(waiting()).toMatchObject([
    { reason: expect.stringContaining('ECONNREFUSED'), waitedSeconds: 0, longestSeconds: 0.6 },
    { reason: 'the database system is starting up' },
  ]);
  await front.become('gone');
});

test('a server waits for a database that starts, and goes on by itself after it was away', async () => {
  lines.length = 0;
  const starting = startTestServer({
    connectionString: front.connection.connectionString,
    log,
    config: { leaseSeconds: 1 },
  });
  await until(() => waiting().length === 1);
  await front.become('starting');
  await until(() => front.refused() > 2);
  expect(waiting()).toHaveLength(1);
  await front.become('open');
  const server = await starting;
  const ready = async () => (await fetch(`${server.url}/readyz`)).status;
  expect(await ready()).toBe(200);

  for (const state of ['gone', 'starting'] as const) {
    await front.become(state);
    expect(await ready()).toBe(503);
    const refused = await fetch(`${server.url}/v1/audit-log`, { headers: { 'X-API-Key': server.apiKey } });
    expect([refused.status, refused.headers.get('Retry-After')]).toEqual([503, '1']);
  }
  const unrenewed = () => lines.filter((line) => line.msg === 'the lease could not be renewed').length;
  await until(() => unrenewed() > 3);
  await front.become('open');
  await until(async () => (await ready()) === 200);
  const { campaignId } = await seedCampaign(server.database, { contacts: 3, campaign: { calls_per_second: 5 } });
  await until(async () => (await campaignRow(server.database, campaignId)).attempts === 3);
  await server.stop();
});
