import { pino } from 'pino';
import { expect, test } from 'vitest';
import { returnQueuedCalls } from '../../src/dialing/calls/return-calls.ts';
import { addContacts } from '../../src/dialing/campaigns/add-contacts.ts';
import { claimContacts } from '../../src/dialing/campaigns/claim/claim-contacts.ts';
import { campaignCallOwner } from '../../src/dialing/campaigns/own-calls.ts';
import type { Database } from '../../src/foundation/database/database.ts';
import { openLease } from '../../src/foundation/database/lease.ts';
import { pickPoolNumber } from '../../src/lines/number-pools/choose-numbers.ts';
import type { CallGateway, CallRequest } from '../../src/lines/telephony/call-gateway.ts';
import type { Profile } from '../../src/lines/telephony/simulator/plan.ts';
import type { Simulator } from '../../src/lines/telephony/simulator/simulator.ts';
import { noOperatorLimits } from '../../src/platform/workspace/operator-limits.ts';
import { withDatabase } from '../foundation/database/own-database.ts';
import { callsFrom, usageOf } from '../lines/number-pools/pool-usage.ts';
import { type SeededCampaign, type SeedOptions, seedCampaign } from '../seed/campaign.ts';
import { poolNumber, type SeededMember, seedPool, seedPoolCampaign, usePool } from '../seed/pool.ts';
import { seedRow } from '../seed/rows.ts';
import { testClock } from '../test-clock.ts';
import { until } from '../until.ts';
import { countersOf, dialedWrongly, peak } from './audit.ts';
import { campaignRow, contactsOf, shortCalls, startTestDialer, untilCompleted } from './dialing.ts';

const NOON = '2026-03-10T12:00:00Z';
const MINUTE = 60_000;
const answering: Profile = { weights: { answered: 1 }, ringing: [1, 2], talking: [1, 2] };
const times = <T>(count: number, value: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => value(at));
const members = (count: number, given: SeededMember = {}) => times(count, () => given);
const countBy = (keys: string[]) => {
  const counts: Record<string, number> = {};
  for (const key of keys) counts[key] = (counts[key] ?? 0) + 1;
  return counts;
};

/** A provider whose trunk fails calls from some numbers. */
const failingFrom =
  (isDead: (call: CallRequest) => boolean) =>
  (simulator: Simulator): CallGateway => ({
    ...simulator,
    placeCall: async (call) =>
      isDead(call)
        ? { status: 'rejected', outcome: 'trunk_error', detail: 'out of order', sipStatus: 503 }
        : simulator.placeCall(call),
  });

/** Claims from a campaign at any time, without a dialer. */
async function claimer(database: Database, key: SeededCampaign) {
  const lease = await openLease({ database, seconds: 60, log: pino({ level: 'silent' }) });
  await addContacts(database, key, new Date('2026-03-10T00:00:00Z'));
  const serverId = lease.serverId();
  const claim = (now: Date, free = 50) =>
    claimContacts(
      database,
      key,
      { serverId, free, now, isSimulated: configured, operator: noOperatorLimits },
      async () => {},
    );
  return { serverId, claim };
}
const configured = (provider: string) => (provider === 'twilio' ? undefined : true);

test.concurrent('a pool of five with a dead trunk finishes its campaign, and the dead number is explained', () =>
  withDatabase(async (database) => {
    const time = testClock(NOON);
    const seeded = await seedPoolCampaign(database, { contacts: 60, campaign: { max_concurrency: 5 } }, members(5));
    const dead = poolNumber(2);
    const { stop } = await startTestDialer(database, {
      time,
      profile: answering,
      gateway: failingFrom(({ from }) => from === dead),
    });
    await until(async () => (await campaignRow(database, seeded.campaignId)).done >= 50);
    const [, , usage] = await usageOf(database, seeded.memberIds);
    expect(usage).toMatchObject({ answered: 0, faults: 3, failed: usage!.attempts });
    expect(usage!.cooling_until!.getTime()).toBeGreaterThan(Date.parse(NOON));
    await until(async () => {
      const { status, in_flight } = await campaignRow(database, seeded.campaignId);
      if (in_flight === 0) time.advance(10_000);
      return status === 'completed';
    });
    await stop();

    const contacts = await contactsOf(database, seeded.campaignId);
    expect(new Set(contacts.map(({ state, last_outcome }) => `${state} ${last_outcome}`))).toEqual(
      new Set(['done answered']),
    );
    const calls = await callsFrom(database, seeded.workspaceId);
    const failed = calls.filter((call) => call.outcome === 'trunk_error');
    expect(failed.length).toBeGreaterThanOrEqual(3);
    expect(failed.every((call) => call.phone_number_id === seeded.memberIds[2])).toBe(true);
    // No retry met the number again that had failed it.
    const retried = failed.map((call) => `${call.owner_id} ${call.attempt + 1}`);
    expect(failed.filter((call) => retried.includes(`${call.owner_id} ${call.attempt}`))).toEqual([]);
    const { kept, counted } = await countersOf(database, seeded.campaignId);
    expect(kept).toEqual(counted);
    expect(await dialedWrongly(database)).toEqual([]);
  }));

test.concurrent('a number that cooled comes back by itself, and cools longer when it fails again', () =>
  withDatabase(async (database) => {
    const time = testClock(NOON);
    let works = false;
    const seed = { contacts: 4, campaign: { max_concurrency: 1, retry_policy: [1, 1, 1, 1] } };
    const seeded = await seedPoolCampaign(database, seed, members(1));
    const { stop } = await startTestDialer(database, { time, profile: answering, gateway: failingFrom(() => !works) });
    const usage = async () => (await usageOf(database, seeded.memberIds))[0]!;
    await until(async () => (await usage()).faults === 3);
    const first = (await usage()).cooling_until!;
    expect((await campaignRow(database, seeded.campaignId)).attempts).toBe(3);
    time.advance(first.getTime() - time.now().getTime() + 11_000);
    await until(async () => (await usage()).faults === 4);
    const second = (await usage()).cooling_until!;
    expect(second.getTime() - time.now().getTime()).toBeGreaterThan(4 * MINUTE);
    works = true;
    time.advance(second.getTime() - time.now().getTime() + 11_000);
    await untilCompleted(database, seeded.campaignId);
    await stop();
    expect(await usage()).toMatchObject({ faults: 0, cooling_until: null, answered: 4, failed: 4 });
  }));

test.concurrent('with two dialers and two campaigns on one pool, no number ever passes its limits', () =>
  withDatabase(async (database) => {
    const time = testClock('2026-03-10T22:00:00Z');
    const seed: SeedOptions = {
      contacts: 70,
      campaign: { max_concurrency: 20, ring_timeout_seconds: 6, max_call_seconds: 60 },
    };
    const caps = { max_calls_per_number_per_day: 30, max_concurrent_per_number: 2 };
    const first = await seedPoolCampaign(database, seed, members(4), caps);
    const second = await seedCampaign(database, {
      ...seed,
      workspaceId: first.workspaceId,
      number: (i) => 13_102_000_000 + i,
      campaign: { ...seed.campaign, status: 'paused' },
    });
    await usePool(database, second.campaignId, first.poolId);
    const options = { time, speed: 20, profile: shortCalls };
    const dialers = await Promise.all([startTestDialer(database, options), startTestDialer(database, options)]);
    const campaigns = [first.campaignId, second.campaignId];
    const attempts = async () =>
      (await Promise.all(campaigns.map((id) => campaignRow(database, id)))).reduce((sum, row) => sum + row.attempts, 0);
    await until(async () => (await attempts()) === 120);
    expect((await usageOf(database, first.memberIds)).map((row) => row.attempts)).toEqual([30, 30, 30, 30]);
    await until(async () => (await callsFrom(database, first.workspaceId)).every((call) => call.ended_at !== null));
    expect(await attempts()).toBe(120);
    time.set('2026-03-11T00:00:00Z');
    for (const id of campaigns) await untilCompleted(database, id);
    await Promise.all(dialers.map(({ stop }) => stop()));

    const calls = await callsFrom(database, first.workspaceId);
    expect(calls).toHaveLength(140);
    const peaks = first.memberIds.map((id) =>
      peak(
        calls
          .filter((call) => call.phone_number_id === id)
          .map((call) => ({ from: call.dialed_at!.getTime(), to: call.ended_at!.getTime() })),
      ),
    );
    expect(Math.max(...peaks)).toBe(2);
    for (const id of campaigns) {
      const { kept, counted } = await countersOf(database, id);
      expect(kept).toEqual(counted);
    }
    expect(await dialedWrongly(database)).toEqual([]);
  }));

test.concurrent('a claim takes the least recently used first, and all in turn', () =>
  withDatabase(async (database) => {
    const usage = (at: number) => ({ usage: { last_used_at: new Date(Date.parse(NOON) - (at + 1) * 1000) } });
    const seeded = await seedPoolCampaign(database, { contacts: 60 }, times(4, usage));
    const { claim } = await claimer(database, seeded);
    const [d, c, b, a] = seeded.memberIds;
    const order = async (calls: number) => {
      const claimed = await claim(new Date(NOON), calls);
      const byContact = new Map(
        (await callsFrom(database, seeded.workspaceId)).map((call) => [call.owner_id, call.phone_number_id]),
      );
      return claimed.calls.map((call) => byContact.get(call.owner.id));
    };
    expect(await order(2)).toEqual([a, b]);
    const counts = countBy((await order(48)) as string[]);
    expect(counts).toEqual({ [a!]: 12, [b!]: 12, [c!]: 12, [d!]: 12 });
    const rows = await usageOf(database, seeded.memberIds);
    expect(rows.map((row) => row.attempts)).toEqual([12, 12, 13, 13]);
    expect(rows.map((row) => row.last_used_at)).toEqual(times(4, () => new Date(NOON)));
  }));

test.concurrent('of many members those of the callee’s country call, wherever they stand in the line', () =>
  withDatabase(async (database) => {
    const later = { last_used_at: new Date(NOON) };
    const german = times(3, (at) => ({ country: 'DE', phone_number: `+4930555000${at}`, usage: later }));
    const seed = { contacts: 6, number: (i: number) => (i % 2 ? 4930_123_4500 : 1415_555_0000) + i };
    const seeded = await seedPoolCampaign(database, seed, [...members(70), ...german]);
    const { claim } = await claimer(database, seeded);
    expect((await claim(new Date(NOON))).calls).toHaveLength(6);
    const calls = await callsFrom(database, seeded.workspaceId);
    const pairs = calls.map((call) => `${String(call.to_number)[0]} from ${String(call.from_number)[0]}`);
    expect(countBy(pairs)).toEqual({ '1 from 1': 3, '4 from 4': 3 });
    expect(new Set(calls.map((call) => call.from_number)).size).toBe(6);
  }));

test.concurrent('a number calls only where it may; who can be called from none is skipped, or waits for one', () =>
  withDatabase(async (database) => {
    const spent = { day: '2026-03-10', attempts: 5 };
    const pool: SeededMember[] = [
      ...members(60, { allowed_outbound_countries: ['US'] }),
      { allowed_outbound_countries: ['US', 'FR'], usage: spent },
      { provider: 'twilio', allowed_outbound_countries: ['US', 'GB'] },
    ];
    const callees = [14155550000, 14155550001, 33140000000, 44_20_7946_0000, 49301234567];
    const seed = { contacts: callees.length, number: (i: number) => callees[i]! };
    const seeded = await seedPoolCampaign(database, seed, pool, { max_calls_per_number_per_day: 5 });
    const { claim } = await claimer(database, seeded);
    expect((await claim(new Date(NOON))).calls).toHaveLength(2);
    const contacts = await contactsOf(database, seeded.campaignId);
    const told = Object.fromEntries(contacts.map((each) => [each.phone_number, [each.state, each.reason]]));
    expect(told).toEqual({
      14155550000: ['dialing', null],
      14155550001: ['dialing', null],
      33140000000: ['waiting', 'no_caller_id'],
      442079460000: ['waiting', 'no_caller_id'],
      49301234567: ['skipped', 'country_not_allowed'],
    });
    const until = Object.fromEntries(contacts.map((each) => [each.phone_number, each.next_attempt_at]));
    expect(until[33140000000]).toEqual(new Date('2026-03-11T00:00:00Z'));
    expect(until[442079460000]).toEqual(new Date(Date.parse(NOON) + 10_000));
    const { kept, counted } = await countersOf(database, seeded.campaignId);
    expect(kept).toEqual(counted);
  }));

test.concurrent('a member is called by another one, and left out where none but itself is ready', () =>
  withDatabase(async (database) => {
    const digits = (at: number) => Number(poolNumber(at).slice(1));
    const seed = { contacts: 2, number: (at: number) => digits(at) };
    const two = await seedPoolCampaign(database, seed, members(2));
    const { claim } = await claimer(database, two);
    expect((await claim(new Date(NOON))).calls).toHaveLength(2);
    const calls = await callsFrom(database, two.workspaceId);
    expect(calls.map((call) => [call.from_number, call.to_number]).sort()).toEqual([
      [digits(0), digits(1)],
      [digits(1), digits(0)],
    ]);

    const ready: SeededMember = { phone_number: poolNumber(7) };
    const paused: SeededMember = { phone_number: poolNumber(8), trunk: { status: 'paused', reason: 'unreachable' } };
    const callees = { ...seed, number: (at: number) => digits(7 + at) };
    const one = await seedPoolCampaign(database, callees, [ready, paused]);
    await (await claimer(database, one)).claim(new Date(NOON));
    const told = (await contactsOf(database, one.campaignId)).map((each) => [
      each.phone_number,
      each.state,
      each.reason,
    ]);
    expect(told.sort()).toEqual([
      [digits(7), 'skipped', 'invalid_number'],
      [digits(8), 'dialing', null],
    ]);
    const { kept, counted } = await countersOf(database, one.campaignId);
    expect(kept).toEqual(counted);
  }));

test.concurrent('members that can not call are left out: trunk, provider, cooling, cap', () =>
  withDatabase(async (database) => {
    const cooling = { cooling_until: new Date(Date.parse(NOON) + 1) };
    const pool: SeededMember[] = [
      { trunk: { status: 'paused', reason: 'unreachable' } },
      { provider: 'sip' },
      { provider: 'twilio' },
      { usage: cooling },
      { usage: { day: '2026-03-10', attempts: 3 } },
      { trunk: {} },
    ];
    const seeded = await seedPoolCampaign(database, { contacts: 9 }, pool, { max_calls_per_number_per_day: 3 });
    const { claim } = await claimer(database, seeded);
    expect((await claim(new Date(NOON))).calls).toHaveLength(3);
    expect((await callsFrom(database, seeded.workspaceId)).map((call) => call.phone_number_id)).toEqual(
      times(3, () => seeded.memberIds[5]),
    );
    // It rests until somebody can call again, and moves nobody.
    expect(await claim(new Date(NOON))).toEqual({ calls: [], more: false, unreadable: [] });
    expect(await campaignRow(database, seeded.campaignId)).toMatchObject({
      pending: 6,
      waiting: 0,
      next_claim_at: new Date(Date.parse(NOON) + 10_000),
    });
    expect((await claim(new Date(Date.parse(NOON) + 10_000))).calls).toHaveLength(3);
    expect((await claim(new Date('2026-03-11T00:00:00Z'))).calls).toHaveLength(3);
  }));

test.concurrent('a busy pool is looked at again soon, and a retry takes another number', () =>
  withDatabase(async (database) => {
    const time = testClock(NOON);
    const seed = {
      contacts: 10,
      number: (i: number) => 12_005_550_186 + i * 10_000_000,
      campaign: { retry_policy: [1, 1] },
    };
    const seeded = await seedPoolCampaign(database, seed, members(2), { max_concurrent_per_number: 2 });
    const { stop } = await startTestDialer(database, { time });
    for (const busy of [10, 20, 30]) {
      await until(async () => (await campaignRow(database, seeded.campaignId)).busy === busy);
      time.advance(MINUTE + 1000);
    }
    await untilCompleted(database, seeded.campaignId);
    await stop();
    const calls = await callsFrom(database, seeded.workspaceId);
    for (const contact of await contactsOf(database, seeded.campaignId)) {
      const own = calls.filter((call) => call.owner_id === contact.id).sort((x, y) => x.attempt - y.attempt);
      const numbers = own.map((call) => call.phone_number_id);
      expect(numbers[1]).not.toBe(numbers[0]);
      expect(numbers[2]).not.toBe(numbers[1]);
    }
  }));

test.concurrent('calls that go back are taken off the number’s count of their day', () =>
  withDatabase(async (database) => {
    const seeded = await seedPoolCampaign(database, { contacts: 6 }, members(2), { max_calls_per_number_per_day: 3 });
    const { serverId, claim } = await claimer(database, seeded);
    const counts = async () => (await usageOf(database, seeded.memberIds)).map((row) => row.attempts);
    const { calls } = await claim(new Date(NOON));
    expect([calls.length, await counts()]).toEqual([6, [3, 3]]);
    const owners = campaignCallOwner({ onFinished: async () => {}, onPaused: async () => {} }, () => {});
    await returnQueuedCalls(database, calls.slice(0, 4), { serverId, owners, now: new Date(NOON) });
    expect(await counts()).toEqual([1, 1]);
    expect((await claim(new Date(NOON))).calls).toHaveLength(4);
    expect(await counts()).toEqual([3, 3]);
  }));

test.concurrent('calls of a campaign with a fixed number count on it while it is a member', () =>
  withDatabase(async (database) => {
    const seeded = await seedCampaign(database, { contacts: 3 });
    const { phone_number_id: id } = await campaignRow(database, seeded.campaignId);
    const { poolId } = await seedPool(database, seeded.workspaceId, []);
    const usage = { workspace_id: seeded.workspaceId, phone_number_id: id!, pool_id: poolId, country: 'US' };
    await seedRow(database, 'number_usage', usage);
    const { claim } = await claimer(database, seeded);
    expect((await claim(new Date(NOON), 2)).calls).toHaveLength(2);
    expect((await usageOf(database, [id!]))[0]).toMatchObject({ attempts: 2, day: '2026-03-10' });
    await database.inEngine(({ db }) => db.updateTable('number_usage').set({ pool_id: null }).execute());
    expect((await claim(new Date(NOON))).calls).toHaveLength(1);
    expect((await usageOf(database, [id!]))[0]!.attempts).toBe(2);
    expect((await callsFrom(database, seeded.workspaceId)).map((call) => call.pooled).sort()).toEqual([
      false,
      true,
      true,
    ]);
  }));

test.concurrent('for one call a number is picked by the same rules', () =>
  withDatabase(async (database) => {
    const { workspaceId } = await seedCampaign(database, { contacts: 0 });
    const german = { country: 'DE', phone_number: '+49305550001', allowed_outbound_countries: ['DE'] };
    const { poolId, memberIds } = await seedPool(database, workspaceId, [...members(60), german]);
    const pick = (to: number, avoid?: string) =>
      database.inEngine((tx) =>
        pickPoolNumber(tx, workspaceId, poolId, { to, now: new Date(NOON), isSimulated: configured, avoid }),
      );
    const [dear] = memberIds.slice(-1);
    expect(await pick(49301234567)).toEqual({
      id: dear,
      fromNumber: 49305550001,
      provider: 'simulator',
      trunkId: null,
    });
    const first = (await pick(14155550100))!;
    expect(first.id).not.toBe(dear);
    expect((await pick(14155550100, first.id))!.id).not.toBe(first.id);
    expect((await pick(49301234567, dear))!.id).not.toBe(dear);
    const none = await seedPool(database, workspaceId, [
      { phone_number: '+12125559999', allowed_outbound_countries: ['FR'] },
    ]);
    const { isSimulated, now } = { isSimulated: configured, now: new Date(NOON) };
    const picked = await database.inEngine((tx) =>
      pickPoolNumber(tx, workspaceId, none.poolId, { to: 14155550100, now, isSimulated }),
    );
    expect(picked).toBeUndefined();
  }));
