import { sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';

/**
 * Lets a call's result change under its campaign's lock, which comes before the call's (docs/dialing.md, "Locks"), and
 * counts the conversions that `change` answers: 1 for a new one, -1 for one that is taken back.
 */
export async function countConversions(
  { db, workspaceId, tell }: WorkspaceTx,
  { campaign_id: id }: { campaign_id: string | null },
  change: () => Promise<number>,
): Promise<void> {
  if (id) await sql`select from campaigns where workspace_id = ${workspaceId} and id = ${id} for update`.execute(db);
  const difference = await change();
  if (!id || difference === 0) return;
  tell(id);
  await sql`
    update campaigns set conversions = conversions + ${difference}, revision = revision + 1
    where workspace_id = ${workspaceId} and id = ${id}`.execute(db);
}
