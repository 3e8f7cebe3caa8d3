import { type SqlBool, sql } from 'kysely';
import type { WorkspaceTx } from '../database/database.ts';
import { containing, type PageQuery, pageRows } from '../database/page.ts';
import type { CountedPool } from './pool.ts';

const countedPools = (tx: WorkspaceTx) =>
  tx.db
    .selectFrom('number_pools')
    .selectAll()
    .select(
      sql<number>`(select count(*) from number_usage u
        where u.workspace_id = number_pools.workspace_id and u.pool_id = number_pools.id)`.as('count'),
    )
    .where('workspace_id', '=', tx.workspaceId);

/** A pool with its count of members. */
export const findPool = (tx: WorkspaceTx, id: string): Promise<CountedPool | undefined> =>
  countedPools(tx).where('id', '=', id).executeTakeFirst();

/**
 * Locks pools by ascending ID, against claims from them as much as against other changes: what a claim has read of a
 * member still holds when it writes. Answers the UUIDs of those that there are.
 */
export async function lockPools(tx: WorkspaceTx, ids: string[]): Promise<Set<string>> {
  const rows = await tx.db
    .selectFrom('number_pools')
    .select('id')
    .where('workspace_id', '=', tx.workspaceId)
    .where('id', 'in', ids)
    .orderBy('id')
    .forUpdate()
    .execute();
  return new Set(rows.map((row) => row.id));
}

/** One page of pools, and how many there are on all pages. */
export async function poolPage(tx: WorkspaceTx, page: PageQuery): Promise<{ rows: CountedPool[]; totalCount: number }> {
  const pattern = page.searchText === undefined ? undefined : containing(page.searchText);
  const matching = sql<SqlBool>`(name ilike ${pattern} or description ilike ${pattern})`;
  const { limit, offset } = pageRows(page);
  const rows = await countedPools(tx)
    .$if(pattern !== undefined, (query) => query.where(matching))
    .orderBy('created_at', page.order)
    .orderBy('id', page.order)
    .limit(limit)
    .offset(offset)
    .execute();
  const { count } = await tx.db
    .selectFrom('number_pools')
    .select((each) => each.fn.countAll<number>().as('count'))
    .where('workspace_id', '=', tx.workspaceId)
    .$if(pattern !== undefined, (query) => query.where(matching))
    .executeTakeFirstOrThrow();
  return { rows, totalCount: count };
}
