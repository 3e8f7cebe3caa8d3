import type { WorkspaceTx } from '../database/database.ts';
import { notFound } from '../service-error.ts';
import type { CampaignSituation } from './explain-contact.ts';
import { callingHours } from './lanes.ts';
import { hasCaller } from './preview/preview-callers.ts';
import type { CampaignRow } from './shape-campaign.ts';

/** What a workspace says about the calls of a campaign. */
export interface Situation extends CampaignSituation {
  workspace: { allowed_countries: string[] | null; premium_rate_allowed: boolean };
}

/** What decides whether and when a campaign's contacts are called, from a time on. */
export async function situationOf(tx: WorkspaceTx, campaign: CampaignRow, at: Date): Promise<Situation> {
  const workspace = await tx.db
    .selectFrom('workspaces')
    .select(['quiet_hours_start', 'quiet_hours_end', 'quiet_windows', 'holidays'])
    .select(['dialing_paused_at', 'allowed_countries', 'premium_rate_allowed'])
    .where('id', '=', tx.workspaceId)
    .executeTakeFirst();
  if (!workspace) throw notFound();
  return {
    status: campaign.status,
    targetCallCount: campaign.target_call_count,
    answered: campaign.answered,
    endDate: campaign.end_date,
    dialingPaused: workspace.dialing_paused_at !== null,
    noCallerId: !(await hasCaller(tx, campaign, at)),
    hours: callingHours(campaign, workspace),
    workspace,
  };
}
