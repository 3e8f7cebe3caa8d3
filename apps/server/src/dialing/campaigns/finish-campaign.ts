import { sql } from 'kysely';
import type { Tx } from '../../foundation/database/database.ts';
import { from } from '../../foundation/database/moves.ts';
import type { CampaignKey } from './campaign.ts';
import { campaignTransitions } from './campaign.ts';

/**
 * Completes a running campaign that has nothing left to do, or has reached its `targetCallCount`, with no call up.
 * The caller holds its row, and this is a statement of its own, so that it sees what was committed before the lock.
 * Answers whether it did.
 */
export async function finishIfDone(tx: Tx, { workspaceId, campaignId }: CampaignKey, now: Date): Promise<boolean> {
  const { rows } = await sql`
    update campaigns set status = 'completed', ended_at = ${now}, updated_at = ${now}, revision = revision + 1
    where workspace_id = ${workspaceId} and id = ${campaignId} and status in ${from(campaignTransitions, 'completed', 'running')}
      and in_flight = 0
      and (answered >= target_call_count or (contacts_added and not exists (
        select from campaign_contacts c where c.workspace_id = ${workspaceId} and c.campaign_id = ${campaignId}
          and c.state in ('pending', 'waiting'))))
    returning id`.execute(tx.db);
  return rows.length === 1;
}
