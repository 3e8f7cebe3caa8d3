import { sql } from 'kysely';
import type { Database } from '../../src/foundation/database/database.ts';
import { type SeededCampaign, type SeedOptions, seedCampaign } from './campaign.ts';
import { type Given, insertRows, seedRow } from './rows.ts';
import { type SeededNumber, withTrunks } from './trunk.ts';

/** A member: its number, and what is counted of it. */
export type SeededMember = SeededNumber & { usage?: Given<'number_usage'> };

/** Pool numbers, from +12125550200 on: none of them plays a callee. */
export const poolNumber = (at: number): string => `+1212555${String(200 + at).padStart(4, '0')}`;

/** A pool in the database. Answers its UUID and those of its members, in their order. */
export async function seedPool(
  database: Database,
  workspaceId: string,
  members: SeededMember[],
  caps: Given<'number_pools'> = {},
): Promise<{ poolId: string; memberIds: string[] }> {
  const { id: poolId } = await seedRow(database, 'number_pools', { workspace_id: workspaceId, ...caps });
  return { poolId, memberIds: await seedMembers(database, workspaceId, poolId, members) };
}

/** Numbers that are members of a pool. Answers their UUIDs, in their order. */
export async function seedMembers(
  database: Database,
  workspaceId: string,
  poolId: string,
  members: SeededMember[],
): Promise<string[]> {
  const workspace = { workspace_id: workspaceId };
  const rows = members.map(({ usage: _, ...number }, at) => ({
    ...workspace,
    phone_number: poolNumber(at),
    ...number,
  }));
  return database.inEngine(async ({ db }) => {
    const numbers = await insertRows(db, 'phone_numbers', await withTrunks(db, rows));
    const usages = numbers.map(({ id, country }, at) => {
      return { ...workspace, phone_number_id: id, pool_id: poolId, country, ...members[at]!.usage };
    });
    await insertRows(db, 'number_usage', usages);
    return numbers.map(({ id }) => id);
  });
}

/** A running campaign that calls from a pool of its own. */
export async function seedPoolCampaign(
  database: Database,
  seed: SeedOptions,
  members: SeededMember[],
  caps?: Given<'number_pools'>,
): Promise<SeededCampaign & { poolId: string; memberIds: string[] }> {
  const campaign = await seedCampaign(database, { ...seed, campaign: { ...seed.campaign, status: 'paused' } });
  const pool = await seedPool(database, campaign.workspaceId, members, caps);
  await usePool(database, campaign.campaignId, pool.poolId);
  return { ...campaign, ...pool };
}

/** Has a campaign call from a pool, and lets it run. */
export const usePool = (database: Database, campaignId: string, poolId: string) =>
  database.inEngine(({ db }) =>
    sql`update campaigns set status = 'running', phone_number_id = null, number_pool_id = ${poolId}
      where id = ${campaignId}`.execute(db),
  );
