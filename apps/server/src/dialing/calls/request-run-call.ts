import { isDeepStrictEqual } from 'node:util';
import { sql } from 'kysely';
import type { Tx } from '../../foundation/database/database.ts';
import { together } from '../../foundation/database/together.ts';
import { ServiceError } from '../../foundation/values/service-error.ts';
import { spread } from '../../foundation/values/spread.ts';
import { pickPoolNumber } from '../../lines/number-pools/choose-numbers.ts';
import { outlooksFor, poolFreeAt } from '../../lines/number-pools/free-at.ts';
import { countryOfNumber } from '../../lines/phone-numbers/numbering-plan.ts';
import { callable, providers } from '../../lines/phone-numbers/phone-number.ts';
import {
  lockTrunkRooms,
  moveStarts,
  PACE_SLACK_MS,
  startsWithin,
  type TrunkRoom,
  takeStart,
} from '../../lines/trunks/trunk-room.ts';
import { isDoNotCallNow } from '../../platform/do-not-call/do-not-call-numbers.ts';
import { isUnwritten } from '../../platform/installation/slots.ts';
import { lockLimits, usedOfLimits } from '../../platform/workspace/limits.ts';
import type { OperatorLimits } from '../../platform/workspace/operator-limits.ts';
import { type AgentTerms, agentTerms, callSeconds, joinAgent, lockAgentRoom } from '../../voices/agents/agent-room.ts';
import { numbersAtLimit } from './attempt-limits.ts';
import {
  type CalleeHours,
  callerOf,
  type DialObstacle,
  type DialTerms,
  dialTerms,
  hourTerms,
  type IsSimulated,
  mayDial,
  type PersonTerms,
  readNumber,
  zonesOfCallee,
} from './may-dial.ts';
import type { CallToPlace } from './place-calls.ts';
import { type Caller, countQueued, queueCalls } from './queue-calls.ts';

/** How late a call of a run, or a test call, may be placed, in milliseconds. */
const SLACK_MS = 1000;
/** How far ahead a run's call over a trunk starts at least, so that its transaction has committed, in milliseconds. */
const RUN_LEAD_MS = 250;
/** How far ahead it may start at most, for the trunk's pace, in milliseconds. */
const AHEAD_MS = 2000;
/** Within so long runs look again for room of a trunk or an agent, each at another time, in milliseconds. */
const BUSY_MS = 5000;
/** When a person who is on another call is tried again. */
const BUSY_ELSEWHERE_MS = 30_000;

/** A call that a workflow run wants to place, or somebody by itself, or as a test. */
export interface RunCallWish {
  workspaceId: string;
  /** UUID of the run, if it is one that wants it. */
  runId: string | null;
  /** UUID of the call's room, where it has one already. */
  roomId?: string;
  /** Counts every dial, from 1. */
  attempt: number;
  /** E.164. */
  to: string;
  /** What to call from: a number of the workspace in E.164, or the UUID of a pool. */
  from: { number: string } | { poolId: string };
  /** Null for a test call. */
  agentId: string | null;
  variables: Record<string, string>;
  metadata?: Record<string, string>;
  externalId?: string | null;
  tags?: string[] | null;
  ringTimeoutSeconds: number;
  maxCallSeconds: number;
  recording: boolean;
  /** When the callee may be called. */
  hours: CalleeHours;
}

export interface RunCallTerms {
  serverId: string;
  now: Date;
  isSimulated: IsSimulated;
  operator: OperatorLimits;
}

/** What a call lacks; the words are those of a campaign contact's `reason`. */
export type RunCallObstacle =
  | DialObstacle
  | 'witness_unreachable'
  | 'no_caller_id'
  | 'trunk_busy'
  | 'trunk_paused'
  | 'already_on_a_call';

/**
 * - `queued`: committed with the transaction, held by this server, to be placed after it.
 * - `refused`: this person is not to be called, now or later; the outcome of an attempt that is not made. `unknown` is that of
 *   one that was made, and that a restored database had lost (`recall-calls.ts`).
 * - `blocked`: not now. `until` is when it may be different, where that is known.
 */
export type RunCallAnswer =
  | { kind: 'queued'; call: CallToPlace }
  | { kind: 'refused'; outcome: 'do_not_call' | 'invalid_number' }
  | { kind: 'refused'; outcome: 'unknown'; roomId: string; attempt: number }
  | { kind: 'blocked'; reason: RunCallObstacle; until?: Date };

/**
 * Commits one call as `queued`, if everything that holds for an outbound attempt holds for it: do-not-call, quiet
 * hours, countries, the workspace's limits, one live call a person. It is called in the transaction that moves the run
 * or the intent, before that row is written (dialing.md, "Locks"). Throws `unavailable` if the server was given up.
 */
export async function requestRunCall(tx: Tx, wish: RunCallWish, terms: RunCallTerms): Promise<RunCallAnswer> {
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
  const isLimited = found.limited_agent_id !== null && wish.agentId !== null;
  if (isLimited && (await lockAgentRoom(tx, wish.workspaceId, wish.agentId!))?.left === 0)
    return { kind: 'blocked', reason: 'limit_reached', until: lookAgainAt(wish, terms.now) };
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
  return queueRunCall(tx, { ...wish, ...ofAgent }, toNumber, { caller: chosen, trunk }, terms);
}

/**
 * Whether a person may be called from a pool, and from which of its numbers: while only the hours that nobody has set are in
 * the way, from those for which no telephone rings, if it has one that is ready.
 */
async function judgePool(
  tx: Tx,
  workspaceId: string,
  poolId: string,
  judge: (simulated: boolean) => ReturnType<typeof mayDial>,
  { now, isSimulated }: RunCallTerms,
): Promise<{ answer: ReturnType<typeof mayDial>; isSimulated: IsSimulated }> {
  const answer = judge(false);
  const free = answer && 'blocked' in answer ? judge(true) : answer;
  if (!answer || isDeepStrictEqual(answer, free)) return { answer, isSimulated };
  const simulators = providers.filter((provider) => isSimulated(provider));
  const isReady = await poolFreeAt(tx, { workspaceId, poolId, now, providers: simulators });
  return { answer: isReady ? free : answer, isSimulated: (provider) => isSimulated(provider) || undefined };
}

const after = (now: Date, milliseconds: number) => new Date(now.getTime() + milliseconds);

/** A number to call from, and its trunk, held, where it has one. */
interface HeldCaller {
  caller: Caller | undefined;
  trunk: TrunkRoom | undefined;
}

async function fromNumber(tx: Tx, caller: Caller | undefined, workspaceId: string): Promise<HeldCaller> {
  const [trunk] = await lockTrunkRooms(tx, workspaceId, caller?.trunkId ? [caller.trunkId] : []);
  return { caller, trunk };
}

/** Runs that wait for one trunk or agent look at different times: all at once they would only take turns at its lock. */
const lookAgainAt = (wish: RunCallWish, from: Date) =>
  after(from, spread(wish.runId ?? wish.roomId ?? wish.to, from.getTime()) * BUSY_MS);

function trunkBusy(wish: RunCallWish, freeAt: Date, now: Date): RunCallAnswer {
  return { kind: 'blocked', reason: 'trunk_busy', until: lookAgainAt(wish, freeAt > now ? freeAt : now) };
}

/** Why there is no number to call from: those that there are wait for their trunks, or these are paused, or neither. */
async function withoutCaller(
  tx: Tx,
  wish: RunCallWish,
  toNumber: number,
  { now, isSimulated }: RunCallTerms,
): Promise<RunCallAnswer> {
  const { workspaceId, from } = wish;
  if ('poolId' in from) {
    const callee = { toNumber, country: countryOfNumber(toNumber) };
    const configured = providers.filter((provider) => isSimulated(provider) !== undefined);
    const query = { workspaceId, poolId: from.poolId, now, providers: configured };
    const [outlook] = await outlooksFor(tx, query, [callee]);
    const { refusal, freeAt } = outlook!;
    if (refusal === 'invalid_number') return { kind: 'refused', outcome: refusal };
    const soon = freeAt !== undefined && freeAt > now && freeAt < after(now, 2 * BUSY_MS);
    return soon ? trunkBusy(wish, freeAt, now) : { kind: 'blocked', reason: 'no_caller_id' };
  }
  const { rows } = await sql`
    select from phone_numbers n join trunks t on t.workspace_id = n.workspace_id and t.id = n.trunk_id
    where n.workspace_id = ${workspaceId} and n.phone_number = ${from.number} and n.status = 'active' and t.status = 'paused'
    limit 1`.execute(tx.db);
  return { kind: 'blocked', reason: rows.length > 0 ? 'trunk_paused' : 'no_caller_id' };
}

/** A member of the wish's pool that can call now, rather another than the run's last attempt had. */
async function fromPool(
  tx: Tx,
  { workspaceId, runId, attempt }: RunCallWish,
  poolId: string,
  to: number,
  { now, isSimulated }: RunCallTerms,
): Promise<HeldCaller> {
  const avoid = runId === null ? undefined : await lastNumber(tx, workspaceId, runId, attempt);
  const picked = await pickPoolNumber(tx, workspaceId, poolId, {
    ...{ to, now, isSimulated, avoid },
    lastStart: after(now, AHEAD_MS),
  });
  if (!picked) return { caller: undefined, trunk: undefined };
  const { trunk, ...number } = picked;
  return { caller: { ...number, simulated: isSimulated(number.provider)!, pooled: true }, trunk };
}

/** The number that a run's last attempt was placed from. */
async function lastNumber(tx: Tx, workspaceId: string, runId: string, attempt: number) {
  const { rows } = await sql<{ phone_number_id: string }>`
    select phone_number_id from calls
    where workspace_id = ${workspaceId} and workflow_run_id = ${runId} and attempt = ${attempt - 1}`.execute(tx.db);
  return rows[0]?.phone_number_id;
}

/** What is read of a call before it is judged. */
type FoundTerms = PersonTerms &
  DialTerms &
  AgentTerms & {
    /** Whether this server can't tell its witness of calls. */
    is_unwritten: boolean;
    /** The run's next call that was placed before its database was restored; null as a rule. */
    recalled: { roomId: string; attempt: number } | null;
  };

/** A workspace with limits is locked first, so that what is counted can't change before the commit. */
async function readTerms(
  tx: Tx,
  { workspaceId, runId, attempt, from, agentId }: RunCallWish,
  toNumber: number,
  { serverId, now, operator }: RunCallTerms,
): Promise<FoundTerms> {
  const doNotCall = isDoNotCallNow(sql`${toNumber}::bigint`, sql`${workspaceId}::uuid`);
  const [, { rows }] = await together(tx, [
    () => lockLimits(tx, workspaceId, operator),
    sql<Omit<FoundTerms, 'operator'>>`
      select w.dialing_paused_at is not null as dialing_paused, ${hourTerms}, ${dialTerms}, ${agentTerms},
        ${usedOfLimits(now, operator)},
        ${doNotCall} as do_not_call, ${isUnwritten(serverId)} as is_unwritten,
        (select jsonb_build_object('roomId', id, 'attempt', attempt) from calls
          where workspace_id = w.id and workflow_run_id = ${runId} and attempt >= ${attempt}
          order by workspace_id, workflow_run_id, attempt limit 1) as recalled
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

async function queueRunCall(
  tx: Tx,
  wish: RunCallWish & { limitedAgentId: string | null; doNotCallRevision: number },
  toNumber: number,
  { caller, trunk }: { caller: Caller; trunk: TrunkRoom | undefined },
  { serverId, now }: RunCallTerms,
): Promise<RunCallAnswer> {
  const { workspaceId, runId: workflowRunId, attempt, agentId, variables } = wish;
  const { ringTimeoutSeconds, maxCallSeconds, recording } = wish;
  const shared = {
    workspaceId,
    campaignId: null,
    workflowRunId,
    serverId,
    agentId,
    limitedAgentId: wish.limitedAgentId,
    doNotCallRevision: wish.doNotCallRevision,
    ringTimeoutSeconds,
    maxCallSeconds,
    recording,
    ...(wish.tags && { tags: wish.tags }),
  };
  // Who is taken back for being late asks again; nobody does that for a test call.
  const slackMs = trunk && agentId !== null ? PACE_SLACK_MS : SLACK_MS;
  const startAt = trunk ? takeStart(trunk, after(now, RUN_LEAD_MS), slackMs) : now;
  const placeBefore = after(startAt, slackMs);
  const { roomId, metadata, externalId } = wish;
  const own = { ...(roomId && { roomId }), ...(metadata && { metadata }), ...(externalId && { externalId }) };
  const wanted = { contactId: null, toNumber, caller, attempt, startAt, placeBefore, variables, ...own };
  const [call] = await queueCalls(tx, { ...shared, now }, [wanted]);
  if (!call) {
    return { kind: 'blocked', reason: 'already_on_a_call', until: new Date(now.getTime() + BUSY_ELSEWHERE_MS) };
  }
  await countQueued(tx, workspaceId, [caller], now);
  await moveStarts(tx, workspaceId, trunk ? [trunk] : []);
  return { kind: 'queued', call };
}
