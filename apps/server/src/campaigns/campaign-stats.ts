import type { components } from '@trunkline/client/schema';
import { sql } from 'kysely';
import type { WorkspaceTx } from '../database/database.ts';
import { type CallOutcome, callOutcomes } from '../telephony/gateway.ts';
import type { CampaignRow } from './shape-campaign.ts';

export type CampaignStats = components['schemas']['CampaignStats'];

/** How far back the pace is measured, and over how many calls at most. */
const PACE_MS = 60_000;
const PACE_CALLS = 1000;

/** What `statsOf` reads of a campaign. */
export type Counted = Pick<
  CampaignRow,
  | 'status'
  | 'total_contacts'
  | 'pending'
  | 'waiting'
  | 'in_flight'
  | 'done'
  | 'skipped'
  | 'attempts'
  | 'conversions'
  | 'started_at'
  | 'end_date'
  | 'target_call_count'
  | 'contacts_added'
  | CallOutcome
>;

/**
 * Calls placed per second over the last minute, or since the start. A faster campaign than some 16 a second is measured
 * over its last thousand calls, so that asking costs the same at any pace.
 */
export async function callsPerSecond(tx: WorkspaceTx, campaign: CampaignRow, now: Date): Promise<number> {
  const since = new Date(now.getTime() - PACE_MS);
  if (campaign.started_at === null || campaign.attempts === 0) return 0;
  if (campaign.ended_at !== null && campaign.ended_at <= since) return 0;
  const { rows } = await sql<{ count: number; first: Date | null }>`
    select count(*) as count, min(dialed_at) as first
    from (select dialed_at from calls where workspace_id = ${tx.workspaceId} and campaign_id = ${campaign.id}
      order by id desc limit ${sql.lit(PACE_CALLS)}) as latest
    where dialed_at > ${since}`.execute(tx.db);
  const { count, first } = rows[0]!;
  if (first === null) return 0;
  const start = count < PACE_CALLS ? Math.max(since.getTime(), campaign.started_at.getTime()) : first.getTime();
  return round(count / Math.max(1, (now.getTime() - start) / 1000));
}

/** A campaign's figures, from what its row counts. `pace` is in calls per second. */
export function statsOf(campaign: Counted, pace: number, now: Date): CampaignStats {
  const counts = callOutcomes.map((outcome) => [outcome, campaign[outcome]] as const);
  const ended = counts.reduce((sum, [, count]) => sum + count, 0);
  const end = estimatedEnd(campaign, ended, pace, now);
  return {
    totalContacts: campaign.total_contacts,
    pending: campaign.pending,
    waiting: campaign.waiting,
    dialing: campaign.in_flight,
    done: campaign.done,
    skipped: campaign.skipped,
    attempts: campaign.attempts,
    outcomes: Object.fromEntries(counts.filter(([, count]) => count > 0)),
    ...(ended > 0 && { answerRate: round(campaign.answered / ended) }),
    conversions: campaign.conversions,
    ...(campaign.answered > 0 && { conversionRate: round(Math.min(1, campaign.conversions / campaign.answered)) }),
    callsPerSecond: pace,
    ...(campaign.started_at && { startedAt: campaign.started_at.toISOString() }),
    ...(end && { estimatedEndAt: end.toISOString() }),
  };
}

/** When the contacts that are left, or the answered calls that are wanted, are done at this pace. */
function estimatedEnd(campaign: Counted, ended: number, pace: number, now: Date): Date | undefined {
  if (campaign.status !== 'running' || !campaign.contacts_added || pace === 0) return undefined;
  let calls = campaign.pending + campaign.waiting + campaign.in_flight;
  if (campaign.target_call_count !== null && campaign.answered > 0) {
    const wanted = Math.max(0, campaign.target_call_count - campaign.answered);
    calls = Math.min(calls, (wanted * ended) / campaign.answered);
  }
  const end = new Date(now.getTime() + (calls / pace) * 1000);
  return campaign.end_date && campaign.end_date < end ? campaign.end_date : end;
}

const round = (value: number) => Math.round(value * 10_000) / 10_000;
