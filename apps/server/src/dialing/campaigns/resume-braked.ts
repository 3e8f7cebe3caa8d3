import { sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { from } from '../../foundation/database/moves.ts';
import { campaignTransitions } from './campaign.ts';
import { recordCampaignStatus } from './record-campaign.ts';

/** Has the campaigns and batches of an agent go on that have paused themselves for it. */
export async function resumeBraked(tx: WorkspaceTx, agentId: string, now: Date): Promise<void> {
  const { rows } = await sql<{ id: string; kind: string }>`
    update campaigns set status = 'running', resumed_at = ${now}, updated_at = ${now}, revision = revision + 1,
      recent_ends = '{}', pause_reason = null, next_claim_at = 'epoch'
    where workspace_id = ${tx.workspaceId} and agent_id = ${agentId} and pause_reason = 'agent_failing'
      and status in ${from(campaignTransitions, 'running', 'paused')}
    returning id, kind`.execute(tx.db);
  for (const { id, kind } of rows) if (kind === 'campaign') await recordCampaignStatus(tx, id, now);
}
