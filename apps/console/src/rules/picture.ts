import type { components } from '@trunkline/client';
import { type Campaign, type Known, number, reasonSays, type Stats, several, type Workspace } from './words.ts';

type Schemas = components['schemas'];

/** What a campaign's state is, in words: what it does now, why, and what can be done. */
export interface Picture {
  /** One of the states that people tell apart; it names the picture. */
  name:
    | 'draft'
    | 'scheduled'
    | 'dialing'
    | 'hours'
    | 'waiting'
    | 'stopped-all'
    | 'held'
    | 'brake'
    | 'agent'
    | 'budget'
    | 'paused'
    | 'completed'
    | 'stopped'
    | 'cancelled'
    | 'failed';
  says: string;
  more?: string;
  /** Whether somebody should do something about it. */
  isWrong?: boolean;
}

interface Seen {
  campaign: Campaign;
  stats: Stats;
  workspace: Workspace | undefined;
  /** Why dialing is held after a restore, as the server says it. */
  held: string | undefined;
}

const HOURS = ['outside_window', 'quiet_hours', 'holiday'];

const FAILURES = {
  no_callable_contacts: 'There was nobody to call.',
  no_outbound_number: 'There was no number to call from.',
  agent_unavailable: 'The agent could not be reached.',
  billing: 'The provider refused for want of money.',
  trunk_failure: 'The trunk failed.',
  internal: 'The server failed; its log says why.',
} satisfies Record<Known<Schemas['CampaignFailureReason']>, string>;

/** How many are left to be called. */
export const leftOf = ({ pending, waiting, dialing }: Stats) => pending + waiting + dialing;

export function pictureOf(seen: Seen): Picture {
  const { campaign, stats } = seen;
  const left = several(leftOf(stats), 'contact');
  switch (campaign.status) {
    case 'draft':
      return { name: 'draft', says: 'A draft. It calls nobody until it is started.' };
    case 'scheduled':
      return { name: 'scheduled', says: 'Scheduled.', more: 'It begins by itself at its time.' };
    case 'running':
      return ofRunning(seen);
    case 'paused':
      return ofPaused(campaign, left);
    case 'completed':
      return {
        name: 'completed',
        says: 'Done.',
        more: `${several(stats.done, 'contact')} called, ${number(stats.skipped)} left out.`,
      };
    case 'stopped':
      return { name: 'stopped', says: 'Stopped for good.', more: `${left} were not called any more.` };
    case 'cancelled':
      return { name: 'cancelled', says: 'Cancelled before it called anybody.' };
    default: {
      const reason = campaign.meta?.failure?.reason;
      return {
        name: 'failed',
        says: 'Failed.',
        more: (reason && (FAILURES as Record<string, string>)[reason]) ?? reason,
        isWrong: true,
      };
    }
  }
}

function ofRunning({ stats, workspace, held }: Seen): Picture {
  if (held) return { name: 'held', says: 'Held after a restore.', more: held, isWrong: true };
  if (workspace?.dialingPausedAt)
    return {
      name: 'stopped-all',
      says: 'Waiting: all dialing is stopped.',
      more: 'The bar above lets it go on.',
      isWrong: true,
    };
  const notYet = stats.reasons?.notYet ?? {};
  if (notYet['agent_failing'])
    return {
      name: 'agent',
      says: 'Waiting: the agent fails.',
      more: 'Mend the agent and test it; a test that reaches it lets this go on.',
      isWrong: true,
    };
  if (stats.dialing > 0) return { name: 'dialing', says: `Dialing: ${several(stats.dialing, 'call')} up.` };
  const [reason, first] = Object.entries(notYet).sort(([, a], [, b]) => b! - a!)[0] ?? [];
  if (!reason)
    return {
      name: 'dialing',
      says: 'Running.',
      more: stats.attempts === 0 ? 'The first calls are being placed.' : undefined,
    };
  const says = `${number(first!)} ${reasonSays(reason)}.`;
  if (HOURS.includes(reason))
    return { name: 'hours', says: 'Waiting for hours.', more: `${says} It goes on by itself when the hours open.` };
  return { name: 'waiting', says: 'Waiting.', more: says };
}

function ofPaused(campaign: Campaign, left: string): Picture {
  switch (campaign.meta?.pause?.reason) {
    case 'calls_failing':
      return {
        ...{ name: 'brake', says: 'It has put on its brake: calls fail.', isWrong: true },
        more: 'Of the last 20 or more calls four in five failed. Mend the trunk, the agent or the list, and resume.',
      };
    case 'agent_failing':
      return {
        ...{ name: 'agent', says: 'It has paused itself: the agent fails.', isWrong: true },
        more: 'In three calls in a row the agent was never heard. Mend it and test it; that resumes this, too.',
      };
    case 'budget_reached':
      return {
        ...{ name: 'budget', says: 'It has spent its budget.', isWrong: true },
        more: `${left} are left. Raise the budget, and resume.`,
      };
    default:
      return { name: 'paused', says: 'Paused.', more: `${left} are left. Calls that were up have finished or will.` };
  }
}

/** What keeps the campaign from going faster, in words. */
export function boundOf(campaign: Campaign, stats: Stats): string | undefined {
  if (campaign.status !== 'running' || leftOf(stats) === 0) return undefined;
  const { callsPerSecond: limit, maxConcurrency } = campaign;
  if (stats.dialing >= maxConcurrency) return `its ${several(maxConcurrency, 'line')} at once`;
  if (limit !== undefined && stats.callsPerSecond >= 0.9 * limit) return `its pace of ${number(limit)} a second`;
  const [reason] = Object.entries(stats.reasons?.notYet ?? {}).sort(([, a], [, b]) => b! - a!)[0] ?? [];
  if (reason) return reasonSays(reason);
  return undefined;
}
