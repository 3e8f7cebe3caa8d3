import { expect, test } from 'vitest';
import type { Database } from '../../src/foundation/database/database.ts';
import { withDatabase } from '../foundation/database/own-database.ts';
import { type SeedOptions, seedCampaign } from '../seed/campaign.ts';
import { testClock } from '../test-clock.ts';
import { until } from '../until.ts';
import { callsOf } from './audit.ts';
import { campaignRow, dialersTurn, startTestDialer } from './dialing.ts';

/** The local hour and minute of an instant, from Node's own time zones and not from what the engine uses. */
function localTime(timeZone: string, at: Date): string {
  return new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit' }).format(at);
}

/** Seeds a campaign of 200 contacts of one time zone, called at most five a second, so that it never runs dry. */
const inZone = (timezone: string, campaign: Record<string, unknown>, more: Partial<SeedOptions> = {}): SeedOptions => ({
  contacts: 200,
  timezone: () => timezone,
  campaign: { calls_per_second: 5, timezone: 'Asia/Tokyo', ...campaign },
  ...more,
});

/** Moves the clock to each instant, and expects that calls are placed from then on, or that none is. */
async function expectOpen(
  database: Database,
  campaignId: string,
  instants: [string, 'open' | 'closed'][],
): Promise<void> {
  const time = testClock(instants[0]![0]);
  const { stop } = await startTestDialer(database, { time });
  for (const [instant, expected] of instants) {
    time.set(instant);
    const placed = async () =>
      (await callsOf(database, campaignId)).some((call) => call.dialed_at && call.dialed_at >= new Date(instant));
    if (expected === 'open') await until(placed);
    else await dialersTurn(database);
    expect(await placed(), instant).toBe(expected === 'open');
  }
  await stop();
}

/** The local times at which calls were placed, earliest and latest. */
async function localTimesOf(database: Database, campaignId: string, timezone: string): Promise<[string, string]> {
  const calls = (await callsOf(database, campaignId)).filter((call) => call.dialed_at);
  const times = calls.map((call) => localTime(timezone, call.dialed_at!)).sort();
  return [times[0]!, times.at(-1)!];
}

const nineToFive = { schedule_start: 540, schedule_end: 1020 };

test.concurrent('a window opens and closes by the contact’s clock, the day before and the day of a change to summer time', () =>
  withDatabase(async (database) => {
    const { campaignId } = await seedCampaign(database, inZone('America/New_York', nineToFive));
    await expectOpen(database, campaignId, [
      ['2026-03-07T13:59:10Z', 'closed'],
      ['2026-03-07T14:00:01Z', 'open'],
      ['2026-03-07T21:59:10Z', 'open'],
      ['2026-03-07T22:00:01Z', 'closed'],
      ['2026-03-08T12:59:10Z', 'closed'],
      ['2026-03-08T13:00:01Z', 'open'],
      ['2026-03-08T20:59:10Z', 'open'],
      ['2026-03-08T21:00:01Z', 'closed'],
    ]);
    expect(await localTimesOf(database, campaignId, 'America/New_York')).toEqual(['09:00', '16:59']);
  }));

test.concurrent('an hour that comes twice is open twice, one that is left out not at all', () =>
  withDatabase(async (database) => {
    const { campaignId } = await seedCampaign(
      database,
      inZone('America/New_York', { schedule_start: 60, schedule_end: 120 }),
    );
    await expectOpen(database, campaignId, [
      ['2026-11-01T04:59:10Z', 'closed'],
      ['2026-11-01T05:00:01Z', 'open'],
      ['2026-11-01T06:30:00Z', 'open'],
      ['2026-11-01T07:00:01Z', 'closed'],
    ]);
    const missing = await seedCampaign(database, inZone('Europe/Berlin', { schedule_start: 120, schedule_end: 180 }));
    await expectOpen(database, missing.campaignId, [
      ['2027-03-28T00:59:10Z', 'closed'],
      ['2027-03-28T01:00:01Z', 'closed'],
      ['2027-03-28T01:30:00Z', 'closed'],
      ['2027-03-29T00:00:01Z', 'open'],
    ]);
  }));

test.concurrent('quiet hours and weekdays close a window, by the contact’s own clock', () =>
  withDatabase(async (database) => {
    const quiet = { quiet_hours_start: 720, quiet_hours_end: 780 };
    const campaign = { ...nineToFive, schedule_days: [1, 2, 3, 4, 5] };
    const { campaignId } = await seedCampaign(database, inZone('Asia/Kolkata', campaign, { workspace: quiet }));
    await expectOpen(database, campaignId, [
      ['2026-03-06T06:29:10Z', 'open'],
      ['2026-03-06T06:30:01Z', 'closed'],
      ['2026-03-06T07:29:10Z', 'closed'],
      ['2026-03-06T07:30:01Z', 'open'],
      ['2026-03-07T06:00:00Z', 'closed'],
      ['2026-03-08T06:00:00Z', 'closed'],
      ['2026-03-09T03:30:01Z', 'open'],
    ]);
  }));

test.concurrent('windows past midnight, quiet hours past midnight and holidays: the last two always win', () =>
  withDatabase(async (database) => {
    const workspace = { quiet_hours_start: 1380, quiet_hours_end: 30, holidays: ['2026-03-08'] };
    const calling_windows = [{ days: [5, 6], start: 1320, end: 120 }];
    const campaign = { calling_windows, holidays: ['2026-03-14'] };
    const { campaignId } = await seedCampaign(database, inZone('Europe/Berlin', campaign, { workspace }));
    await expectOpen(database, campaignId, [
      ['2026-03-06T20:59:10Z', 'closed'],
      ['2026-03-06T21:00:01Z', 'open'],
      ['2026-03-06T22:00:01Z', 'closed'],
      ['2026-03-06T23:30:01Z', 'open'],
      ['2026-03-07T01:00:01Z', 'closed'],
      ['2026-03-07T21:30:00Z', 'open'],
      ['2026-03-07T23:30:01Z', 'closed'],
      ['2026-03-13T21:30:01Z', 'open'],
      ['2026-03-13T23:30:01Z', 'closed'],
      ['2026-03-14T21:30:01Z', 'closed'],
      ['2026-03-20T21:00:01Z', 'open'],
    ]);
  }));

test.concurrent('the clock at the number counts: Honolulu is not called at four in the morning for New York', () =>
  withDatabase(async (database) => {
    const seed = (callee_time_zone: 'strictest' | 'campaign') =>
      seedCampaign(database, {
        contacts: 200,
        number: (i) => 18_085_550_100 + i,
        campaign: { ...nineToFive, timezone: 'America/New_York', calls_per_second: 5, callee_time_zone },
      });
    const strictest = await seed('strictest');
    await expectOpen(database, strictest.campaignId, [
      ['2026-03-10T14:00:01Z', 'closed'],
      ['2026-03-10T18:59:10Z', 'closed'],
      ['2026-03-10T19:00:01Z', 'open'],
      ['2026-03-11T03:00:01Z', 'closed'],
    ]);
    expect(await localTimesOf(database, strictest.campaignId, 'Pacific/Honolulu')).toEqual(['09:00', '09:00']);
    const campaign = await seed('campaign');
    await expectOpen(database, campaign.campaignId, [['2026-03-10T14:00:01Z', 'open']]);
  }));

test.concurrent('who may be in either of two time zones is called while hours are open in both, and left out where they never are', () =>
  withDatabase(async (database) => {
    const eastAndWest = { contacts: 3, number: (i: number) => 16_055_550_100 + i };
    const two = { schedule_start: 540, schedule_end: 660 };
    const both = await seedCampaign(database, { ...eastAndWest, campaign: { ...two, max_concurrency: 1 } });
    await expectOpen(database, both.campaignId, [
      ['2026-03-10T14:30:00Z', 'closed'],
      ['2026-03-10T15:00:01Z', 'open'],
    ]);
    const one = { schedule_start: 540, schedule_end: 600 };
    const never = await seedCampaign(database, {
      ...eastAndWest,
      timezone: (i) => (i === 0 ? 'UTC' : null),
      campaign: one,
    });
    const { stop } = await startTestDialer(database, { time: testClock('2026-03-10T09:30:00Z') });
    await until(async () => (await campaignRow(database, never.campaignId)).status === 'completed');
    expect(await campaignRow(database, never.campaignId)).toMatchObject({ done: 1, skipped: 2 });
    const contacts = await database.inEngine(({ db }) =>
      db.selectFrom('campaign_contacts').select('reason').where('campaign_id', '=', never.campaignId).execute(),
    );
    expect(contacts.map(({ reason }) => reason).sort()).toEqual(['no_common_hour', 'no_common_hour', null]);
    await stop();
  }));

test.concurrent('where all hours are quiet nobody is left out: they wait', () =>
  withDatabase(async (database) => {
    const seed = {
      contacts: 1,
      number: () => 16_055_550_100,
      workspace: { quiet_hours_start: 0, quiet_hours_end: 1440 },
    };
    const { campaignId } = await seedCampaign(database, seed);
    await expectOpen(database, campaignId, [['2026-03-10T15:00:01Z', 'closed']]);
    expect(await campaignRow(database, campaignId)).toMatchObject({ status: 'running', pending: 1 });
  }));

test.concurrent('contacts of one campaign are called each in the hours of their own time zone', () =>
  withDatabase(async (database) => {
    const zones = ['America/New_York', 'Europe/Berlin', 'Asia/Kolkata', null];
    const { campaignId } = await seedCampaign(database, {
      contacts: 40,
      timezone: (i) => zones[i % 4]!,
      campaign: { ...nineToFive, timezone: 'Asia/Tokyo', callee_time_zone: 'campaign' },
    });
    const time = testClock('2026-03-09T23:50:00Z');
    const { stop } = await startTestDialer(database, { time });
    const opening: [string, number][] = [
      ['00', 10],
      ['03', 10],
      ['04', 20],
      ['08', 30],
      ['13', 40],
    ];
    for (const [hour, dialed] of opening) {
      time.set(`2026-03-10T${hour}:00:01Z`);
      await until(async () => (await campaignRow(database, campaignId)).done === dialed);
      await dialersTurn(database);
      const placed = (await callsOf(database, campaignId)).filter((call) => call.placed_at !== null);
      expect(placed).toHaveLength(dialed);
    }
    await stop();
  }));
