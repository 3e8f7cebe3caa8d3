import type { CampaignStatus, ContactState } from '../../foundation/database/schema.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { type CallingHours, closedReason, neverOpenTogether, nextCallingWindow } from '../calls/calling-hours.ts';
import { areReadable } from '../calls/zones-of-contact.ts';

export type ContactReason = components['schemas']['CampaignContactReason'];

/** Why a contact is not called that somebody had skipped. While it is on a call, it is noted there. */
export const SKIPPED_BY_USER = 'skipped_by_user' satisfies ContactReason;

/** What of a campaign and its workspace decides why a contact is not called. */
export interface CampaignSituation {
  status: CampaignStatus;
  targetCallCount: number | null;
  answered: number;
  /** When it begins to call, where it is scheduled. */
  startsAt: Date | null;
  endDate: Date | null;
  /** Whether the workspace has stopped all dialing. */
  dialingPaused: boolean;
  /** Whether no server can tell its witness of calls, so that none is placed. */
  isUnwritten: boolean;
  /** Why neither its number nor any of its pool can place calls, if so. */
  noCaller: 'no_caller_id' | 'trunk_paused' | undefined;
  /** Whether those that can wait for their trunks: for a slot of their pace, or for a channel. */
  trunkBusy: boolean;
  /** Until when at least a limit of the campaign, its pool, its workspace or the server lets nobody be called. */
  limited: { until: Date; reason: 'limit_reached' | 'operator_limit' | 'agent_unproven' } | undefined;
  /** Whether it has paused itself since its agent fails. */
  agentFailing: boolean;
  hours: CallingHours;
  /** The hours of numbers that are free of quiet hours that nobody has set. */
  freeHours: CallingHours;
}

/** What of a contact decides it. */
export interface ContactSituation {
  state: ContactState;
  /** Whether its number is free of quiet hours that nobody has set. */
  isTrusted: boolean;
  /** The time zones in which it may be: it is called while calls are open in all of them. */
  timezones: readonly string[];
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
      return campaign.agentFailing ? 'agent_failing' : 'campaign_paused';
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
      if (campaign.isUnwritten) return 'witness_unreachable';
      return campaign.noCaller;
  }
}

/** Whether a campaign calls nobody any more. */
export const hasEnded = (status: CampaignStatus): boolean =>
  status === 'completed' || status === 'stopped' || status === 'cancelled' || status === 'failed';

type ClosedNow = ContactReason &
  ('outside_window' | 'quiet_hours' | 'holiday' | 'no_common_hour' | 'invalid_time_zone');

/** Why nobody who may be in any of some time zones is called now. */
export function whyClosed(hours: CallingHours, timezones: readonly string[], now: Date): ClosedNow | undefined {
  if (!areReadable(timezones)) return 'invalid_time_zone';
  const reason = closedReason(hours, timezones, now);
  if (!reason || timezones.length < 2) return reason;
  return neverOpenTogether(hours, timezones, nextCallingWindow(hours, timezones, now), now) ? 'no_common_hour' : reason;
}

/** Explains contacts of one campaign at one time. What they share is computed once. */
export function contactExplainer(campaign: CampaignSituation, now: Date): (contact: ContactSituation) => Explanation {
  const ofCampaign = campaignReason(campaign);
  const closed = new Map<string, ClosedNow | undefined>();
  const openings = new Map<string, Date>();

  const hoursOf = (isTrusted: boolean) => (isTrusted ? campaign.freeHours : campaign.hours);
  const closedNow = (isTrusted: boolean, timezones: readonly string[]) => {
    const key = `${isTrusted} ${timezones.join()}`;
    if (!closed.has(key)) closed.set(key, whyClosed(hoursOf(isTrusted), timezones, now));
    return closed.get(key);
  };
  const firstOpen = (isTrusted: boolean, timezones: readonly string[], from: Date) => {
    const key = `${isTrusted} ${timezones.join()} ${from.getTime()}`;
    let opens = openings.get(key);
    if (!opens) {
      const hours = hoursOf(isTrusted);
      const isOpen = closedReason(hours, timezones, from) === undefined;
      opens = isOpen ? from : nextCallingWindow(hours, timezones, from).opensAt;
      openings.set(key, opens);
    }
    return opens;
  };

  return ({ state, isTrusted, timezones, nextAttemptAt, reason }) => {
    const stored = reason === null ? undefined : (reason as ContactReason);
    if (state === 'dialing' || state === 'done' || state === 'skipped') return stored ? { reason: stored } : {};
    if (hasEnded(campaign.status)) return { reason: ofCampaign! };

    const isDue = nextAttemptAt <= now;
    const held = campaign.limited?.reason ?? (campaign.trunkBusy ? 'trunk_busy' : stored);
    const why = ofCampaign ?? (isDue ? (closedNow(isTrusted, timezones) ?? held) : (stored ?? 'retry_later'));
    if (why === 'no_common_hour') return { reason: why };
    if (!areReadable(timezones)) return { reason: ofCampaign ?? 'invalid_time_zone' };
    const from = [now, nextAttemptAt, campaign.limited?.until ?? now, campaign.startsAt ?? now].reduce((a, b) =>
      a > b ? a : b,
    );
    const next = firstOpen(isTrusted, timezones, from);
    return {
      ...(why && { reason: why }),
      ...(!(campaign.endDate && next >= campaign.endDate) && { nextAttemptAt: next }),
    };
  };
}
