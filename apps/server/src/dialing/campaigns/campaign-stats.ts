import { sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { rate } from '../../foundation/values/rate.ts';
import { type CallOutcome, callOutcomes } from '../../lines/telephony/call-outcome.ts';
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
  | 'conversions'
  | 'talk_ms'
  | 'started_at'
  | 'end_date'
  | 'target_call_count'
  | 'contacts_added'
  | CallOutcome
>;

/** What a campaign's row does not say. */
interface Placed {
  /** Calls placed so far. The row counts those too that were claimed and wait for their start. */
  attempts: number;
  /** Calls placed per second over the last minute, or since the start. */
  pace: number;
}

/**
 * A campaign's figures. A faster campaign than some 16 calls a second is measured over its last thousand calls, so that
 * asking costs the same at any pace.
 */
export async function readStats(tx: WorkspaceTx, campaign: CampaignRow, now: Date): Promise<CampaignStats> {
  return statsOf(campaign, await readPlaced(tx, campaign, now), now);
}

async function readPlaced(tx: WorkspaceTx, campaign: CampaignRow, now: Date): Promise<Placed> {
  const { id, started_at, ended_at, attempts } = campaign;
  const since = new Date(now.getTime() - PACE_MS);
  if (started_at === null || attempts === 0 || (ended_at && ended_at <= since)) return { attempts, pace: 0 };
  const { rows } = await sql<{ attempts: number; count: number; first: Date | null }>`
    select c.attempts - (select count(*) from (
        select campaign_id from calls where workspace_id = ${tx.workspaceId} and ended_at is null and status = 'queued' offset 0)
        as q where q.campaign_id = c.id)::int as attempts, latest.*
    from campaigns c, (select count(*) as count, min(dialed_at) as first
      from (select dialed_at from calls where workspace_id = ${tx.workspaceId} and campaign_id = ${id}
        order by id desc limit ${sql.lit(PACE_CALLS)}) as l
      where dialed_at > ${since}) as latest
    where c.workspace_id = ${tx.workspaceId} and c.id = ${id}`.execute(tx.db);
  const { count, first, ...placed } = rows[0] ?? { attempts, count: 0, first: null };
  if (first === null) return { ...placed, pace: 0 };
  const start = count < PACE_CALLS ? Math.max(since.getTime(), started_at.getTime()) : first.getTime();
  return { ...placed, pace: rate(count, Math.max(1, (now.getTime() - start) / 1000)) };
}

/** A campaign's figures, from what its row counts and what was placed. */
export function statsOf(campaign: Counted, { attempts, pace }: Placed, now: Date): CampaignStats {
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
    attempts,
    outcomes: Object.fromEntries(counts.filter(([, count]) => count > 0)),
    ...(ended > 0 && { answerRate: rate(campaign.answered, ended) }),
    talkSeconds: campaign.talk_ms / 1000,
    conversions: campaign.conversions,
    ...(campaign.answered > 0 && { conversionRate: Math.min(1, rate(campaign.conversions, campaign.answered)) }),
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
