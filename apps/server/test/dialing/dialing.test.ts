import { sql } from 'kysely';
import { pino } from 'pino';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../src/foundation/database/database.ts';
import { freshDatabase } from '../database.ts';
import { seedCampaign } from '../seed/campaign.ts';
import { campaignRow, startTestDialer, untilCompleted } from './dialing.ts';

let database: Database;
let drop: () => Promise<void>;

beforeAll(async () => {
  const fresh = await freshDatabase();
  database = openDatabase({ connection: fresh.connection, poolSize: 8, log: pino({ level: 'silent' }) });
  drop = async () => {
    await database.close();
    await fresh.drop();
  };
});
afterAll(() => drop());

test('a campaign calls every contact once and completes', async () => {
  const { campaignId } = await seedCampaign(database, { contacts: 2000 });
  const { stop } = await startTestDialer(database);
  await untilCompleted(database, campaignId);
  await stop();
  const row = await campaignRow(database, campaignId);
  expect(row).toMatchObject({
    total_contacts: 2000,
    pending: 0,
    waiting: 0,
    in_flight: 0,
    attempts: 2000,
    done: 2000,
    skipped: 0,
  });
  const calls = await database.inEngine(({ db }) =>
    sql<{
      outcome: string;
      n: number;
    }>`select outcome, count(*) as n from calls where campaign_id = ${campaignId} group by 1`.execute(db),
  );
  for (const { outcome, n } of calls.rows) expect(row[outcome as 'answered']).toBe(n);
  const twice = await database.inEngine(({ db }) =>
    sql<{ n: number }>`select count(*) as n from simulator_calls where placements > 1`.execute(db),
  );
  expect(twice.rows[0]!.n).toBe(0);
});
