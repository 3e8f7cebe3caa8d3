import { sql } from 'kysely';
import type { Tx } from '../../foundation/database/database.ts';
import { from } from '../../foundation/database/moves.ts';
import { type CampaignKey, campaignTransitions } from './campaign.ts';

/**
 * Pauses a running campaign whose calls fail, so that it doesn't go through its contacts for nothing. The caller holds its
 * row. Answers whether it did.
 */
export async function pauseItself(
  tx: Tx,
  { workspaceId, campaignId }: CampaignKey,
  reason: 'calls_failing' | 'agent_failing' | 'budget_reached',
  now: Date,
): Promise<boolean> {
  const { rows } = await sql`
    update campaigns set status = 'paused', pause_reason = ${reason}, paused_at = ${now}, updated_at = ${now},
      revision = revision + 1
    where workspace_id = ${workspaceId} and id = ${campaignId} and status in ${from(campaignTransitions, 'paused')}
    returning id`.execute(tx.db);
  return rows.length === 1;
}
