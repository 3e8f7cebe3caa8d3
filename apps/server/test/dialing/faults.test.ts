import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { CallGateway, CallRequest } from '../../src/lines/telephony/call-gateway.ts';
import type { Profile } from '../../src/lines/telephony/simulator/plan.ts';
import { planCall } from '../../src/lines/telephony/simulator/plan.ts';
import { withDatabase } from '../foundation/database/own-database.ts';
import { type SeedOptions, seedCampaign } from '../seed/campaign.ts';
import { testClock } from '../test-clock.ts';
import { until } from '../until.ts';
import { callsOf, countersOf, dialedWrongly } from './audit.ts';
import { campaignRow, contactsOf, SEED, shortCalls, startTestDialer, untilCompleted } from './dialing.ts';

const MINUTE = 60_000;
/** Longer than a call that the provider doesn't know may still be on its way. */
const ON_ITS_WAY_MS = 10_000;
const answering: Profile = { weights: { answered: 1 }, ringing: [1, 2], talking: [1, 2] };

const seeded = (contacts: number): SeedOptions => ({
  contacts,
  campaign: { retry_policy: [1], ring_timeout_seconds: 30, max_call_seconds: 60 },
});
const setUp = () => ({ time: testClock('2026-03-10T12:00:00Z'), leaseSeconds: 1, profile: answering });
/** Counts how often the provider is asked how calls stand. */
function countLookups() {
  let lookups = 0;
  const counting = (gateway: CallGateway): CallGateway => ({
    ...gateway,
    lookup: (call) => {
      lookups += 1;
      return gateway.lookup(call);
    },
  });
  return { lookups: () => lookups, counting };
}
const everyThird = ({ to }: CallRequest) => Number(to.slice(1)) % 3 === 0;

test.concurrent('where the answer to a placement is lost, the look-up tells how the call ended, and it is not placed again', () =>
  withDatabase(async (database) => {
    const { campaignId } = await seedCampaign(database, seeded(60));
    const lost = new Set<string>();
    const { stop } = await startTestDialer(database, {
      ...setUp(),
      faults: {
        loseAnswer: (call) => everyThird(call) && lost.add(call.roomId) !== undefined,
        loseEvent: ({ roomId }) => lost.has(roomId),
      },
    });
    await untilCompleted(database, campaignId);
    await stop();
    expect(lost.size).toBe(20);
    expect(await dialedWrongly(database)).toEqual([]);
    const { kept, counted } = await countersOf(database, campaignId);
    expect(kept).toEqual(counted);
    expect(kept).toMatchObject({ attempts: 60, answered: 60, done: 60 });
  }));

test.concurrent('where the request is lost, nothing happens until the provider surely has not got it; then the contact is called', () =>
  withDatabase(async (database) => {
    const { campaignId } = await seedCampaign(database, seeded(60));
    const options = setUp();
    const { lookups, counting } = countLookups();
    const { stop } = await startTestDialer(database, {
      ...options,
      gateway: counting,
      faults: { loseRequest: (call) => call.attempt === 1 && everyThird(call) },
    });
    await until(async () =>
      expect(await campaignRow(database, campaignId)).toMatchObject({ answered: 40, attempts: 60, in_flight: 20 }),
    );
    await until(() => lookups() >= 60);

    options.time.advance(ON_ITS_WAY_MS);
    await untilCompleted(database, campaignId);
    await stop();
    expect(await dialedWrongly(database)).toEqual([]);
    const { kept, counted } = await countersOf(database, campaignId);
    expect(kept).toEqual(counted);
    expect(kept).toMatchObject({ attempts: 60, answered: 60, done: 60, cancelled: 0 });
    const again = (await contactsOf(database, campaignId)).filter((contact) => contact.attempt === 2);
    expect(again).toHaveLength(20);
    for (const contact of again) expect(contact.tries).toBe(1);
  }));

test.concurrent('a call of which the provider can say nothing is closed as unknown after a while, and never placed again', () =>
  withDatabase(async (database) => {
    const { campaignId } = await seedCampaign(database, seeded(30));
    const options = setUp();
    const { lookups, counting } = countLookups();
    const { stop } = await startTestDialer(database, {
      ...options,
      faults: { loseAnswer: () => true, loseEvent: () => true },
      gateway: (simulator) =>
        counting({ ...simulator, lookup: async () => ({ state: 'undetermined', detail: 'out of reach' }) }),
    });
    await until(async () => {
      const calls = await callsOf(database, campaignId);
      // What a machine that stalls was too late to place has gone back, and is placed later.
      expect(calls.filter(({ ended_at }) => !ended_at).map(({ status }) => status)).toEqual(Array(30).fill('dialing'));
    });
    await until(() => lookups() >= 30);
    options.time.advance(9 * MINUTE);
    const before = lookups();
    await until(() => lookups() >= before + 60);
    expect(await campaignRow(database, campaignId)).toMatchObject({ in_flight: 30, unknown: 0 });
    options.time.advance(2 * MINUTE);
    await untilCompleted(database, campaignId);
    options.time.advance(10 * MINUTE);
    await sleep(300);
    await stop();
    expect(await dialedWrongly(database)).toEqual([]);
    expect(await campaignRow(database, campaignId)).toMatchObject({ attempts: 30, unknown: 30, done: 30 });
    for (const contact of await contactsOf(database, campaignId)) {
      expect(contact).toMatchObject({ state: 'done', reason: 'outcome_unknown', last_outcome: 'unknown' });
    }
  }));

test.concurrent('a call whose end was lost is found when it is overdue, and ends when the provider says', () =>
  withDatabase(async (database) => {
    const { campaignId } = await seedCampaign(database, seeded(30));
    const options = setUp();
    const { stop } = await startTestDialer(database, {
      ...options,
      faults: { loseEvent: ({ type }) => type === 'ended' },
    });
    await until(
      async () => (await callsOf(database, campaignId)).filter((call) => call.status === 'in_progress').length === 30,
    );
    options.time.advance(100_000);
    await sleep(2500);
    expect((await campaignRow(database, campaignId)).in_flight).toBe(30);
    options.time.advance(30_000);
    await untilCompleted(database, campaignId);
    await stop();
    expect(await dialedWrongly(database)).toEqual([]);
    expect(await campaignRow(database, campaignId)).toMatchObject({
      attempts: 30,
      answered: 30,
      done: 30,
      in_flight: 0,
    });
    // Not when it was found, more than 100 s later.
    for (const { ended_at, placed_at } of await callsOf(database, campaignId)) {
      if (placed_at) expect(ended_at!.getTime() - placed_at.getTime()).toBeLessThan(100_000);
    }
  }));

test.concurrent('a call that has rung and that the provider has forgotten ends as unknown', () =>
  withDatabase(async (database) => {
    const { campaignId } = await seedCampaign(database, seeded(5));
    const options = setUp();
    const { stop } = await startTestDialer(database, {
      ...options,
      faults: { loseEvent: ({ type }) => type === 'ended' },
      gateway: (simulator): CallGateway => ({ ...simulator, lookup: async () => ({ state: 'absent' }) }),
    });
    await until(
      async () => (await callsOf(database, campaignId)).filter((call) => call.status === 'in_progress').length === 5,
    );
    options.time.advance(3 * MINUTE);
    await untilCompleted(database, campaignId);
    await stop();
    expect(await campaignRow(database, campaignId)).toMatchObject({ attempts: 5, unknown: 5, done: 5, in_flight: 0 });
  }));

test.concurrent('events that come twice, late and out of order change nothing', () =>
  withDatabase(async (database) => {
    const { campaignId } = await seedCampaign(database, {
      ...seeded(150),
      campaign: { retry_policy: [], ring_timeout_seconds: 6, max_call_seconds: 60 },
    });
    let chance = 1;
    const { stop } = await startTestDialer(database, {
      speed: 50,
      profile: shortCalls,
      faults: {
        duplicateEvent: () => true,
        delayEvent: () => {
          chance = (chance * 16807) % 2147483647;
          return chance % 3 === 0 ? 0 : chance % 400;
        },
      },
    });
    await untilCompleted(database, campaignId);
    await sleep(600);
    await stop();
    expect(await dialedWrongly(database)).toEqual([]);
    const { kept, counted } = await countersOf(database, campaignId);
    expect(kept).toEqual(counted);
    expect(kept).toMatchObject({ attempts: 150, done: 150, in_flight: 0 });
    for (const call of await callsOf(database, campaignId)) {
      const planned = { to: `+${call.to_number}`, attempt: 1, ringTimeoutSeconds: 6, maxCallSeconds: 60 };
      const plan = planCall(SEED, planned, shortCalls);
      expect(call.outcome).toBe(plan.outcome);
      expect(call.ended_at!.getTime() - call.placed_at!.getTime()).toBe(Math.trunc(plan.endedAfter / 50));
    }
  }));

test.concurrent('a campaign that can not be served holds up no other', () =>
  withDatabase(async (database) => {
    const broken = await seedCampaign(database, { contacts: 1, timezone: () => 'Nowhere/Land' });
    const elsewhere = await seedCampaign(database, { contacts: 1, phoneNumber: { provider: 'twilio' } });
    const sound = await seedCampaign(database, { contacts: 3 });
    const { stop } = await startTestDialer(database, setUp());
    await untilCompleted(database, sound.campaignId);
    await stop();
    const [first, second] = [
      await campaignRow(database, broken.campaignId),
      await campaignRow(database, elsewhere.campaignId),
    ];
    expect(first).toMatchObject({ status: 'completed', attempts: 0, skipped: 1 });
    expect(second).toMatchObject({ status: 'running', attempts: 0, pending: 1 });
  }));
