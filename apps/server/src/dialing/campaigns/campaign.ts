import type { CampaignStatus } from '../../foundation/database/schema.ts';

/** The states that a campaign can move to, as the contract's `x-transitions` show them. */
export const campaignTransitions = {
  draft: ['running', 'scheduled', 'cancelled'],
  scheduled: ['draft', 'running', 'completed', 'cancelled', 'failed'],
  running: ['paused', 'completed', 'stopped'],
  paused: ['running', 'completed', 'stopped'],
  completed: [],
  stopped: [],
  cancelled: [],
  failed: [],
} as const satisfies Record<CampaignStatus, readonly CampaignStatus[]>;

/** What names a campaign. */
export interface CampaignKey {
  workspaceId: string;
  campaignId: string;
}

/** The most calls that one claim takes (dialing.md, "Claims"). */
export const CLAIM_SIZE = 50;
