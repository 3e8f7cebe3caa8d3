import { sql } from 'kysely';
import type { Database } from '../../src/database/database.ts';
import { newUuid } from '../../src/ids.ts';
import { type SeededCampaign, type SeedOptions, seedCampaign } from '../dialing/dialing.ts';

export interface SeededMember {
  /** E.164. Default: a number of New York. */
  phoneNumber?: string;
  country?: string;
  provider?: 'simulator' | 'sip' | 'twilio';
  trunkValid?: boolean;
  allowed?: string[];
  usage?: Record<string, unknown>;
}

/** Pool numbers, from +12125550200 on: none of them plays a callee. */
export const poolNumber = (at: number): string => `+1212555${String(200 + at).padStart(4, '0')}`;

/** A pool in the database. Answers its UUID and those of its members, in their order. */
export async function seedPool(
  database: Database,
  workspaceId: string,
  members: SeededMember[],
  caps: { max_calls_per_number_per_day?: number; max_concurrent_per_number?: number } = {},
): Promise<{ poolId: string; memberIds: string[] }> {
  const [poolId, now] = [newUuid(), new Date()];
  const memberIds = members.map(() => newUuid());
  const stamps = { created_at: now, updated_at: now };
  await database.inEngine(async ({ db }) => {
    await db
      .insertInto('number_pools')
      .values({ workspace_id: workspaceId, id: poolId, name: 'Pool', ...caps, ...stamps })
      .execute();
    for (const [at, member] of members.entries()) {
      const { phoneNumber = poolNumber(at), country = 'US', provider = 'simulator' } = member;
      const id = memberIds[at]!;
      await db
        .insertInto('phone_numbers')
        .values({
          workspace_id: workspaceId,
          id,
          phone_number: phoneNumber,
          country,
          status: 'active',
          provider,
          trunk_valid: member.trunkValid ?? null,
          allowed_outbound_countries: member.allowed ?? [],
          ...stamps,
        })
        .execute();
      await db
        .insertInto('number_usage')
        .values({ workspace_id: workspaceId, phone_number_id: id, pool_id: poolId, country, ...member.usage })
        .execute();
    }
  });
  return { poolId, memberIds };
}

/** A running campaign that calls from a pool of its own. */
export async function seedPoolCampaign(
  database: Database,
  seed: SeedOptions,
  members: SeededMember[],
  caps?: Parameters<typeof seedPool>[3],
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

/** What is counted of a pool's numbers, by their UUID. */
export async function usageOf(database: Database, memberIds: string[]) {
  const rows = await database.inEngine(({ db }) =>
    db.selectFrom('number_usage').selectAll().where('phone_number_id', 'in', memberIds).execute(),
  );
  const byId = new Map(rows.map((row) => [row.phone_number_id, row]));
  return memberIds.map((id) => byId.get(id)!);
}

/** Every call of a workspace with the number that it came from, in the order of dialing. */
export async function callsFrom(database: Database, workspaceId: string) {
  const { rows } = await database.inEngine(({ db }) =>
    sql<{
      phone_number_id: string;
      from_number: number;
      to_number: number;
      contact_id: string;
      attempt: number;
      outcome: string | null;
      pooled: boolean;
      dialed_at: Date | null;
      ended_at: Date | null;
    }>`select * from calls where workspace_id = ${workspaceId} order by dialed_at, id`.execute(db),
  );
  return rows;
}
