import { sql } from 'kysely';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { addContacts } from '../../src/dialing/campaigns/add-contacts.ts';
import { claimContacts } from '../../src/dialing/campaigns/claim/claim-contacts.ts';
import { openLease } from '../../src/foundation/database/lease.ts';
import { noOperatorLimits } from '../../src/platform/workspace/operator-limits.ts';
import { withDatabase } from '../foundation/database/own-database.ts';
import { seedCampaign } from '../seed/campaign.ts';
import { seedList } from '../seed/list.ts';
import { seedRow } from '../seed/rows.ts';
import { testClock } from '../test-clock.ts';
import { until } from '../until.ts';
import { callsOf, countersOf, dialedWrongly } from './audit.ts';
import { campaignRow, contactsOf, dialersTurn, startTestDialer, untilCompleted } from './dialing.ts';

const MINUTE = 60_000;
const NOON = '2026-03-10T12:00:00Z';
const magic = (suffix: number) => (i: number) => 12_005_550_000 + suffix + i * 10_000_000;

test.concurrent('each retry waits for its minutes of the policy, and the last one ends the contact', () =>
  withDatabase(async (database) => {
    const time = testClock(NOON);
    const numbers = [172, 173, 186, 103, 104];
    const { campaignId } = await seedCampaign(database, {
      contacts: 5,
      number: (i) => magic(numbers[i]!)(i),
      campaign: { retry_policy: [5, 30] },
    });
    const { stop } = await startTestDialer(database, { time });
    const attempts = async (count: number) => {
      await until(async () => {
        const row = await campaignRow(database, campaignId);
        return row.attempts === count && row.in_flight === 0;
      });
      await dialersTurn(database);
      expect((await campaignRow(database, campaignId)).attempts).toBe(count);
    };
    await attempts(5);
    for (const contact of (await contactsOf(database, campaignId)).slice(0, 3)) {
      const [call] = (await callsOf(database, campaignId)).filter((one) => one.owner_id === contact.id);
      expect(contact).toMatchObject({ state: 'waiting', reason: 'retry_later' });
      expect(contact.next_attempt_at.getTime() - call!.ended_at!.getTime()).toBe(5 * MINUTE);
    }
    // The clock goes on while a slow machine looks: half of the time is left for that.
    time.advance(2.5 * MINUTE);
    await attempts(5);
    time.advance(2.6 * MINUTE);
    await attempts(8);
    time.advance(15 * MINUTE);
    await attempts(8);
    time.advance(15.1 * MINUTE);
    await untilCompleted(database, campaignId);
    await stop();
    expect(await dialedWrongly(database)).toEqual([]);
    const ends = (await contactsOf(database, campaignId)).map(({ state, tries, last_outcome, reason }) => [
      state,
      tries,
      last_outcome,
      reason,
    ]);
    expect(ends).toEqual([
      ['done', 2, 'answered', null],
      ['done', 3, 'answered', null],
      ['done', 3, 'busy', 'retries_exhausted'],
      ['done', 1, 'declined', null],
      ['done', 1, 'invalid_number', 'invalid_number'],
    ]);
    const { kept, counted } = await countersOf(database, campaignId);
    expect(kept).toEqual(counted);
  }));

test.concurrent('a trunk that fails is tried again after 1, 5 and 15 minutes, and given up after five times', () =>
  withDatabase(async (database) => {
    const time = testClock(NOON);
    const { campaignId } = await seedCampaign(database, {
      contacts: 3,
      number: magic(150),
      campaign: { retry_policy: [] },
    });
    let from = time.now();
    const { stop } = await startTestDialer(database, { time });
    for (const [at, minutes] of [1, 5, 15, 15].entries()) {
      await until(async () => (await campaignRow(database, campaignId)).trunk_error === 3 * (at + 1));
      for (const { next_attempt_at } of await contactsOf(database, campaignId)) {
        const failedAt = next_attempt_at.getTime() - minutes * MINUTE;
        expect(failedAt).toBeGreaterThanOrEqual(from.getTime());
        expect(failedAt).toBeLessThanOrEqual(time.now().getTime());
      }
      time.advance((minutes / 2) * MINUTE);
      await dialersTurn(database);
      expect((await campaignRow(database, campaignId)).attempts).toBe(3 * (at + 1));
      from = time.now();
      time.advance((minutes / 2 + 0.1) * MINUTE);
    }
    await untilCompleted(database, campaignId);
    await stop();
    for (const contact of await contactsOf(database, campaignId)) {
      expect(contact).toMatchObject({ state: 'skipped', reason: 'no_caller_id', attempt: 5, tries: 0 });
    }
    const { kept, counted } = await countersOf(database, campaignId);
    expect(kept).toEqual(counted);
  }));

test.concurrent('an agent that fails is no attempt of the contact, at most three times', () =>
  withDatabase(async (database) => {
    const time = testClock(NOON);
    const { campaignId } = await seedCampaign(database, {
      contacts: 3,
      number: magic(160),
      campaign: { retry_policy: [5] },
    });
    const { stop } = await startTestDialer(database, { time });
    for (const attempts of [3, 6, 9, 12]) {
      await until(async () => (await campaignRow(database, campaignId)).agent_error === attempts);
      time.advance(16 * MINUTE);
    }
    await untilCompleted(database, campaignId);
    await stop();
    for (const contact of await contactsOf(database, campaignId)) {
      expect(contact).toMatchObject({ state: 'done', reason: 'retries_exhausted', attempt: 4, tries: 0 });
    }
  }));

test.concurrent('a retry that is due goes before fresh contacts', () =>
  withDatabase(async (database) => {
    const campaign = await seedCampaign(database, { contacts: 20 });
    const now = new Date();
    await addContacts(database, campaign, now);
    const due = (await contactsOf(database, campaign.campaignId)).at(-1)!;
    await database.inEngine(async ({ db }) => {
      await sql`update campaign_contacts set state = 'waiting', attempt = 1, tries = 1, next_attempt_at = ${now}
        where id = ${due.id}`.execute(db);
      await sql`update campaigns set pending = pending - 1, waiting = waiting + 1 where id = ${campaign.campaignId}`.execute(
        db,
      );
    });
    const lease = await openLease({ database, seconds: 5, log: pino({ level: 'silent' }) });
    const terms = { serverId: lease.serverId(), free: 1, now, isSimulated: () => true, operator: noOperatorLimits };
    const { calls } = await claimContacts(database, campaign, terms, async () => {});
    await lease.release();
    expect(calls.map((call) => [call.owner.id, call.attempt])).toEqual([[due.id, 2]]);
  }));

test.concurrent('who must not be called is skipped with the reason, also when it is said while the campaign runs', () =>
  withDatabase(async (database) => {
    const number = (i: number) => (i === 9 ? 1911 : 14_155_550_100 + i);
    const { workspaceId, campaignId } = await seedCampaign(database, {
      contacts: 10,
      number,
      campaign: { calls_per_second: 4 },
    });
    const other = await seedCampaign(database, { contacts: 9, number: (i) => number(i) + 10_000_000, workspaceId });
    const list = async (type: 'contacts' | 'dnd', numbers: number[], of?: string) => {
      const entries = numbers.map((phone_number) => ({ phone_number }));
      const id = await seedList(database, workspaceId, entries, { type });
      const used = { workspace_id: workspaceId, list_id: id, role: 'dnd' } as const;
      if (of) await seedRow(database, 'campaign_lists', { ...used, campaign_id: of });
    };
    await list('contacts', [number(5), number(6) + 10_000_000], campaignId);
    await list('dnd', [number(6), number(7) + 10_000_000]);
    const { stop } = await startTestDialer(database);
    await until(async () => (await campaignRow(database, campaignId)).attempts > 0);
    await seedRow(database, 'do_not_call', { workspace_id: workspaceId, phone_number: number(8) });
    await untilCompleted(database, campaignId);
    await untilCompleted(database, other.campaignId);
    await stop();
    const skipped = async (id: string) =>
      (await contactsOf(database, id)).flatMap((c) =>
        c.state === 'skipped' ? [[c.phone_number, c.reason, c.attempt]] : [],
      );
    expect(await skipped(campaignId)).toEqual([
      [1911, 'invalid_number', 0],
      [number(5), 'do_not_call', 0],
      [number(6), 'do_not_call', 0],
      [number(8), 'do_not_call', 0],
    ]);
    expect(await skipped(other.campaignId)).toEqual([[number(7) + 10_000_000, 'do_not_call', 0]]);
    const { kept, counted } = await countersOf(database, campaignId);
    expect(kept).toEqual(counted);
  }));

test.concurrent('a country that the number or the workspace may not call is skipped, and a premium-rate number', () =>
  withDatabase(async (database) => {
    const numbers = [14_155_550_100, 493_090_182_000, 442_079_460_000, 33_142_684_300, 19_002_341_234];
    const { campaignId } = await seedCampaign(database, {
      contacts: 5,
      number: (i) => numbers[i]!,
      workspace: { allowed_countries: ['DE', 'GB', 'US'] },
      phoneNumber: { allowed_outbound_countries: ['DE', 'FR', 'US'] },
    });
    const { stop } = await startTestDialer(database);
    await untilCompleted(database, campaignId);
    await stop();
    expect((await contactsOf(database, campaignId)).map((c) => [c.phone_number, c.state, c.reason])).toEqual([
      [14_155_550_100, 'done', null],
      [19_002_341_234, 'skipped', 'country_not_allowed'],
      [33_142_684_300, 'skipped', 'country_not_allowed'],
      [442_079_460_000, 'skipped', 'country_not_allowed'],
      [493_090_182_000, expect.stringMatching('done'), expect.anything()],
    ]);
  }));
