import { type RawBuilder, sql } from 'kysely';
import type { Tx } from '../../foundation/database/database.ts';
import { utcDay } from '../../foundation/values/clock.ts';
import { onTrunk } from '../phone-numbers/phone-number.ts';
import type { Candidate } from './assign-numbers.ts';

/** A pool, and what must hold of its members. */
export interface PoolQuery {
  workspaceId: string;
  poolId: string;
  now: Date;
  /** The providers that are configured here. */
  providers: readonly string[];
  /** How many members are wanted at most. */
  most: number;
  /** Members whose trunks have no free slot by then are left out; without it none for that. */
  startBy?: Date | undefined;
  /** UUIDs of trunks whose members are left out. */
  fullTrunks?: readonly string[] | undefined;
}

interface Row {
  id: string;
  phone_number: string;
  provider: string;
  trunk_id: string | null;
  country: string | null;
  allowed: string[] | null;
  last_used: number;
  room: number | null;
}

/**
 * The members that may be called from now, least recently used first: outbound-ready, not cooling, under both caps. It
 * reads the head of an index and passes over those that are not free, however many members there are. Where claims must
 * not pass the caps, the caller holds the pool's row.
 */
export async function readCandidates(tx: Tx, query: PoolQuery): Promise<Candidate[]> {
  const { rows } = await freeMembers(query, sql``).execute(tx.db);
  return rows.map(toCandidate);
}

/**
 * The same for callees of some countries: for each the members of that country, and those of any, that may call there.
 * A member may come more than once.
 */
export async function readCandidatesFor(
  tx: Tx,
  query: PoolQuery,
  countries: (string | undefined)[],
): Promise<Candidate[]> {
  const mayCall = sql`and (n.allowed_outbound_countries = '{}' or q.country = any(n.allowed_outbound_countries))`;
  const { rows } = await sql<Row>`
    select m.* from unnest(${countries.map((country) => country ?? null)}::text[]) as q (country)
      cross join lateral (${freeMembers(query, sql`and u.country = q.country ${mayCall}`)}) as m
    union all
    select m.* from unnest(${countries.map((country) => country ?? null)}::text[]) as q (country)
      cross join lateral (${freeMembers(query, mayCall)}) as m`.execute(tx.db);
  return rows.map(toCandidate);
}

/**
 * A statement for members that are free. What it answers is cheap to read: no dates, and lists only where there are any.
 * The limit stands in its text, so that the plan is one for few rows; `offset 0` keeps the parts apart, each read by its
 * key, whatever is known of the sizes of tables. A number is known by its UUID alone, so live calls are found by it alone:
 * named by their workspace too, all of the workspace's would be read where the planner takes them for none. For a claim of 50 it
 * touches 162 buffers among 100 members, 212 among 1,000, however many contacts wait.
 */
function freeMembers(
  { workspaceId, poolId, now, providers, most, startBy, fullTrunks = [] }: PoolQuery,
  condition: RawBuilder<unknown>,
) {
  const day = utcDay(now);
  return sql<Row>`
    select m.* from (select max_calls_per_number_per_day as per_day, max_concurrent_per_number as at_once
      from number_pools where workspace_id = ${workspaceId} and id = ${poolId} offset 0) as p
    cross join lateral (
      select u.phone_number_id as id, n.phone_number, n.provider, n.trunk_id, u.country,
        nullif(n.allowed_outbound_countries, '{}') as allowed, date_part('epoch', u.last_used_at) as last_used,
        least(p.at_once - k.live, p.per_day - case when u.day >= ${day} then u.attempts else 0 end) as room
      from number_usage u
      cross join lateral (select * from phone_numbers
        where workspace_id = ${workspaceId} and id = u.phone_number_id offset 0) as n
      left join lateral (select status, next_start_at from trunks
        where workspace_id = ${workspaceId} and id = n.trunk_id offset 0) as t on true
      cross join lateral (select count(*) as live from calls
        where p.at_once is not null and phone_number_id = u.phone_number_id and ended_at is null offset 0) as k
      where u.workspace_id = ${workspaceId} and u.pool_id = ${poolId}
        and (u.cooling_until is null or u.cooling_until <= ${now})
        and (p.per_day is null or u.day < ${day} or u.attempts < p.per_day)
        and n.status = 'active' and (not ${onTrunk} or (t.status = 'active'
          and t.next_start_at <= ${startBy ?? 'infinity'}::timestamptz and n.trunk_id <> all(${fullTrunks}::uuid[])))
        and n.provider = any(${providers}::text[])
        and (p.at_once is null or k.live < p.at_once) ${condition}
      order by u.last_used_at limit ${sql.raw(String(most))}) as m`;
}

const toCandidate = (row: Row): Candidate => ({
  id: row.id,
  fromNumber: Number(row.phone_number.slice(1)),
  provider: row.provider,
  trunkId: row.trunk_id,
  country: row.country,
  allowedCountries: row.allowed ?? [],
  room: row.room ?? Number.POSITIVE_INFINITY,
  lastUsed: row.last_used,
});
