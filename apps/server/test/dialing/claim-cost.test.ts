import { sql } from 'kysely';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { HeldCall } from '../../src/dialing/calls/call.ts';
import { allOwners } from '../../src/dialing/calls/call-owner.ts';
import { createCallRecorder } from '../../src/dialing/calls/record-call-events.ts';
import { returnCalls } from '../../src/dialing/calls/return-calls.ts';
import { type ClaimTerms, claimContacts } from '../../src/dialing/campaigns/claim/claim-contacts.ts';
import { finishIfDone } from '../../src/dialing/campaigns/finish-campaign.ts';
import { campaignCallOwner } from '../../src/dialing/campaigns/own-calls.ts';
import type { Database, EngineTx } from '../../src/foundation/database/database.ts';
import { type Lease, openLease } from '../../src/foundation/database/lease.ts';
import { systemClock } from '../../src/foundation/values/clock.ts';
import { newUuid } from '../../src/foundation/values/ids.ts';
import { noOperatorLimits } from '../../src/platform/workspace/operator-limits.ts';
import { withDatabase } from '../foundation/database/own-database.ts';
import { type SeededCampaign, seedCampaign, seedContacts } from '../seed/campaign.ts';
import { seedPool, usePool } from '../seed/pool.ts';
import { seedRows } from '../seed/rows.ts';
import { until } from '../until.ts';
import {
  analyzeOnOld,
  expectEqualPicks,
  expectEqualPoolStatements,
  expectEqualStatements,
  pickCost,
  rowsReadBy,
  seedClaimable,
} from './claim-cost.ts';
import { campaignRow, startTestDialer } from './dialing.ts';
import { roundTripsOf } from './statement-cost.ts';

const LITTLE = 5000;
/** As large as shows whether all of it is read; claim-cost.long.test.ts takes a million. */
const MUCH = 20_000;
test('a claim reads as much of a large campaign as of a small one: without statistics, by any plan, also when most are done', () =>
  withDatabase((database) => expectEqualPicks(database, LITTLE, MUCH)));

test('a claim reads no more after most contacts of a large campaign were dialled and nobody has vacuumed', () =>
  withDatabase(async (database) => {
    // The server's own vacuum or analysis would take the dead entries away, or have them looked at for longer.
    await database.inEngine(({ db }) => sql`alter table campaign_contacts set (autovacuum_enabled = off)`.execute(db));
    const campaign = await seedContacts(database, MUCH, 0);
    const { pages: fresh } = await pickCost(database, campaign, { generic: true });
    await database.inEngine(({ db }) =>
      sql`update campaign_contacts set state = 'done' where campaign_id = ${campaign.campaignId}
        and phone_number <= ${14_152_000_000 + 0.9 * MUCH}`.execute(db),
    );
    // Who passes the dead entries of the index marks them, once no transaction of the whole server can see them.
    await until(async () => {
      const { pages, scans } = await pickCost(database, campaign, { generic: true });
      expect(scans).toEqual(['Index Scan campaign_contacts_claim']);
      return pages <= 2 * fresh;
    });
  }));

const termsOf = (lease: Lease): ClaimTerms => ({
  serverId: lease.serverId(),
  free: 50,
  now: new Date(),
  isSimulated: () => true,
  operator: noOperatorLimits,
});

async function rowsReadByClaim(database: Database, contacts: number): Promise<number> {
  const campaign = await seedClaimable(database, contacts);
  const lease = await openLease({ database, seconds: 30, log: pino({ level: 'silent' }) });
  const terms = termsOf(lease);
  const read = await rowsReadBy(database, async (counting) => {
    const { calls } = await claimContacts(counting, campaign, terms, async () => {});
    expect(calls).toHaveLength(50);
  });
  await lease.release();
  return read;
}

test('the whole claim reads few rows, at five thousand contacts as at twenty thousand', () =>
  withDatabase(async (database) => {
    const few = await rowsReadByClaim(database, LITTLE);
    expect(few).toBeLessThan(500);
    expect(await rowsReadByClaim(database, MUCH)).toBeLessThan(500);
  }));

test('each statement of a claim touches as few buffers at twenty thousand contacts as at five thousand', () =>
  withDatabase((database) => expectEqualStatements(database, LITTLE, MUCH)));

async function rowsReadByPoolClaim(database: Database, members: number): Promise<number> {
  const campaign = await seedContacts(database, LITTLE, 0);
  const caps = { max_calls_per_number_per_day: 100, max_concurrent_per_number: 10 };
  const numbers = Array.from({ length: members }, () => ({}));
  const { poolId } = await seedPool(database, campaign.workspaceId, numbers, caps);
  await usePool(database, campaign.campaignId, poolId);
  await database.inEngine(({ db }) =>
    sql`insert into campaign_lanes select ${campaign.workspaceId}, ${campaign.campaignId}, i, array['Etc/GMT+' || i], 'epoch', 'epoch'
      from generate_series(1, 3) as i`.execute(db),
  );
  await database.inEngine(({ db }) => sql`analyze campaign_contacts`.execute(db));
  await analyzeOnOld(database, 'number_usage');
  const lease = await openLease({ database, seconds: 30, log: pino({ level: 'silent' }) });
  const terms = termsOf(lease);
  const read = await rowsReadBy(database, async (counting) => {
    const { calls } = await claimContacts(counting, campaign, terms, async () => {});
    expect(calls).toHaveLength(50);
  });
  await lease.release();
  return read;
}

test('choosing from a pool reads the members that it takes, at a thousand as at a hundred, without statistics of them', () =>
  withDatabase(async (hundred) => {
    const few = await rowsReadByPoolClaim(hundred, 100);
    expect(few).toBeLessThan(900);
    await withDatabase(async (thousand) =>
      expect(await rowsReadByPoolClaim(thousand, 1000)).toBeLessThanOrEqual(few + 20),
    );
  }));

test('each statement of a claim from a pool touches as few buffers among a thousand members as among a hundred', () =>
  withDatabase((hundred) => withDatabase((thousand) => expectEqualPoolStatements([hundred, 100], [thousand, 1000]))));

/** Ended calls and done contacts of a campaign, and calls that are up from one number. No statistics are taken. */
async function growMuch(database: Database, { workspaceId, campaignId, listId }: SeededCampaign): Promise<void> {
  const campaign = { workspace_id: workspaceId, campaign_id: campaignId };
  const numbers = Array.from({ length: 8000 }, (_, i) => 30_000_000_001 + i);
  const from = { ...campaign, from_number: 12125550100, phone_number_id: newUuid(), status: 'completed' } as const;
  const calls = numbers.map((to_number, i) => {
    return { ...from, owner_kind: 'contact', owner_id: newUuid(), to_number, ended_at: i < 1000 ? null : new Date() };
  });
  await seedRows(database, 'calls', calls);
  const done = { ...campaign, list_id: listId, values: ['Berlin'], state: 'done' as const };
  await seedRows(
    database,
    'campaign_contacts',
    numbers.map((phone_number) => ({ ...done, phone_number })),
  );
}

test('claims, placements, ends and what goes back soon read no more of tables that have grown since they were planned, without statistics', () =>
  withDatabase(async (database) => {
    await database.inEngine(async ({ db }) => {
      for (const table of ['calls', 'campaign_contacts']) {
        await sql`alter table ${sql.table(table)} set (autovacuum_enabled = off)`.execute(db);
      }
    });
    const limits = { max_attempts_per_person_per_day: 5 };
    const settings = { max_concurrency: 50, calls_per_second: 400, status: 'paused' as const };
    const campaign = await seedCampaign(database, { contacts: 8000, workspace: limits, campaign: settings });
    const members = Array.from({ length: 60 }, () => ({}));
    const { poolId } = await seedPool(database, campaign.workspaceId, members, { max_concurrent_per_number: 10 });
    await usePool(database, campaign.campaignId, poolId);
    const attempts = async () => (await campaignRow(database, campaign.campaignId)).attempts;
    let most = 0;
    const noting =
      (mode: 'inEngine' | 'inHotLoop') =>
      async <T>(fn: (tx: EngineTx) => Promise<T>) => {
        const results: T[] = [];
        const read = await rowsReadBy(database, async (counted) => results.push(await counted[mode](fn)));
        most = Math.max(most, read);
        return results[0]!;
      };
    const counting = { ...database, inEngine: noting('inEngine'), inHotLoop: noting('inHotLoop') };
    const dialer = await startTestDialer(counting);
    await until(async () => (await attempts()) > 100);
    await growMuch(database, campaign);
    await until(async () => {
      most = 0;
      const before = await attempts();
      await until(async () => (await attempts()) > before + 50);
      return most < 3000;
    }, 100);
    await dialer.stop();

    const lease = await openLease({ database, seconds: 30, log: pino({ level: 'silent' }) });
    const server = { serverId: lease.serverId(), now: new Date() };
    const terms = { ...server, free: 50, isSimulated: () => true, operator: noOperatorLimits };
    let calls: Awaited<ReturnType<typeof claimContacts>>['calls'] = [];
    // The pace of the dialer that has stopped may leave no room for some hundred milliseconds.
    await until(async () => {
      ({ calls } = await claimContacts(database, campaign, { ...terms, now: new Date() }, async () => {}));
      return calls.length > 0;
    });
    const owners = campaignCallOwner({ onFinished: async () => {}, onPaused: async () => {} }, () => {});
    const read = await rowsReadBy(database, (counted) => returnCalls(counted, calls, { ...server, owners }));
    expect(read).toBeLessThan(3000);
    await lease.release();
  }));

test('a claim asks four times one after another, and the first locks the campaign', () =>
  withDatabase(async (database) => {
    const campaign = await seedClaimable(database, 200);
    const lease = await openLease({ database, seconds: 300, log: pino({ level: 'silent' }) });
    const claiming = async (counted: Database) => {
      const { calls } = await claimContacts(counted, campaign, termsOf(lease), async () => {});
      expect(calls).toHaveLength(50);
    };
    // Its windows are not known yet.
    await claiming(database);
    expect(await roundTripsOf(database, claiming)).toBe(4);
    await lease.release();
  }));

test('a set of ends asks once to lock its campaigns and move its calls, and twice of each campaign after that', () =>
  withDatabase(async (database) => {
    const lease = await openLease({ database, seconds: 300, log: pino({ level: 'silent' }) });
    const calls: HeldCall[] = [];
    for (const _ of [1, 2]) {
      const campaign = await seedClaimable(database, 200);
      calls.push(...(await claimContacts(database, campaign, termsOf(lease), async () => {})).calls);
    }
    await database.inEngine(({ db }) =>
      sql`update calls set status = 'in_progress' where ended_at is null`.execute(db),
    );
    const owner = campaignCallOwner({ onFinished: async () => {}, onPaused: async () => {} }, () => {});
    const recordEvents = async () => {};
    let ended = 0;
    const trips = await roundTripsOf(database, async (counted) => {
      const recorder = createCallRecorder({
        ...{ database: counted, recordEvents, clock: systemClock, log: pino({ level: 'silent' }) },
        owners: allOwners([owner], recordEvents),
        callOf: (roomId) => calls.find((call) => call.roomId === roomId),
        onAgentsFailing: async () => {},
        onWritten: (_, written) => {
          ended += written.length;
        },
      });
      const end = { type: 'ended', at: new Date(), outcome: 'answered', endedBy: 'callee' } as const;
      recorder.record(calls.map(({ roomId }) => ({ ...end, roomId })));
      await recorder.idle();
    });
    expect({ ended, trips }).toEqual({ ended: 100, trips: 5 });
    await lease.release();
  }));

test('to see that a campaign is over takes no look at its contacts', () =>
  withDatabase(async (database) => {
    for (const contacts of [LITTLE, MUCH]) {
      const campaign = await seedContacts(database, contacts, contacts);
      await database.inEngine(({ db }) =>
        sql`update campaigns set status = 'running' where id = ${campaign.campaignId}`.execute(db),
      );
      const read = await rowsReadBy(database, async (counting) => {
        expect(await counting.inHotLoop((tx) => finishIfDone(tx, campaign, new Date()))).toBe(true);
      });
      expect(read).toBeLessThan(50);
    }
  }));
