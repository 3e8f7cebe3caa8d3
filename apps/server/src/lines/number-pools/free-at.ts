import { type RawBuilder, sql } from 'kysely';
import type { Tx, WorkspaceTx } from '../../foundation/database/database.ts';
import { nextUtcDay, utcDay } from '../../foundation/values/clock.ts';
import { callable, type Provider } from '../phone-numbers/phone-number.ts';
import type { Callee } from './assign-numbers.ts';
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

/** What stands between a callee and a pool. */
export interface Outlook {
  /** No member may call there; or none but the callee itself is ready. */
  refusal?: 'country_not_allowed' | 'invalid_number';
  /** When a member can call; undefined where none is ready. */
  freeAt?: Date | undefined;
}

/** The same for each of some callees, whom only some members may call, and never the one that it is itself. */
export async function outlooksFor(
  tx: Tx,
  query: Omit<PoolQuery, 'most'>,
  callees: readonly Omit<Callee, 'avoid'>[],
): Promise<Outlook[]> {
  const { workspaceId, poolId } = query;
  const mayCall = sql`and n.phone_number is distinct from q.own
    and (n.allowed_outbound_countries = '{}' or q.country = any(n.allowed_outbound_countries))`;
  const { rows } = await sql<Row & { country: string | null; own: string | null }>`
    select q.country, q.own, m.* from (
      select distinct x.country, (select phone_number from phone_numbers n
        join number_usage u on u.workspace_id = n.workspace_id and u.phone_number_id = n.id
        where n.workspace_id = ${workspaceId} and n.phone_number = x.phone_number and n.status <> 'released'
          and u.pool_id = ${poolId}) as own
      from unnest(${callees.map(({ country }) => country ?? null)}::text[],
        ${callees.map(({ toNumber }) => `+${toNumber}`)}::text[]) as x (country, phone_number)) as q
    cross join lateral (select ${earliest(query)} ${members(query, mayCall)}) as m
    order by q.own nulls last`.execute(tx.db);
  return callees.map(({ country, toNumber }) => {
    const isOf = (row: (typeof rows)[number]) => row.own === null || row.own === `+${toNumber}`;
    const { own, members, free_at } = rows.find((row) => row.country === (country ?? null) && isOf(row))!;
    if (own !== null && free_at === null) return { refusal: 'invalid_number' };
    return members === 0 ? { refusal: 'country_not_allowed' } : { freeAt: free_at ?? undefined };
  });
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
