import { sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { type Page, type PageQuery, readPage } from '../../foundation/database/page.ts';
import type { Edited } from '../../foundation/values/edition.ts';
import type { CountedPool } from './pool.ts';

const columns = sql`number_pools.*, (select count(*) from number_usage u
  where u.workspace_id = number_pools.workspace_id and u.pool_id = number_pools.id) as count`;

/** A pool with its count of members. */
export async function findPool({ db, workspaceId }: WorkspaceTx, id: string): Promise<CountedPool | undefined> {
  const { rows } = await sql<CountedPool>`
    select ${columns} from number_pools where workspace_id = ${workspaceId} and id = ${id}`.execute(db);
  return rows[0];
}

/**
 * Locks pools by ascending ID, against claims from them as much as against other changes: what a claim has read of a
 * member still holds when it writes. Answers those that there are, by their UUIDs.
 */
export async function lockPools(tx: WorkspaceTx, ids: string[]): Promise<Map<string, Edited>> {
  const rows = await tx.db
    .selectFrom('number_pools')
    .select(['id', 'edition'])
    .where('workspace_id', '=', tx.workspaceId)
    .where('id', 'in', ids)
    .orderBy('id')
    .forUpdate()
    .execute();
  return new Map(rows.map((row) => [row.id, row]));
}

/** One page of pools, and how many there are on all pages. */
export const poolPage = (tx: WorkspaceTx, page: PageQuery): Promise<Page<CountedPool>> =>
  readPage(tx, page, {
    columns,
    from: sql`number_pools`,
    where: [sql`workspace_id = ${tx.workspaceId}`],
    search: ['name', 'description'],
    order: ['created_at', 'id'],
  });
