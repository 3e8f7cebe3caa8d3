import { type RawBuilder, sql } from 'kysely';
import { nextUtcDay, utcDay } from '../clock.ts';
import type { Tx, WorkspaceTx } from '../database/database.ts';
import { callable, type Provider } from '../phone-numbers/phone-number.ts';
import type { PoolQuery } from './read-candidates.ts';

interface Row {
  members: number;
  free_at: Date | null;
}

/**
 * When a member of a pool can be called from at the earliest, but for calls that are up: now, or when it has cooled, its
 * trunk has a free slot, or the next UTC day begins. Undefined where no member is outbound-ready.
 */
export async function poolFreeAt(tx: Tx, query: Omit<PoolQuery, 'most'>): Promise<Date | undefined> {
  const { rows } = await sql<Row>`select ${earliest(query)} ${members(query, sql``)}`.execute(tx.db);
  return rows[0]!.free_at ?? undefined;
}

/** When the pace of the members' trunks lets the next call start, of those that wait for it; undefined where none does. */
export async function poolSlotAt(tx: Tx, query: Omit<PoolQuery, 'most'>): Promise<Date | undefined> {
  const { now } = query;
  const isReady = sql`and ${callable} and t.next_start_at > ${now}
    and (u.cooling_until is null or u.cooling_until <= ${now}) and ${isAtCap(now)} is not true`;
  const { rows } = await sql<{ slot_at: Date | null }>`
    select min(t.next_start_at) as slot_at ${members(query, isReady)}`.execute(tx.db);
  return rows[0]!.slot_at ?? undefined;
}

/** Whether a member of a pool, of a configured provider, is outbound-ready, whatever its caps and how it fares. */
export async function hasReadyMember(
  tx: WorkspaceTx,
  poolId: string,
  providers: readonly Provider[],
): Promise<boolean> {
  const query = { workspaceId: tx.workspaceId, poolId, now: new Date(0), providers };
  return (await poolFreeAt(tx, query)) !== undefined;
}

/** What stands between a country's callees and a pool: whether any member may call there, and when one can. */
export interface CountryOutlook {
  mayCall: boolean;
  freeAt: Date | undefined;
}

/** The same for callees of some countries, whom only some members may call. */
export async function freeAtFor(
  tx: Tx,
  query: Omit<PoolQuery, 'most'>,
  countries: (string | undefined)[],
): Promise<Map<string | undefined, CountryOutlook>> {
  const mayCall = sql`and (n.allowed_outbound_countries = '{}' or q.country = any(n.allowed_outbound_countries))`;
  const { rows } = await sql<Row & { country: string | null }>`
    select q.country, m.* from unnest(${countries.map((country) => country ?? null)}::text[]) as q (country)
    cross join lateral (select ${earliest(query)} ${members(query, mayCall)}) as m`.execute(tx.db);
  return new Map(
    rows.map((row) => [row.country ?? undefined, { mayCall: row.members > 0, freeAt: row.free_at ?? undefined }]),
  );
}

const isAtCap = (now: Date) => sql`(u.day >= ${utcDay(now)} and u.attempts >= p.max_calls_per_number_per_day)`;

function earliest({ now, providers }: Omit<PoolQuery, 'most'>): RawBuilder<unknown> {
  const isReady = sql`${callable} and n.provider = any(${providers}::text[])`;
  return sql`count(*) as members, min(greatest(${now}::timestamptz, u.cooling_until, t.next_start_at,
    case when ${isAtCap(now)} then ${nextUtcDay(now)}::timestamptz end)) filter (where ${isReady}) as free_at`;
}

const members = ({ workspaceId, poolId }: Omit<PoolQuery, 'most'>, condition: RawBuilder<unknown>) => sql`
  from number_usage u
  cross join (select max_calls_per_number_per_day from number_pools
    where workspace_id = ${workspaceId} and id = ${poolId} offset 0) as p
  cross join lateral (select * from phone_numbers
    where workspace_id = ${workspaceId} and id = u.phone_number_id offset 0) as n
  left join lateral (select next_start_at from trunks
    where workspace_id = ${workspaceId} and id = n.trunk_id offset 0) as t on true
  where u.workspace_id = ${workspaceId} and u.pool_id = ${poolId} ${condition}`;
