import { sql } from 'kysely';
import type { EngineTx, WorkspaceTx } from '../../foundation/database/database.ts';
import { type Page, type PageQuery, readPage } from '../../foundation/database/page.ts';
import type { ErasureRow } from './erasure.ts';

/** An erasure of a workspace. */
export async function findErasure(tx: { db: EngineTx['db'] }, workspaceId: string, id: string) {
  const { rows } = await sql<ErasureRow>`
    select * from erasures where workspace_id = ${workspaceId} and id = ${id}`.execute(tx.db);
  return rows[0];
}

/** A page of erasures, in the order in which they were asked for. */
export const erasurePage = (tx: WorkspaceTx, query: PageQuery): Promise<Page<ErasureRow>> =>
  readPage(tx, query, {
    from: sql`erasures`,
    where: [sql`workspace_id = ${tx.workspaceId}`],
    search: [],
    order: ['id'],
  });
