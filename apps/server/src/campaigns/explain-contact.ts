import type { components } from '@trunkline/client/schema';
import { type CallingHours, type ClosedReason, closedReason, nextCallingWindow } from '../calls/calling-hours.ts';
import type { CampaignStatus, ContactState } from '../database/schema.ts';

export type ContactReason = components['schemas']['CampaignContactReason'];

/** What of a campaign and its workspace decides why a contact is not called. */
export interface CampaignSituation {
  status: CampaignStatus;
  targetCallCount: number | null;
  answered: number;
  endDate: Date | null;
  /** Whether the workspace has stopped all dialing. */
  dialingPaused: boolean;
  /** Whether neither its number nor any of its pool can place calls. */
  noCallerId: boolean;
  hours: CallingHours;
}

/** What of a contact decides it. */
export interface ContactSituation {
  state: ContactState;
  /** The time zone in which it may be called. */
  timezone: string;
  nextAttemptAt: Date;
  /** What its last move left behind. */
  reason: string | null;
}

export interface Explanation {
  /** Why it was not called, or is not called now. */
  reason?: ContactReason;
  /** Its next call is placed at this time at the earliest. */
  nextAttemptAt?: Date;
}

/**
 * Why none of a campaign's contacts that are left is called, whatever the contact. Pause, stop and cancel change only the
 * campaign's row, and so these reasons stand nowhere else.
 */
export function campaignReason(campaign: CampaignSituation): ContactReason | undefined {
  switch (campaign.status) {
    case 'paused':
      return 'campaign_paused';
    case 'stopped':
      return 'campaign_stopped';
    case 'completed':
      return campaign.targetCallCount !== null && campaign.answered >= campaign.targetCallCount
        ? 'target_reached'
        : 'campaign_ended';
    case 'cancelled':
    case 'failed':
      return 'campaign_ended';
    default:
      if (campaign.dialingPaused) return 'dialing_paused';
      return campaign.noCallerId ? 'no_caller_id' : undefined;
  }
}

/** Whether a campaign calls nobody any more. */
export const hasEnded = (status: CampaignStatus): boolean =>
  status === 'completed' || status === 'stopped' || status === 'cancelled' || status === 'failed';

/** Explains contacts of one campaign at one time. What they share is computed once. */
export function contactExplainer(campaign: CampaignSituation, now: Date): (contact: ContactSituation) => Explanation {
  const ofCampaign = campaignReason(campaign);
  const closed = new Map<string, ClosedReason | undefined>();
  const openings = new Map<string, Date>();

  const closedNow = (timezone: string) => {
    if (!closed.has(timezone)) closed.set(timezone, closedReason(campaign.hours, [timezone], now));
    return closed.get(timezone);
  };
  const firstOpen = (timezone: string, from: Date) => {
    const key = `${timezone} ${from.getTime()}`;
    let opens = openings.get(key);
    if (!opens) {
      const isOpen = closedReason(campaign.hours, [timezone], from) === undefined;
      opens = isOpen ? from : nextCallingWindow(campaign.hours, [timezone], from).opensAt;
      openings.set(key, opens);
    }
    return opens;
  };

  return ({ state, timezone, nextAttemptAt, reason }) => {
    const stored = reason === null ? undefined : (reason as ContactReason);
    if (state === 'dialing') return {};
    if (state === 'done' || state === 'skipped') return stored ? { reason: stored } : {};
    if (hasEnded(campaign.status)) return { reason: ofCampaign! };

    const isDue = nextAttemptAt <= now;
    const next = firstOpen(timezone, isDue ? now : nextAttemptAt);
    const why = ofCampaign ?? (isDue ? (closedNow(timezone) ?? stored) : (stored ?? 'retry_later'));
    return {
      ...(why && { reason: why }),
      ...(!(campaign.endDate && next >= campaign.endDate) && { nextAttemptAt: next }),
    };
  };
}
