import { sql } from 'kysely';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { claimContacts } from '../src/campaigns/claim-contacts.ts';
import { finishIfDone } from '../src/campaigns/finish-campaign.ts';
import type { Database } from '../src/database/database.ts';
import { openLease } from '../src/database/lease.ts';
import { expectEqualPicks, pickCost, rowsReadBy, seedContacts } from './claim-cost.ts';
import { withDatabase } from './own-database.ts';
import { seedPool, usePool } from './pool-seed.ts';

const LITTLE = 10_000;
const MUCH = 100_000;
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
        and phone_number <= ${14_150_000_000 + 0.9 * MUCH}`.execute(db),
    );
    // The first to pass the dead entries of the index marks them.
    await pickCost(database, campaign, { generic: true });
    const { pages, scans } = await pickCost(database, campaign, { generic: true });
    expect(scans).toEqual(['Index Scan campaign_contacts_claim']);
    expect(pages).toBeLessThanOrEqual(2 * fresh);
  }));

async function rowsReadByClaim(database: Database, contacts: number): Promise<number> {
  const campaign = await seedContacts(database, contacts, contacts / 2);
  const lease = await openLease({ database, seconds: 30, log: pino({ level: 'silent' }) });
  const terms = { serverId: lease.serverId(), free: 50, now: new Date(), isSimulated: () => true };
  await database.inEngine(({ db }) =>
    sql`with lanes as (insert into campaign_lanes select ${campaign.workspaceId}, ${campaign.campaignId}, i, 'Etc/GMT+' || i,
        'epoch', 'epoch' from generate_series(1, 3) as i)
      update campaigns set status = 'running', pending = ${contacts / 2}, done = ${contacts / 2} where id = ${campaign.campaignId}`.execute(
      db,
    ),
  );
  // As adding contacts does: without statistics the writes by ID read them all.
  await database.inEngine(({ db }) => sql`analyze campaign_contacts`.execute(db));
  const read = await rowsReadBy(database, async (counting) => {
    const { calls } = await claimContacts(counting, campaign, terms, async () => {});
    expect(calls).toHaveLength(50);
  });
  await lease.release();
  return read;
}

test('the whole claim reads few rows, at ten thousand contacts as at a hundred thousand', () =>
  withDatabase(async (database) => {
    const few = await rowsReadByClaim(database, LITTLE);
    expect(few).toBeLessThan(500);
    expect(await rowsReadByClaim(database, MUCH)).toBeLessThan(500);
  }));

async function rowsReadByPoolClaim(database: Database, members: number): Promise<number> {
  const campaign = await seedContacts(database, LITTLE, 0);
  const caps = { max_calls_per_number_per_day: 100, max_concurrent_per_number: 10 };
  const numbers = Array.from({ length: members }, () => ({}));
  const { poolId } = await seedPool(database, campaign.workspaceId, numbers, caps);
  await usePool(database, campaign.campaignId, poolId);
  await database.inEngine(({ db }) =>
    sql`insert into campaign_lanes select ${campaign.workspaceId}, ${campaign.campaignId}, i, 'Etc/GMT+' || i, 'epoch', 'epoch'
      from generate_series(1, 3) as i`.execute(db),
  );
  await database.inEngine(({ db }) => sql`analyze campaign_contacts`.execute(db));
  // Before 17 a list of keys behind another key looks dearer than a scan, as long as a table is taken for empty.
  const { rows } = await database.inEngine(({ db }) =>
    sql<{ old: boolean }>`select current_setting('server_version_num')::int < 170000 as old`.execute(db),
  );
  if (rows[0]!.old) await database.inEngine(({ db }) => sql`analyze number_usage`.execute(db));
  const lease = await openLease({ database, seconds: 30, log: pino({ level: 'silent' }) });
  const terms = { serverId: lease.serverId(), free: 50, now: new Date(), isSimulated: () => true };
  const read = await rowsReadBy(database, async (counting) => {
    const { calls } = await claimContacts(counting, campaign, terms, async () => {});
    expect(calls).toHaveLength(50);
  });
  await lease.release();
  return read;
}

test('choosing from a pool reads the members that it takes, at a thousand as at a hundred, without statistics of them', () =>
  withDatabase(async (database) => {
    const few = await rowsReadByPoolClaim(database, 100);
    expect(few).toBeLessThan(900);
    expect(await rowsReadByPoolClaim(database, 1000)).toBeLessThanOrEqual(few + 20);
  }));

test('to see that a campaign is over takes no look at its contacts', () =>
  withDatabase(async (database) => {
    for (const contacts of [LITTLE, MUCH]) {
      const campaign = await seedContacts(database, contacts, contacts);
      await database.inEngine(({ db }) =>
        sql`update campaigns set status = 'running' where id = ${campaign.campaignId}`.execute(db),
      );
      const read = await rowsReadBy(database, async (counting) => {
        expect(await counting.inEngine((tx) => finishIfDone(tx, campaign, new Date()))).toBe(true);
      });
      expect(read).toBeLessThan(50);
    }
  }));
