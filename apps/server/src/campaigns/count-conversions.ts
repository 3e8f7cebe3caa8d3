import { sql } from 'kysely';
import type { WorkspaceTx } from '../database/database.ts';

/**
 * Lets a call's result change under its campaign's lock, which comes before the call's (engine.md, "Locks"), and counts
 * the conversions that `change` answers: 1 for a new one, -1 for one that is taken back.
 */
export async function countConversions(
  { db, workspaceId, tell }: WorkspaceTx,
  campaignId: string,
  change: () => Promise<number>,
): Promise<void> {
  await sql`select from campaigns where workspace_id = ${workspaceId} and id = ${campaignId} for update`.execute(db);
  const difference = await change();
  if (difference === 0) return;
  tell(campaignId);
  await sql`
    update campaigns set conversions = conversions + ${difference}, revision = revision + 1
    where workspace_id = ${workspaceId} and id = ${campaignId}`.execute(db);
}
