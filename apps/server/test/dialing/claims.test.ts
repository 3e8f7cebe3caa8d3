import { sql } from 'kysely';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { returnCalls, returnQueuedCalls } from '../../src/dialing/calls/return-calls.ts';
import { addContacts } from '../../src/dialing/campaigns/add-contacts.ts';
import { claimContacts } from '../../src/dialing/campaigns/claim/claim-contacts.ts';
import { campaignCallOwner } from '../../src/dialing/campaigns/own-calls.ts';
import type { Database } from '../../src/foundation/database/database.ts';
import { openLease } from '../../src/foundation/database/lease.ts';
import { noOperatorLimits } from '../../src/platform/workspace/operator-limits.ts';
import { withDatabase } from '../foundation/database/own-database.ts';
import { type SeedOptions, seedCampaign } from '../seed/campaign.ts';
import { seedRow } from '../seed/rows.ts';
import { campaignRow } from './dialing.ts';

const ADDED_AT = new Date('2026-03-10T00:00:00Z');

/** Claims from a campaign at any time, without a dialer. */
async function claimer(database: Database, seed: SeedOptions) {
  const lease = await openLease({ database, seconds: 60, log: pino({ level: 'silent' }) });
  const key = await seedCampaign(database, seed);
  await addContacts(database, key, ADDED_AT);
  const serverId = lease.serverId();
  const claim = (now: Date) =>
    claimContacts(
      database,
      key,
      { serverId, free: 50, now, isSimulated: () => true, operator: noOperatorLimits },
      async () => {},
    );
  return { serverId, key, claim };
}

test.concurrent('a call that goes back after midnight is given back to the day that it was counted on', () =>
  withDatabase(async (database) => {
    const { serverId, claim, key } = await claimer(database, { contacts: 5 });
    const { calls } = await claim(new Date('2026-03-10T23:59:59.900Z'));
    expect(calls).toHaveLength(5);
    const usage = () =>
      database.inEngine(({ db }) => db.selectFrom('workspace_usage').select(['day', 'calls']).orderBy('day').execute());
    const next = { workspace_id: key.workspaceId, day: '2026-03-11', calls: 3 };
    await seedRow(database, 'workspace_usage', next);
    const owners = campaignCallOwner({ onFinished: async () => {}, onPaused: async () => {} }, () => {});
    await returnQueuedCalls(database, calls, { serverId, owners, now: new Date('2026-03-11T00:00:01Z') });
    expect(await usage()).toEqual([
      { day: '2026-03-10', calls: 0 },
      { day: '2026-03-11', calls: 3 },
    ]);
    expect(await campaignRow(database, key.campaignId)).toMatchObject({ in_flight: 0, attempts: 0, pending: 5 });
  }));

test.concurrent('nobody is claimed from the endDate on, though the campaign still runs', () =>
  withDatabase(async (database) => {
    const end_date = new Date('2026-03-10T12:00:00Z');
    const { claim } = await claimer(database, { contacts: 1, campaign: { end_date } });
    expect((await claim(end_date)).calls).toHaveLength(0);
    expect((await claim(new Date(end_date.getTime() - 1))).calls).toHaveLength(1);
  }));

test.concurrent('a claim that began before the contacts were added puts their campaign off no longer than until then', () =>
  withDatabase(async (database) => {
    const { claim, key } = await claimer(database, { contacts: 5 });
    expect((await claim(new Date(ADDED_AT.getTime() - 50))).calls).toHaveLength(0);
    expect((await campaignRow(database, key.campaignId)).next_claim_at).toEqual(ADDED_AT);
    expect((await claim(ADDED_AT)).calls).toHaveLength(5);
  }));

test.concurrent('a call that was to be placed, and went back, is none of the calls that a person may get a day', () =>
  withDatabase(async (database) => {
    const workspace = { max_attempts_per_person_per_day: 1 };
    const { serverId, claim } = await claimer(database, { contacts: 1, workspace });
    const owners = campaignCallOwner({ onFinished: async () => {}, onPaused: async () => {} }, () => {});
    for (const minutes of [0, 1, 2]) {
      const now = new Date(ADDED_AT.getTime() + minutes * 60_000);
      const { calls } = await claim(now);
      expect(calls).toHaveLength(1);
      await database.inEngine(({ db }) =>
        sql`update calls set status = 'dialing', dialed_at = ${now} where status = 'queued'`.execute(db),
      );
      await returnCalls(database, calls, { serverId, owners, now });
    }
    expect((await claim(new Date(ADDED_AT.getTime() + 180_000))).calls).toHaveLength(1);
  }));
