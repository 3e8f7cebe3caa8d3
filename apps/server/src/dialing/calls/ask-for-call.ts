import { sql } from 'kysely';
import type { Tx } from '../../foundation/database/database.ts';
import { together } from '../../foundation/database/together.ts';
import { ServiceError } from '../../foundation/values/service-error.ts';
import { callable, providers } from '../../lines/phone-numbers/phone-number.ts';
import { moveStarts, PACE_SLACK_MS, startsWithin, type TrunkRoom, takeStart } from '../../lines/trunks/trunk-room.ts';
import { isDoNotCallNow } from '../../platform/do-not-call/do-not-call-numbers.ts';
import { isUnwritten } from '../../platform/installation/slots.ts';
import { lockLimits, usedOfLimits } from '../../platform/workspace/limits.ts';
import { lockUnprovenRoom } from '../../voices/agents/agent-health.ts';
import { type AgentTerms, agentTerms, callSeconds, joinAgent, lockAgentRoom } from '../../voices/agents/agent-room.ts';
import { numbersAtLimit } from './attempt-limits.ts';
import type { CallAnswer, CallTerms, CallWish } from './call-wish.ts';
import {
  AHEAD_MS,
  after,
  fromNumber,
  fromPool,
  judgePool,
  lookAgainAt,
  trunkBusy,
  withoutCaller,
} from './caller-of-call.ts';
import {
  callerOf,
  type DialTerms,
  dialTerms,
  hourTerms,
  mayDial,
  type PersonTerms,
  readNumber,
  zonesOfCallee,
} from './may-dial.ts';
import { type Caller, countQueued, queueCalls } from './queue-calls.ts';

/** How late a call may be placed that nothing is in the way of, in milliseconds. */
const SLACK_MS = 1000;
/** How far ahead a call over a trunk starts at least, so that its transaction has committed, in milliseconds. */
const LEAD_MS = 250;
/** When a person who is on another call is tried again. */
const BUSY_ELSEWHERE_MS = 30_000;

/**
 * Commits one call as `queued`, if everything that holds for an outbound attempt holds for it: do-not-call, quiet
 * hours, countries, the workspace's limits, one live call a person. It is called in the transaction that moves its
 * owner, before that row is written (dialing.md, "Locks"). Throws `unavailable` if the server was given up.
 */
export async function askForCall(tx: Tx, wish: CallWish, terms: CallTerms): Promise<CallAnswer> {
  const toNumber = readNumber(wish.to)?.toNumber;
  if (toNumber === undefined) return { kind: 'refused', outcome: 'invalid_number' };
  const found = await readTerms(tx, wish, toNumber, terms);
  if (found.recalled) return { kind: 'refused', outcome: 'unknown', ...found.recalled };
  const caller = callerOf(found, terms.isSimulated);
  const judge = (simulated: boolean) => mayDial(toNumber, found, terms.now, simulated, wish.hours);
  // Without a number nothing rings either.
  const { answer, isSimulated } =
    'poolId' in wish.from
      ? await judgePool(tx, wish.workspaceId, wish.from.poolId, judge, terms)
      : { answer: judge(caller?.simulated ?? true), isSimulated: terms.isSimulated };
  if (answer && 'refused' in answer) return { kind: 'refused', outcome: answer.refused };
  if (answer) return { kind: 'blocked', reason: answer.blocked, ...(answer.until && { until: answer.until }) };
  if (found.is_unwritten)
    return { kind: 'blocked', reason: 'witness_unreachable', until: lookAgainAt(wish, terms.now) };
  const person = { toNumber, timezones: zonesOfCallee(toNumber, wish.hours) };
  const freeAt = (await numbersAtLimit(tx, wish.workspaceId, found, [person], terms.now)).get(toNumber);
  if (freeAt) return { kind: 'blocked', reason: 'limit_reached', until: freeAt };
  const isLimited = found.limited_agent_id !== null;
  if (isLimited && (await lockAgentRoom(tx, wish.workspaceId, wish.agentId!))?.left === 0)
    return { kind: 'blocked', reason: 'limit_reached', until: lookAgainAt(wish, terms.now) };
  // Simulated calls have no agent.
  const mayRing =
    'poolId' in wish.from ? providers.some((each) => isSimulated(each) === false) : caller?.simulated === false;
  const braked = mayRing && wish.agentId !== null && (await brakedBy(tx, wish, wish.agentId, found, terms.now));
  if (braked) return braked;
  const ofHours = { ...terms, isSimulated };
  const { caller: chosen, trunk } =
    'poolId' in wish.from
      ? await fromPool(tx, wish, wish.from.poolId, toNumber, ofHours)
      : await fromNumber(tx, caller, wish.workspaceId);
  if (!chosen) return withoutCaller(tx, wish, toNumber, ofHours);
  if (trunk && !startsWithin(trunk, terms.now, after(terms.now, AHEAD_MS))) {
    return trunk.isActive ? trunkBusy(wish, trunk.nextStartAt, terms.now) : { kind: 'blocked', reason: 'trunk_paused' };
  }
  const ofAgent = {
    limitedAgentId: found.limited_agent_id,
    doNotCallRevision: found.do_not_call_revision,
    maxCallSeconds: callSeconds(wish.maxCallSeconds, found),
  };
  return queueCall(tx, { ...wish, ...ofAgent }, toNumber, { caller: chosen, trunk }, terms);
}

/** Whether the agent fails, or has as many calls up as one that was not heard yet may. */
async function brakedBy(
  tx: Tx,
  wish: CallWish,
  agentId: string,
  { agent_failing, agent_unproven, agent_failures, agent_limited_until: limitedUntil }: AgentTerms,
  now: Date,
): Promise<CallAnswer | undefined> {
  if (agent_failing) return { kind: 'blocked', reason: 'agent_failing' };
  if (limitedUntil && limitedUntil > now) return { kind: 'blocked', reason: 'limit_reached', until: limitedUntil };
  if (!agent_unproven || (await lockUnprovenRoom(tx, wish.workspaceId, agentId, agent_failures)) > 0) return undefined;
  return { kind: 'blocked', reason: 'agent_unproven', until: lookAgainAt(wish, now) };
}

/** What is read of a call before it is judged. */
type FoundTerms = PersonTerms &
  DialTerms &
  AgentTerms & {
    /** Whether this server can't tell its witness of calls. */
    is_unwritten: boolean;
    /** The owner's next call that was placed before its database was restored; null as a rule. */
    recalled: { roomId: string; attempt: number } | null;
  };

/** A workspace with limits is locked first, so that what is counted can't change before the commit. */
async function readTerms(
  tx: Tx,
  { workspaceId, owner, attempt, from, agentId }: CallWish,
  toNumber: number,
  { serverId, now, operator }: CallTerms,
): Promise<FoundTerms> {
  const doNotCall = isDoNotCallNow(sql`${toNumber}::bigint`, sql`${workspaceId}::uuid`);
  const [, { rows }] = await together(tx, [
    () => lockLimits(tx, workspaceId, operator),
    sql<Omit<FoundTerms, 'operator'>>`
      select w.dialing_paused_at is not null as dialing_paused, ${hourTerms}, ${dialTerms}, ${agentTerms()},
        ${usedOfLimits(now, operator)},
        ${doNotCall} as do_not_call, ${isUnwritten(serverId)} as is_unwritten,
        (select jsonb_build_object('roomId', id, 'attempt', attempt) from calls
          where workspace_id = w.id and owner_id = ${owner.id} and attempt >= ${attempt}
          order by workspace_id, owner_id, attempt limit 1) as recalled
      from workspaces w
      join servers s on s.id = ${serverId}
      left join phone_numbers n on n.workspace_id = w.id and n.phone_number = ${'number' in from ? from.number : null}
        and n.status <> 'released' and ${callable}
      ${joinAgent(sql.ref('w.id'), sql`${agentId}::text`, true)}
      where w.id = ${workspaceId}
      for key share of s`,
  ]);
  if (!rows[0]) throw new ServiceError('unavailable', 'This server was given up. Try again.');
  return { ...rows[0], operator };
}

async function queueCall(
  tx: Tx,
  wish: CallWish & { limitedAgentId: string | null; doNotCallRevision: number },
  toNumber: number,
  { caller, trunk }: { caller: Caller; trunk: TrunkRoom | undefined },
  { serverId, now }: CallTerms,
): Promise<CallAnswer> {
  const { workspaceId, owner, attempt, agentId, variables } = wish;
  const { ringTimeoutSeconds, maxCallSeconds, recording, voicemail } = wish;
  const shared = {
    workspaceId,
    ownerKind: owner.kind,
    campaignId: null,
    serverId,
    agentId,
    limitedAgentId: wish.limitedAgentId,
    doNotCallRevision: wish.doNotCallRevision,
    ringTimeoutSeconds,
    maxCallSeconds,
    recording,
    voicemail,
    ...(wish.tags && { tags: wish.tags }),
  };
  const slackMs = trunk && wish.asksAgain ? PACE_SLACK_MS : SLACK_MS;
  const startAt = trunk ? takeStart(trunk, after(now, LEAD_MS), slackMs) : now;
  const placeBefore = after(startAt, slackMs);
  const { roomId, metadata, externalId, callBacks = 0 } = wish;
  const { callingWindows, timezone, calleeTimeZone, ownTimezone, holidays } = wish.hours;
  const callBackTerms = { times: callBacks, callingWindows, timezone, calleeTimeZone, ownTimezone, holidays };
  const named = { ...(roomId && { roomId }), ...(externalId && { externalId }) };
  const own = { ...named, ...(metadata && { metadata }), callBackTerms };
  const wanted = { ownerId: owner.id, toNumber, caller, attempt, startAt, placeBefore, variables, ...own };
  const [call] = await queueCalls(tx, { ...shared, now }, [wanted]);
  if (!call) {
    return { kind: 'blocked', reason: 'already_on_a_call', until: new Date(now.getTime() + BUSY_ELSEWHERE_MS) };
  }
  await countQueued(tx, workspaceId, [caller], now);
  await moveStarts(tx, workspaceId, trunk ? [trunk] : []);
  return { kind: 'queued', call };
}
