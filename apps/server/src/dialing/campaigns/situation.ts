import { sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { nextUtcDay } from '../../foundation/values/clock.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { notFound } from '../../foundation/values/service-error.ts';
import type { Provider } from '../../lines/phone-numbers/phone-number.ts';
import { areAllUnwritten } from '../../platform/installation/slots.ts';
import {
  type CallLimits,
  type LeftOfLimits,
  leftOfLimits,
  type UsedOfLimits,
  usedOfLimits,
} from '../../platform/workspace/limits.ts';
import type { OperatorLimits } from '../../platform/workspace/operator-limits.ts';
import { type HealthTerms, healthTerms, liveCallsOfAgent, unprovenRoom } from '../../voices/agents/agent-health.ts';
import { joinAgent } from '../../voices/agents/agent-room.ts';
import { hourTerms, type IsSimulated } from '../calls/may-dial.ts';
import { type QuietHoursRow, withoutDefault } from '../calls/quiet-hours.ts';
import type { CampaignSituation } from './explain-contact.ts';
import { callingHours } from './lanes.ts';
import { whyNoCaller } from './preview/preview-callers.ts';
import { type CampaignRow, startsAt } from './shape-campaign.ts';

/** What a workspace says about the calls of a campaign. */
export interface Situation extends CampaignSituation {
  workspace: { allowed_countries: string[] | null; premium_rate_allowed: boolean; operator: OperatorLimits };
  /** Whether a telephone may ring for its calls. */
  rings: boolean;
  /** How many more calls its agent takes now. */
  agentRoom: number;
  /** Whether its calls keep quiet hours that nobody has set; undefined where somebody has. */
  defaultQuietHours: components['schemas']['DefaultQuietHours'] | undefined;
  /** The numbers that are free of those in any case: E.164 without the plus. */
  trusted: number[];
}

/** What a server says beside what the workspace does. */
export interface SituationTerms {
  providers: readonly Provider[];
  operator: OperatorLimits;
  isSimulated: IsSimulated;
}

/** What decides whether and when a campaign's contacts are called, from a time on. */
export async function situationOf(
  tx: WorkspaceTx,
  campaign: CampaignRow,
  at: Date,
  { providers, operator, isSimulated }: SituationTerms,
): Promise<Situation> {
  const { agent_id: agentId } = campaign;
  const { rows } = await sql<Omit<WorkspaceRow, 'operator'>>`
    select ${hourTerms}, w.dialing_paused_at, w.allowed_countries,
      ${providersOf(campaign)} as callers, ${healthTerms(sql`${campaign.started_at}::timestamptz`)},
      ${liveCallsOfAgent(sql`w.id`, sql`${agentId}::text`)} as agent_live,
      w.premium_rate_allowed, w.max_concurrent_calls, w.max_calls_per_day, w.max_attempts_per_person_per_day,
      w.max_attempts_per_person,
      ${usedOfLimits(at, operator)}, ${areAllUnwritten} as is_unwritten, coalesce(a.max_concurrent_calls, e.max_concurrent_calls) - (select count(*) from calls
        where workspace_id = w.id and limited_agent_id = coalesce(e.id, a.id) and ended_at is null) as agent_room
    from workspaces w ${joinAgent(sql.ref('w.id'), sql`${agentId}::text`)} where w.id = ${tx.workspaceId}`.execute(
    tx.db,
  );
  if (!rows[0]) throw notFound();
  const workspace: WorkspaceRow = { ...rows[0], operator };
  const noCaller = await whyNoCaller(tx, campaign, at, providers);
  const agentRoom = Math.max(0, workspace.agent_room ?? Number.POSITIVE_INFINITY);
  const keepsDefault = workspace.quiet_hours_are_default;
  const defaultQuietHours = keepsDefault ? whoKeepsDefault(workspace.callers, isSimulated) : undefined;
  const freeHours = callingHours(campaign, withoutDefault(workspace));
  const rings = workspace.callers.some((provider) => isSimulated(provider) === false);
  const { agent_limited_until: limitedUntil } = workspace;
  const isUnproven =
    rings && workspace.agent_unproven && unprovenRoom(workspace.agent_live, workspace.agent_failures) === 0;
  const isFull = noCaller === 'limit_reached' || agentRoom === 0 || isAtOwnLimit(campaign);
  return {
    status: campaign.status,
    targetCallCount: campaign.target_call_count,
    answered: campaign.answered,
    startsAt: campaign.status === 'scheduled' ? startsAt(campaign) : null,
    endDate: campaign.end_date,
    dialingPaused: workspace.dialing_paused_at !== null,
    isUnwritten: workspace.is_unwritten,
    noCaller: noCaller === 'no_caller_id' || noCaller === 'trunk_paused' ? noCaller : undefined,
    trunkBusy: noCaller === 'trunk_busy',
    limited:
      limited(campaign, leftOfLimits(workspace, workspace), isFull, at) ??
      (isUnproven ? { until: at, reason: 'agent_unproven' } : undefined) ??
      (rings && limitedUntil && limitedUntil > at ? { until: limitedUntil, reason: 'limit_reached' } : undefined),
    agentFailing: campaign.pause_reason === 'agent_failing',
    hours: defaultQuietHours === 'simulated' ? freeHours : callingHours(campaign, workspace),
    freeHours,
    workspace,
    rings,
    agentRoom,
    defaultQuietHours,
    trusted: defaultQuietHours ? workspace.trusted_numbers : [],
  };
}

type WorkspaceRow = Situation['workspace'] &
  QuietHoursRow &
  CallLimits &
  UsedOfLimits &
  HealthTerms & {
    dialing_paused_at: Date | null;
    is_unwritten: boolean;
    agent_room: number | null;
    trusted_numbers: number[];
    callers: string[];
    agent_live: number;
  };

/** SQL for the providers of the numbers that a campaign calls from, each once. */
const providersOf = ({ phone_number_id, number_pool_id }: CampaignRow) => sql`
  array(select distinct n.provider from phone_numbers n where n.workspace_id = w.id and (n.id = ${phone_number_id}
    or n.id in (select phone_number_id from number_usage where workspace_id = w.id and pool_id = ${number_pool_id})))`;

/** Of what is not configured here nothing rings. */
function whoKeepsDefault(callers: readonly string[], isSimulated: IsSimulated): Situation['defaultQuietHours'] {
  if (!callers.some(isSimulated)) return 'held';
  return callers.some((provider) => isSimulated(provider) === false) ? 'mixed' : 'simulated';
}

/** Whether a campaign has as many calls up as it may, or as can still be answered, or has placed as many as it may. */
const isAtOwnLimit = ({ in_flight, max_concurrency, target_call_count, answered, ...spent }: CampaignRow): boolean =>
  in_flight >= max_concurrency ||
  (target_call_count !== null && answered + in_flight >= target_call_count) ||
  (spent.budget_calls !== null && spent.attempts >= spent.budget_calls) ||
  (spent.budget_minutes !== null && spent.talk_ms >= spent.budget_minutes * 60_000);

/** Until when at least a limit lets nobody be called: the day's, the pace, or one of calls at the same time. */
function limited(
  { calls_per_second, next_start_at }: CampaignRow,
  left: LeftOfLimits,
  isFull: boolean,
  at: Date,
): Situation['limited'] {
  if (left.today <= 0) return { until: nextUtcDay(at), reason: left.reasonOfDay };
  if (calls_per_second !== null && next_start_at > at) return { until: next_start_at, reason: 'limit_reached' };
  return isFull || left.now <= 0 ? { until: at, reason: 'limit_reached' } : undefined;
}
