import { sql } from 'kysely';
import type { EngineTx } from '../../../foundation/database/database.ts';
import type { Row } from '../../../foundation/database/schema.ts';
import { together } from '../../../foundation/database/together.ts';
import { spread } from '../../../foundation/values/spread.ts';
import { callable, providers } from '../../../lines/phone-numbers/phone-number.ts';
import { type DoNotCallUploads, doNotCallUploadsAsJson } from '../../../platform/do-not-call/do-not-call-numbers.ts';
import {
  hasLimits,
  leftOfLimits,
  lockLimits,
  type UsedOfLimits,
  usedOfLimits,
  waitingForRoom,
} from '../../../platform/workspace/limits.ts';
import type { OperatorLimits } from '../../../platform/workspace/operator-limits.ts';
import { lockUnprovenRoom } from '../../../voices/agents/agent-health.ts';
import { type AgentTerms, agentTerms, joinAgent, lockAgentRoom } from '../../../voices/agents/agent-room.ts';
import { type DialTerms, dialTerms, type IsSimulated } from '../../calls/may-dial.ts';
import type { CampaignKey } from '../campaign.ts';
import type { ScheduleRow } from '../lanes.ts';

type ClaimedColumn =
  | ('workspace_id' | 'id' | 'timezone' | 'agent_id' | 'number_pool_id' | 'max_concurrency' | 'in_flight' | 'recording')
  | 'voicemail_terms'
  | ('calls_per_second' | 'next_start_at' | 'target_call_count' | 'answered' | 'metadata' | 'tags')
  | ('ring_timeout_seconds' | 'max_call_seconds' | 'require_consent')
  | ('attempts' | 'talk_ms' | 'budget_calls' | 'budget_minutes');

/** A campaign under the claim's lock, with what its workspace and its number allow. */
export interface ClaimedCampaign extends ScheduleRow, DialTerms, AgentTerms, Pick<Row<'campaigns'>, ClaimedColumn> {
  /** The uploads with numbers that must not be called. */
  do_not_call_uploads: DoNotCallUploads;
  /** Of its workspace; E.164 without the plus. */
  trusted_numbers: number[];
}

/**
 * Locks a running campaign that is due, unless it is past its `endDate`, another server holds it or the workspace has
 * stopped dialing. Its limits are columns of the locked row; counts are read by later statements (dialing.md,
 * "Claims"). The server's own row is locked too: calls under the name of a server that was given up meanwhile would be
 * looked for by nobody. A workspace with limits is locked before all, so that claims of its campaigns come one after
 * another (dialing.md, "Locks"); one that got its first limit just now is passed over. The number is read by its key,
 * however many the workspace has: `offset 0` keeps its status from bringing in another index. It touches 19 buffers,
 * and the lock of limits 3, at 10⁴ contacts as at 10⁶.
 */
export async function lockForClaim(
  tx: EngineTx,
  key: CampaignKey,
  { serverId, now, operator }: { serverId: string; now: Date; operator: OperatorLimits },
): Promise<ClaimedCampaign | undefined> {
  const [isLocked, { rows }] = await together(tx, [
    () => lockLimits(tx, key.workspaceId, operator),
    sql<Omit<ClaimedCampaign, 'operator'>>`
      select c.workspace_id, c.id, c.timezone, c.agent_id, c.number_pool_id, c.max_concurrency, c.in_flight,
        c.calls_per_second, c.next_start_at, c.target_call_count, c.answered, c.ring_timeout_seconds, c.max_call_seconds,
        c.attempts, c.talk_ms, c.budget_calls, c.budget_minutes, c.recording, c.voicemail_terms, c.require_consent, c.schedule_start, c.schedule_end, c.schedule_days, c.calling_windows, c.holidays, c.metadata, c.tags,
        ${dialTerms}, ${agentTerms(sql.ref('c.started_at'))}, w.trusted_numbers,
        ${doNotCallUploadsAsJson(sql.ref('c.workspace_id'), sql.ref('c.id'))} as do_not_call_uploads
      from campaigns c
      join workspaces w on w.id = c.workspace_id
      join servers s on s.id = ${serverId}
      left join lateral (select * from phone_numbers
        where workspace_id = c.workspace_id and id = c.phone_number_id offset 0) as n on ${callable}
      ${joinAgent(sql.ref('c.workspace_id'), sql.ref('c.agent_id'), true)}
      where c.workspace_id = ${key.workspaceId} and c.id = ${key.campaignId} and c.status = 'running' and c.relaning_after is null
        and c.next_claim_at <= ${now} and (c.end_date is null or c.end_date > ${now}) and w.dialing_paused_at is null
      for no key update of c skip locked for key share of s`,
  ]);
  const campaign = rows[0] && { ...rows[0], operator };
  return campaign && hasLimits(campaign) && !isLocked ? undefined : campaign;
}

/** Whether a telephone may ring for calls of a campaign: simulated ones have no agent. Only of a pool something is asked. */
export async function mayRing(
  tx: EngineTx,
  { workspace_id, number_pool_id, provider }: ClaimedCampaign,
  isSimulated: IsSimulated,
): Promise<boolean> {
  if (number_pool_id === null) return provider !== null && isSimulated(provider) === false;
  const ringing = providers.filter((each) => isSimulated(each) === false);
  if (ringing.length === 0) return false;
  const { rows } = await sql`
    select from number_usage u join phone_numbers n on n.workspace_id = u.workspace_id and n.id = u.phone_number_id
    where u.workspace_id = ${workspace_id} and u.pool_id = ${number_pool_id} and n.provider = any(${ringing}::text[]) limit 1`.execute(
    tx.db,
  );
  return rows.length > 0;
}

/** The most runs, and the most calls by themselves, that a claim leaves room for. */
const MOST_OTHERS = 50;

/**
 * How many of the calls that a workspace has room for a claim leaves to the workflow runs and the calls by themselves that
 * wait for room: half of them, and of an odd one every second time, so that neither starves.
 */
function leftToOthers(others: number, room: number, now: Date): number {
  const half = room / 2;
  return Math.min(others, spread(now.getTime()) < 0.5 ? Math.floor(half) : Math.ceil(half));
}

/** How many others wait for room, as far as a claim leaves them some. */
async function othersWaiting(tx: EngineTx, workspaceId: string, now: Date): Promise<number> {
  const { rows } = await sql<{ others: number }>`
    select ${waitingForRoom(sql`${workspaceId}`, now, MOST_OTHERS)} as others`.execute(tx.db);
  return rows[0]!.others;
}

/**
 * How many calls may be started now, at most `most`. What is counted here can't change before the claim's end. 8 to 14
 * buffers at 50 calls that are up.
 */
export async function roomForCalls(
  tx: EngineTx,
  campaign: ClaimedCampaign,
  { most, now, isSimulated }: { most: number; now: Date; isSimulated: IsSimulated },
): Promise<number> {
  const { in_flight, answered, target_call_count } = campaign;
  const rooms = [most, campaign.max_concurrency - in_flight];
  if (target_call_count !== null) rooms.push(target_call_count - answered - in_flight);
  if (hasLimits(campaign)) {
    const { rows } = await sql<UsedOfLimits & { others: number }>`
      select ${usedOfLimits(now, campaign.operator)}, case when w.max_concurrent_calls is null then 0 else
        ${waitingForRoom(sql`w.id`, now, MOST_OTHERS)} end as others
      from workspaces w where w.id = ${campaign.workspace_id}`.execute(tx.db);
    const left = leftOfLimits(campaign, rows[0]!);
    rooms.push(left.now - leftToOthers(rows[0]!.others, Math.max(0, left.now), now), left.today);
  }
  if (campaign.limited_agent_id !== null) {
    const { left = undefined } = (await lockAgentRoom(tx, campaign.workspace_id, campaign.agent_id)) ?? {};
    if (left) rooms.push(left - leftToOthers(await othersWaiting(tx, campaign.workspace_id, now), left, now));
    else if (left === 0) rooms.push(0);
  }
  const { workspace_id, agent_id, agent_unproven, agent_failures, agent_limited_until: limitedUntil } = campaign;
  if (limitedUntil && limitedUntil > now && (await mayRing(tx, campaign, isSimulated))) rooms.push(0);
  if (agent_unproven && (await mayRing(tx, campaign, isSimulated)))
    rooms.push(await lockUnprovenRoom(tx, workspace_id, agent_id, agent_failures));
  return Math.max(0, Math.min(...rooms));
}
