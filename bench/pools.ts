import { claimContacts } from '../apps/server/src/dialing/campaigns/claim/claim-contacts.ts';
import { openLease } from '../apps/server/src/foundation/database/lease.ts';
import { noOperatorLimits } from '../apps/server/src/platform/workspace/operator-limits.ts';
import { seedContacts } from '../apps/server/test/seed/campaign.ts';
import { seedPool, usePool } from '../apps/server/test/seed/pool.ts';
import { asSuperuser, log, type Postgres, settle, startPostgres } from './postgres.ts';
import { type Effort, median } from './rounds.ts';
import type { Found } from './table.ts';

/** Claims of each campaign. The first of them warm up and don't count. */
const SIZES = { whole: { claims: 400, warmUp: 50 }, quick: { claims: 100, warmUp: 20 } };
const CLAIM_SIZE = 50;

/** Claims one batch, and tells how many milliseconds it took. */
type Claim = () => Promise<number>;

/** A campaign in a database of its own. Its calls are over right after each claim, without anybody placing them. */
async function campaign(postgres: Postgres, members: number, claims: number): Promise<Claim> {
  const { database, connectionString } = await postgres.database();
  const contacts = claims * CLAIM_SIZE;
  const { workspaceId, campaignId } = await seedContacts(database, contacts, 0);
  // The contacts stand in the campaign's table already, and may be called at any time.
  await asSuperuser(
    connectionString,
    `insert into campaign_lanes select workspace_id, id, i, array['Etc/GMT+' || i], 'epoch', 'epoch'
      from campaigns, generate_series(1, 3) as i`,
    `update campaigns set status = 'running', max_concurrency = ${contacts}, pending = ${contacts}`,
  );
  if (members > 0) {
    const numbers = Array.from({ length: members }, () => ({}));
    const caps = { max_calls_per_number_per_day: 100_000, max_concurrent_per_number: 10 };
    const { poolId } = await seedPool(database, workspaceId, numbers, caps);
    await usePool(database, campaignId, poolId);
  }
  await settle(connectionString);
  const lease = await openLease({ database, seconds: 600, log });
  const terms = { serverId: lease.serverId(), free: CLAIM_SIZE, isSimulated: () => true, operator: noOperatorLimits };
  return async () => {
    const from = performance.now();
    const { calls } = await claimContacts(
      database,
      { workspaceId, campaignId },
      { ...terms, now: new Date() },
      async () => {},
    );
    const took = performance.now() - from;
    if (calls.length !== CLAIM_SIZE) throw new Error(`A claim took ${calls.length} contacts.`);
    await database.inEngine(({ db }) =>
      db
        .updateTable('calls')
        .set({ ended_at: new Date(), status: 'completed' })
        .where('ended_at', 'is', null)
        .execute(),
    );
    return took;
  };
}

/** What choosing from a pool adds to a claim of 50, beside a campaign with one number. The three claim in turns. */
export async function benchPools(effort: Effort): Promise<Found> {
  const { claims, warmUp } = SIZES[effort];
  const postgres = await startPostgres();
  const campaigns = {
    one: await campaign(postgres, 0, claims),
    ten: await campaign(postgres, 10, claims),
    thousand: await campaign(postgres, 1000, claims),
  };
  const took: Record<keyof typeof campaigns, number[]> = { one: [], ten: [], thousand: [] };
  for (let claimed = 0; claimed < claims; claimed += 1) {
    for (const name of ['one', 'ten', 'thousand'] as const) {
      const milliseconds = await campaigns[name]();
      if (claimed >= warmUp) took[name].push(milliseconds);
    }
  }
  const row = (what: string, ours: number[]) => ({
    what,
    ours: median(ours),
    peer: 'Trunkline, one number',
    theirs: median(took.one),
    unit: 'ms',
    aim: '≤ 1.2',
  });
  return {
    rows: [row('claim of 50, from a pool of 10', took.ten), row('claim of 50, from a pool of 1,000', took.thousand)],
  };
}
