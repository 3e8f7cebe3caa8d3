import type { components } from '@trunkline/client/schema';
import { type SqlBool, sql } from 'kysely';
import { utcDay } from '../clock.ts';
import type { WorkspaceTx } from '../database/database.ts';
import { containing, type PageQuery, pageRows } from '../database/page.ts';
import type { PhoneNumberRow } from '../phone-numbers/phone-number.ts';
import { presentNumber } from '../phone-numbers/present-number.ts';

type Member = components['schemas']['NumberPoolMember'];

interface MemberRow extends PhoneNumberRow {
  last_used_at: Date;
  day: string;
  attempts: number;
  answered: number;
  failed: number;
  cooling_until: Date | null;
}

/** A pool's numbers, in the order in which they came to the workspace. */
export const poolNumbers = (tx: WorkspaceTx, poolId: string): Promise<PhoneNumberRow[]> =>
  membersOf(tx, poolId).orderBy('n.created_at').orderBy('n.id').execute();

const membersOf = (tx: WorkspaceTx, poolId: string) =>
  tx.db
    .selectFrom('number_usage as u')
    .innerJoin('phone_numbers as n', (join) =>
      join.onRef('n.workspace_id', '=', 'u.workspace_id').onRef('n.id', '=', 'u.phone_number_id'),
    )
    .where('u.workspace_id', '=', tx.workspaceId)
    .where('u.pool_id', '=', poolId)
    .selectAll('n');

/** One page of a pool's members, each with how it has fared today (UTC), and how many there are on all pages. */
export async function memberPage(
  tx: WorkspaceTx,
  poolId: string,
  page: PageQuery,
  now: Date,
): Promise<{ items: Member[]; totalCount: number }> {
  const pattern = page.searchText === undefined ? undefined : containing(page.searchText);
  const found = membersOf(tx, poolId).$if(pattern !== undefined, (query) =>
    query.where(
      sql<SqlBool>`(n.phone_number ilike ${pattern} or n.friendly_name ilike ${pattern} or n.label ilike ${pattern})`,
    ),
  );
  const { limit, offset } = pageRows(page);
  const rows = await found
    .select(['u.last_used_at', 'u.day', 'u.attempts', 'u.answered', 'u.failed', 'u.cooling_until'])
    .orderBy('n.created_at', page.order)
    .orderBy('n.id', page.order)
    .limit(limit)
    .offset(offset)
    .execute();
  const { count } = await found
    .clearSelect()
    .select((each) => each.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return { items: rows.map((row) => presentMember(row, now)), totalCount: count };
}

function presentMember(row: MemberRow, now: Date): Member {
  const { last_used_at: lastUsed, cooling_until: cooling } = row;
  const today = row.day === utcDay(now);
  return {
    ...presentNumber(row),
    health: {
      attempts: today ? row.attempts : 0,
      answered: today ? row.answered : 0,
      failed: today ? row.failed : 0,
      ...(lastUsed.getTime() > 0 && { lastUsedAt: lastUsed.toISOString() }),
      ...(cooling && cooling > now && { coolingUntil: cooling.toISOString() }),
    },
  };
}
