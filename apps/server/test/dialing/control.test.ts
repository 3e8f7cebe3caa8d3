import { sql } from 'kysely';
import { expect, test } from 'vitest';
import type { Database } from '../../src/foundation/database/database.ts';
import { addOptOuts, raiseDoNotCall } from '../../src/platform/do-not-call/store.ts';
import { withDatabase } from '../foundation/database/own-database.ts';
import { type SeedOptions, seedCampaign } from '../seed/campaign.ts';
import { setKillSwitch } from '../seed/workspace.ts';
import { until } from '../until.ts';
import { callsOf, countersOf, dialedWrongly } from './audit.ts';
import { campaignRow, contactsOf, dialersTurn, shortCalls, startTestDialer, untilCompleted } from './dialing.ts';

const answering = { weights: { answered: 1 }, ringing: [100, 200], talking: [10_000, 20_000] } as const;
/** One to two seconds of talk each. */
const upForASecond = { speed: 10, profile: answering };
const seeded = (contacts: number, campaign: Record<string, unknown> = {}): SeedOptions => ({
  contacts,
  campaign: { max_concurrency: 10, calls_per_second: 20, ...campaign },
});

/** What pause, resume and stop do: they change the campaign's row and nothing else. */
const setStatus = (database: Database, campaignId: string, status: string) =>
  database.inEngine(({ db }) =>
    sql`update campaigns set status = ${status}, next_claim_at = 'epoch' where id = ${campaignId}`.execute(db),
  );
const queuedCalls = async (database: Database, campaignId: string) =>
  (await callsOf(database, campaignId)).filter((call) => call.status === 'queued').length;
const isUp = (database: Database, campaignId: string) => async () =>
  (await callsOf(database, campaignId)).some((call) => call.status === 'in_progress');
const isQuiet = (database: Database, campaignId: string) => async () =>
  (await campaignRow(database, campaignId)).in_flight === 0 && (await queuedCalls(database, campaignId)) === 0;

async function expectRight(database: Database, campaignId: string): Promise<void> {
  expect(await dialedWrongly(database)).toEqual([]);
  const { kept, counted } = await countersOf(database, campaignId);
  expect(kept).toEqual(counted);
}

test.concurrent('targetCallCount is reached and never passed, however many could answer', () =>
  withDatabase(async (database) => {
    const { campaignId } = await seedCampaign(database, {
      contacts: 300,
      campaign: { max_concurrency: 50, target_call_count: 23, ring_timeout_seconds: 6 },
    });
    const dialers = await Promise.all([1, 2].map(() => startTestDialer(database, { speed: 10, profile: shortCalls })));
    await untilCompleted(database, campaignId);
    await dialersTurn(database);
    await Promise.all(dialers.map(({ stop }) => stop()));
    expect(await campaignRow(database, campaignId)).toMatchObject({ answered: 23, in_flight: 0 });
    await expectRight(database, campaignId);
  }));

test.concurrent('a budget is spent to the last call and never passed, and its campaign goes on once it is raised', () =>
  withDatabase(async (database) => {
    const { campaignId } = await seedCampaign(database, {
      contacts: 300,
      campaign: { max_concurrency: 50, budget_calls: 23, ring_timeout_seconds: 6 },
    });
    const dialers = await Promise.all([1, 2].map(() => startTestDialer(database, { speed: 10, profile: shortCalls })));
    const spent = async () => {
      await until(async () => (await campaignRow(database, campaignId)).status === 'paused');
      await until(isQuiet(database, campaignId));
      await dialersTurn(database);
      const { attempts, pause_reason: reason } = await campaignRow(database, campaignId);
      const placed = (await callsOf(database, campaignId)).filter((call) => call.placed_at !== null).length;
      return { attempts, reason, placed };
    };
    expect(await spent()).toEqual({ attempts: 23, placed: 23, reason: 'budget_reached' });
    await database.inEngine(({ db }) =>
      sql`update campaigns set budget_calls = 40, status = 'running', next_claim_at = 'epoch' where id = ${campaignId}`.execute(
        db,
      ),
    );
    expect(await spent()).toEqual({ attempts: 40, placed: 40, reason: 'budget_reached' });
    await Promise.all(dialers.map(({ stop }) => stop()));
    await expectRight(database, campaignId);
  }));

test.concurrent('a paused campaign places nothing more, its calls finish, and it goes on when resumed', () =>
  withDatabase(async (database) => {
    const { campaignId } = await seedCampaign(database, seeded(40));
    const { stop } = await startTestDialer(database, upForASecond);
    await until(isUp(database, campaignId));
    await setStatus(database, campaignId, 'paused');
    const pausedAt = Date.now();
    await until(isQuiet(database, campaignId));
    const row = await campaignRow(database, campaignId);
    expect(row.status).toBe('paused');
    // One that went back when the provider was about to hear of it waits.
    expect(row.pending + row.waiting + row.done).toBe(40);
    expect(row.answered).toBe(row.done);
    expect(row.answered).toBeGreaterThan(0);
    for (const call of await callsOf(database, campaignId))
      expect(call.dialed_at!.getTime()).toBeLessThan(pausedAt + 100);
    await expectRight(database, campaignId);
    await setStatus(database, campaignId, 'running');
    await untilCompleted(database, campaignId);
    await stop();
    expect(await campaignRow(database, campaignId)).toMatchObject({ answered: 40, done: 40 });
    await expectRight(database, campaignId);
  }));

test.concurrent('what is claimed is not placed once its callees have opted out, and they are skipped', () =>
  withDatabase(async (database) => {
    const contacts = 8;
    const { workspaceId, campaignId } = await seedCampaign(database, seeded(contacts, { calls_per_second: 2 }));
    const { stop } = await startTestDialer(database, upForASecond);
    // Of these one is to start, and not right now.
    const waiting = async () =>
      (await callsOf(database, campaignId)).filter((call) => call.start_at.getTime() > Date.now() + 50);
    await until(async () => (await waiting()).length > 0);
    await database.inWorkspace(workspaceId, async (tx) => {
      await raiseDoNotCall(tx);
      const numbers = Array.from({ length: contacts }, (_, at) => 14_152_000_000 + at);
      await addOptOuts(tx, numbers, undefined, new Date());
    });
    const claimed = await waiting();
    await untilCompleted(database, campaignId);
    await stop();
    // A machine that stalls before the provider has heard of a call takes it back, and its callee is skipped too.
    const placed = (await callsOf(database, campaignId)).filter((call) => call.placed_at !== null);
    expect(placed.filter((call) => claimed.some(({ id }) => id === call.id))).toEqual([]);
    const { skipped, done } = await campaignRow(database, campaignId);
    expect([skipped, done]).toEqual([contacts - placed.length, placed.length]);
    const reasons = (await contactsOf(database, campaignId)).map(({ state, reason }) => [state, reason]);
    expect(reasons.filter(([state]) => state === 'skipped')).toEqual(Array(skipped).fill(['skipped', 'do_not_call']));
    await expectRight(database, campaignId);
  }));

test.concurrent('a stopped campaign lets its calls finish, and nothing follows', () =>
  withDatabase(async (database) => {
    const { campaignId } = await seedCampaign(database, seeded(40));
    const { stop } = await startTestDialer(database, upForASecond);
    await until(isUp(database, campaignId));
    await setStatus(database, campaignId, 'stopped');
    await until(isQuiet(database, campaignId));
    const { attempts, answered } = await campaignRow(database, campaignId);
    const placed = (await callsOf(database, campaignId)).filter((call) => call.placed_at !== null);
    expect(answered).toBe(placed.length);
    await dialersTurn(database);
    await stop();
    expect(await campaignRow(database, campaignId)).toMatchObject({ status: 'stopped', attempts });
    await expectRight(database, campaignId);
  }));

test.concurrent('a workspace that pauses dialing places nothing a second later, and another one goes on', () =>
  withDatabase(async (database) => {
    const { workspaceId, campaignId } = await seedCampaign(database, seeded(100));
    const other = await seedCampaign(database, seeded(20));
    const { stop } = await startTestDialer(database, upForASecond);
    await until(async () => (await campaignRow(database, campaignId)).in_flight > 3);
    await setKillSwitch(database, workspaceId, new Date());
    const pausedAt = Date.now();
    await until(isQuiet(database, campaignId));
    await untilCompleted(database, other.campaignId);
    const { attempts } = await campaignRow(database, campaignId);
    expect(attempts).toBeLessThan(60);
    for (const call of await callsOf(database, campaignId)) {
      expect(call.dialed_at!.getTime()).toBeLessThan(pausedAt + 1000);
    }
    await setKillSwitch(database, workspaceId, null);
    await until(async () => (await campaignRow(database, campaignId)).attempts > attempts);
    await stop();
  }));

test.concurrent('a server that stops gives back what it has not placed, stops twice as well as once, and another goes on', () =>
  withDatabase(async (database) => {
    const { campaignId } = await seedCampaign(database, seeded(60));
    const first = await startTestDialer(database, upForASecond);
    await until(async () => (await queuedCalls(database, campaignId)) > 0);
    await Promise.all([first.stopDialing(), first.stopDialing()]);
    await first.stopDialing();
    expect(await queuedCalls(database, campaignId)).toBe(0);
    const row = await campaignRow(database, campaignId);
    expect(row.pending + row.waiting + row.in_flight + row.done).toBe(60);
    await expectRight(database, campaignId);
    await first.stop();
    const second = await startTestDialer(database, upForASecond);
    await untilCompleted(database, campaignId);
    await second.stop();
    expect(await campaignRow(database, campaignId)).toMatchObject({ answered: 60, done: 60 });
    await expectRight(database, campaignId);
  }));

test.concurrent.each(['running', 'paused', 'scheduled'])(
  'a %s campaign completes at its endDate, nobody is called from then on, and calls that are up finish',
  (status) =>
    withDatabase(async (database) => {
      const ahead = status === 'scheduled' && { scheduled_at: new Date(Date.now() + 60_000) };
      const { campaignId } = await seedCampaign(database, seeded(400, { status, ...ahead }));
      const profile = { ...answering, talking: [50_000, 60_000] } as const;
      const { stop } = await startTestDialer(database, { speed: 10, profile });
      if (status === 'running') await until(isUp(database, campaignId));
      const end_date = new Date(Date.now() + 1500);
      await database.inEngine(({ db }) =>
        sql`update campaigns set end_date = ${end_date} where id = ${campaignId}`.execute(db),
      );
      await untilCompleted(database, campaignId);
      expect(Date.now()).toBeGreaterThanOrEqual(end_date.getTime());
      await until(isQuiet(database, campaignId));
      await stop();
      const dialed = (await callsOf(database, campaignId)).filter((call) => call.dialed_at);
      expect(dialed.length > 0).toBe(status === 'running');
      for (const call of dialed) expect(call.dialed_at!.getTime()).toBeLessThan(end_date.getTime());
      if (status === 'running') expect(dialed.some((call) => call.ended_at! > end_date)).toBe(true);
      await expectRight(database, campaignId);
    }),
);
