import { sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { type Page, type PageQuery, readPage } from '../../foundation/database/page.ts';
import type { SoundRow } from './sound.ts';

/** A sound, by its UUID. */
export const findSound = (tx: WorkspaceTx, id: string): Promise<SoundRow | undefined> =>
  tx.db
    .selectFrom('sounds')
    .selectAll()
    .where('workspace_id', '=', tx.workspaceId)
    .where('id', '=', id)
    .executeTakeFirst();

/** One page of sounds, and how many there are on all pages. */
export const soundPage = (tx: WorkspaceTx, page: PageQuery): Promise<Page<SoundRow>> =>
  readPage(tx, page, {
    from: sql`sounds`,
    where: [sql`workspace_id = ${tx.workspaceId}`],
    search: ['name'],
    order: ['created_at', 'id'],
  });

/** How many sounds a workspace has. */
export async function countSounds(tx: WorkspaceTx): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from sounds where workspace_id = ${tx.workspaceId}`.execute(tx.db);
  return rows[0]!.count;
}
