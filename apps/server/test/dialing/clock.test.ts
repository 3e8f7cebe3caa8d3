import { expect, test } from 'vitest';
import { seedCampaign } from '../seed/campaign.ts';
import { startTestServer } from '../server.ts';
import { until } from '../until.ts';
import { callsOf } from './audit.ts';
import { campaignRow } from './dialing.ts';

const HOURS = 2 * 3_600_000;
const A_MINUTE = 60_000;

test('a clock that is two hours ahead for a while claims nothing, says so, and stops no campaign', async () => {
  let ahead = 0;
  const server = await startTestServer({ machineTime: () => Date.now() + ahead, config: { leaseSeconds: 1 } });
  const { database } = server;
  const { campaignId } = await seedCampaign(database, { contacts: 30, campaign: { calls_per_second: 5 } });
  const row = () => campaignRow(database, campaignId);
  const get = async (path: string) => (await fetch(server.url + path)).text();
  await until(async () => (await row()).attempts > 3);
  ahead = HOURS;
  expect(await get('/readyz')).toMatch(/^ok\nthe clock of this machine is 7\d\d\d s ahead of the database's/);
  expect(await get('/metrics')).toMatch(/trunkline_clock_ahead_seconds 7\d\d\d/);
  const other = await seedCampaign(database, { contacts: 5, number: (i) => 13_102_000_000 + i });
  const leaseUntil = async () =>
    (await database.inEngine(({ db }) => db.selectFrom('servers').select('lease_until').executeTakeFirstOrThrow()))
      .lease_until;
  const soon = new Date((await leaseUntil()).getTime() + 1000);
  await until(async () => (await leaseUntil()) > soon);
  expect(await get('/readyz')).toContain('ahead');
  expect(await campaignRow(database, other.campaignId)).toMatchObject({ attempts: 0, contacts_added: false });
  const { attempts, next_claim_at, next_start_at } = await row();
  expect(attempts).toBeLessThan(30);
  for (const at of [next_claim_at, next_start_at]) expect(at.getTime()).toBeLessThan(Date.now() + A_MINUTE);
  ahead = 0;
  expect(await get('/readyz')).toBe('ok\n');
  await until(async () => (await row()).attempts === 30);
  await until(async () => (await campaignRow(database, other.campaignId)).attempts === 5);
  const dialed = (await callsOf(database, campaignId)).map((call) => call.dialed_at?.getTime() ?? 0);
  expect(Math.max(...dialed)).toBeLessThan(Date.now() + A_MINUTE);
  await server.stop();
});

test('a campaign that was put off further than anything puts it off goes on', async () => {
  // The loop that finds it sleeps half a minute where nothing happens.
  const server = await startTestServer({ quiet: { awakeMs: 500, longestMs: 1000 } });
  const { database } = server;
  const later = new Date(Date.now() + HOURS);
  const { campaignId } = await seedCampaign(database, {
    contacts: 2,
    campaign: { next_claim_at: later, next_start_at: later, calls_per_second: 5, contacts_added: false },
  });
  await until(async () => (await campaignRow(database, campaignId)).attempts === 2);
  await server.stop();
});
