import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { Database } from '../../src/foundation/database/database.ts';
import { withDatabase } from '../foundation/database/own-database.ts';
import { type SeedOptions, seedCampaign } from '../seed/campaign.ts';
import { testClock } from '../test-clock.ts';
import { until } from '../until.ts';
import { callsOf, countersOf, dialedWrongly, mostInASecond, peak, providerPeak, recordedPeak } from './audit.ts';
import {
  campaignRow,
  contactsOf,
  dialersTurn,
  shortCalls,
  startTestDialer,
  type TestDialerOptions,
  untilCompleted,
} from './dialing.ts';

/** They run beside each other, and a loaded machine takes its time for them all. */
const PATIENCE_SECONDS = 280;

const SPEED = 10;
const talking = (contacts: number, campaign: Record<string, unknown>): SeedOptions => ({
  contacts,
  campaign: { ring_timeout_seconds: 6, max_call_seconds: 60, ...campaign },
});

async function withDialers(
  database: Database,
  { dialers, ...options }: TestDialerOptions & { dialers: number },
  run: () => Promise<void>,
): Promise<void> {
  const started = await Promise.all(Array.from({ length: dialers }, () => startTestDialer(database, options)));
  await run();
  await Promise.all(started.map(({ stop }) => stop()));
  expect(await dialedWrongly(database)).toEqual([]);
}

test.concurrent.each([1, 2])('no second holds more placements than callsPerSecond, with %i dialers', (dialers) =>
  withDatabase(async (database) => {
    const { campaignId } = await seedCampaign(database, { contacts: 100, campaign: { calls_per_second: 20 } });
    await withDialers(database, { dialers }, () => untilCompleted(database, campaignId, PATIENCE_SECONDS));
    const calls = await callsOf(database, campaignId);
    expect(mostInASecond(calls)).toBeLessThanOrEqual(20);
    expect(calls.filter((call) => call.placed_at !== null)).toHaveLength(100);
  }),
);

test.concurrent.each([
  [70, '', {}],
  [400, '', {}],
  [70, ', over a trunk', { phoneNumber: { trunk: {} } }],
])('a paced campaign goes on where every transaction takes %i ms more%s', (more, _, caller) =>
  withDatabase(async (database) => {
    const slower =
      (transaction: Database['inEngine']): Database['inEngine'] =>
      (fn) =>
        transaction(async (tx) => {
          const result = await fn(tx);
          await sleep(more);
          return result;
        });
    const slow = { ...database, inEngine: slower(database.inEngine), inHotLoop: slower(database.inHotLoop) };
    const { campaignId } = await seedCampaign(database, {
      contacts: 3,
      campaign: { calls_per_second: 1 },
      ...caller,
    });
    const { stop } = await startTestDialer(slow);
    await untilCompleted(database, campaignId, PATIENCE_SECONDS);
    await stop();
    expect(mostInASecond(await callsOf(database, campaignId))).toBeLessThanOrEqual(1);
  }),
);

test.concurrent('maxConcurrency is reached and never passed, with two dialers', () =>
  withDatabase(async (database) => {
    const { campaignId } = await seedCampaign(database, talking(120, { max_concurrency: 7 }));
    await withDialers(database, { dialers: 2, speed: SPEED, profile: shortCalls }, () =>
      untilCompleted(database, campaignId, PATIENCE_SECONDS),
    );
    const calls = await callsOf(database, campaignId);
    expect(recordedPeak(calls)).toBe(7);
    expect(providerPeak(calls, shortCalls, SPEED)).toBeLessThanOrEqual(7);
    const { kept, counted } = await countersOf(database, campaignId);
    expect(kept).toEqual(counted);
  }));

test.concurrent("the workspace's maxConcurrentCalls holds for its campaigns together, with two dialers", () =>
  withDatabase(async (database) => {
    const first = await seedCampaign(database, {
      ...talking(60, { max_concurrency: 10 }),
      workspace: { max_concurrent_calls: 5 },
    });
    const second = await seedCampaign(database, {
      ...talking(60, { max_concurrency: 10 }),
      workspaceId: first.workspaceId,
      number: (i) => 13_102_000_000 + i,
    });
    await withDialers(database, { dialers: 2, speed: SPEED, profile: shortCalls }, async () => {
      await untilCompleted(database, first.campaignId, PATIENCE_SECONDS);
      await untilCompleted(database, second.campaignId, PATIENCE_SECONDS);
    });
    const calls = [...(await callsOf(database, first.campaignId)), ...(await callsOf(database, second.campaignId))];
    expect(recordedPeak(calls)).toBe(5);
    expect(providerPeak(calls, shortCalls, SPEED)).toBeLessThanOrEqual(5);
  }));

test.concurrent("the workspace's maxCallsPerDay ends the day's calls, and the next UTC day goes on", () =>
  withDatabase(async (database) => {
    const time = testClock('2026-03-10T23:00:00Z');
    const { campaignId } = await seedCampaign(database, { contacts: 50, workspace: { max_calls_per_day: 30 } });
    await withDialers(database, { dialers: 2, time }, async () => {
      await until(async () => (await campaignRow(database, campaignId)).done === 30);
      time.advance(30 * 60_000);
      await dialersTurn(database);
      expect(await campaignRow(database, campaignId)).toMatchObject({ status: 'running', attempts: 30, pending: 20 });
      time.set('2026-03-11T00:00:00Z');
      await untilCompleted(database, campaignId, PATIENCE_SECONDS);
    });
  }));

test.concurrent('no workspace places more calls a UTC day than the operator lets it, in however many campaigns', () =>
  withDatabase(async (database) => {
    const time = testClock('2026-03-10T23:00:00Z');
    const number = (i: number) => 14_155_550_100 + i * 10_000_000;
    const first = await seedCampaign(database, { contacts: 40, number });
    const { workspaceId } = first;
    const second = await seedCampaign(database, { contacts: 40, number: (i) => number(i) + 1, workspaceId });
    const other = await seedCampaign(database, { contacts: 40 });
    const ids = [first, second].map(({ campaignId }) => campaignId);
    const config = { operatorMaxCallsPerDay: 30 };
    await withDialers(database, { dialers: 2, time, config }, async () => {
      const attempts = async (id: string) => (await campaignRow(database, id)).attempts;
      const both = async () => (await Promise.all(ids.map(attempts))).reduce((sum, each) => sum + each, 0);
      await until(async () => (await both()) >= 30 && (await attempts(other.campaignId)) >= 30);
      await dialersTurn(database);
      // What a machine that stalls was too late to place has gone back.
      for (const made of [await both(), await attempts(other.campaignId)]) expect(made).toBeLessThanOrEqual(30);
      time.set('2026-03-11T00:00:00Z');
      await until(async () => (await both()) >= 60);
      await dialersTurn(database);
      expect(await both()).toBeLessThanOrEqual(60);
    });
  }));

/** Summer time has begun there two days before. */
const NEW_YORK_MIDNIGHT = new Date('2026-03-11T04:00:00Z');

test.concurrent('nobody is called oftener a day, by their own clock, than the workspace allows, in whichever campaign', () =>
  withDatabase(async (database) => {
    const time = testClock('2026-03-10T12:00:00Z');
    const busy = (i: number) => 12_005_550_186 + i * 10_000_000;
    const timezone = () => 'America/New_York';
    const seed: SeedOptions = { contacts: 5, number: busy, timezone, campaign: { retry_policy: [1, 1] } };
    const first = await seedCampaign(database, { ...seed, workspace: { max_attempts_per_person_per_day: 2 } });
    await withDialers(database, { dialers: 2, time }, async () => {
      const waitFor = (attempts: number) =>
        until(async () => (await campaignRow(database, first.campaignId)).busy === attempts);
      await waitFor(5);
      time.advance(61_000);
      await waitFor(10);
      time.advance(61_000);
      const second = await seedCampaign(database, { ...seed, workspaceId: first.workspaceId });
      for (const { campaignId } of [first, second]) {
        await until(
          async () =>
            (await contactsOf(database, campaignId)).filter((contact) => contact.reason === 'limit_reached').length ===
            5,
        );
        for (const contact of await contactsOf(database, campaignId)) {
          expect(contact).toMatchObject({ state: 'waiting', next_attempt_at: NEW_YORK_MIDNIGHT });
        }
        const { kept, counted } = await countersOf(database, campaignId);
        expect(kept).toEqual(counted);
      }
      time.set('2026-03-11T00:00:00Z');
      await dialersTurn(database);
      expect((await campaignRow(database, first.campaignId)).busy).toBe(10);
      time.set(NEW_YORK_MIDNIGHT);
      await until(async () => {
        const rows = [await campaignRow(database, first.campaignId), await campaignRow(database, second.campaignId)];
        if (rows.some((row) => row.in_flight > 0)) return false;
        time.advance(31_000);
        return rows.reduce((sum, row) => sum + row.busy, 0) === 20;
      });
      time.advance(31_000);
      await dialersTurn(database);
      const calls = [...(await callsOf(database, first.campaignId)), ...(await callsOf(database, second.campaignId))];
      // A jump while a call is on its way sends it back, and it stays as cancelled.
      expect(calls.filter((call) => call.placed_at !== null)).toHaveLength(20);
    });
  }));

test.concurrent('nobody is called oftener in some hours than the workspace allows, and again once the oldest attempt is so old', () =>
  withDatabase(async (database) => {
    const time = testClock('2026-03-10T12:00:00Z');
    const busy = (i: number) => 12_005_550_186 + i * 10_000_000;
    const limits = [
      { attempts: 2, hours: 168 },
      { attempts: 1, hours: 2 },
    ];
    const workspace = { max_attempts_per_person: limits };
    const campaign = { retry_policy: [1, 1, 1] };
    const { campaignId } = await seedCampaign(database, { contacts: 3, number: busy, campaign, workspace });
    const untilFree = async (busyCalls: number) => {
      await until(async () => (await campaignRow(database, campaignId)).busy === busyCalls);
      time.advance(61_000);
      await until(async () =>
        (await contactsOf(database, campaignId)).every(({ reason }) => reason === 'limit_reached'),
      );
      return (await contactsOf(database, campaignId)).map((contact) => contact.next_attempt_at.getTime());
    };
    const dialedAt = async () => (await callsOf(database, campaignId)).map((call) => call.dialed_at!.getTime());
    await withDialers(database, { dialers: 1, time }, async () => {
      const first = await untilFree(3);
      expect(first.toSorted()).toEqual((await dialedAt()).map((at) => at + 2 * 3_600_000).toSorted());
      time.set(new Date(Math.max(...first)));
      const second = await untilFree(6);
      expect(second.toSorted()).toEqual(
        (await dialedAt())
          .slice(0, 3)
          .map((at) => at + 168 * 3_600_000)
          .toSorted(),
      );
    });
  }));

test.concurrent('a person is on one call at a time, whichever campaigns call', () =>
  withDatabase(async (database) => {
    const time = testClock('2026-03-10T12:00:00Z');
    const first = await seedCampaign(database, talking(60, {}));
    const second = await seedCampaign(database, { ...talking(60, {}), workspaceId: first.workspaceId });
    await withDialers(database, { dialers: 2, speed: 2, profile: shortCalls, time }, async () => {
      await until(
        async () =>
          (await contactsOf(database, second.campaignId)).some((contact) => contact.reason === 'already_on_a_call') ||
          (await contactsOf(database, first.campaignId)).some((contact) => contact.reason === 'already_on_a_call'),
      );
      await until(async () => {
        time.advance(31_000);
        await sleep(300);
        const rows = [await campaignRow(database, first.campaignId), await campaignRow(database, second.campaignId)];
        return rows.every((row) => row.status === 'completed');
      }, PATIENCE_SECONDS);
    });
    const calls = [...(await callsOf(database, first.campaignId)), ...(await callsOf(database, second.campaignId))];
    expect(calls.filter((call) => call.placed_at !== null)).toHaveLength(120);
    for (const number of new Set(calls.map((call) => call.to_number))) {
      const intervals = calls
        .filter((call) => call.to_number === number)
        .map((call) => ({ from: call.dialed_at!.getTime(), to: call.ended_at!.getTime() }));
      expect(peak(intervals)).toBe(1);
    }
  }));

test.concurrent('a small campaign is served beside a big one of another workspace, though calls are few', () =>
  withDatabase(async (database) => {
    const big = await seedCampaign(database, talking(600, {}));
    const small = await seedCampaign(database, talking(20, {}));
    const { stop } = await startTestDialer(database, { speed: SPEED, profile: shortCalls, maxCalls: 6 });
    await untilCompleted(database, small.campaignId);
    const row = await campaignRow(database, big.campaignId);
    await stop();
    expect(row.status).toBe('running');
    expect(row.attempts).toBeLessThan(150);
  }));
