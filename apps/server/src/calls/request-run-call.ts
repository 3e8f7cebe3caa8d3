import { sql } from 'kysely';
import {
  type AgentTerms,
  agentTerms,
  callSeconds,
  joinAgent,
  limitedAgentId,
  lockAgentRoom,
} from '../agents/agent-room.ts';
import type { EngineTx } from '../database/database.ts';
import { together } from '../database/together.ts';
import { doNotCallUploads, isDoNotCall } from '../do-not-call/do-not-call-numbers.ts';
import { pickPoolNumber } from '../number-pools/choose-numbers.ts';
import { poolFreeAt } from '../number-pools/free-at.ts';
import { callable, providers } from '../phone-numbers/phone-number.ts';
import { ServiceError } from '../service-error.ts';
import {
  lockTrunkRooms,
  moveStarts,
  PACE_SLACK_MS,
  startsWithin,
  type TrunkRoom,
  takeStart,
} from '../trunks/trunk-room.ts';
import { lockLimits, usedOfLimits } from '../workspace/limits.ts';
import {
  type CalleeHours,
  callerOf,
  type DialObstacle,
  dialTerms,
  type IsSimulated,
  isAttemptOfDay,
  mayDial,
  type PersonTerms,
  readNumber,
} from './may-dial.ts';
import type { CallToPlace } from './place-calls.ts';
import { type Caller, countQueued, queueCalls } from './queue-calls.ts';

/** How late a run's call may be placed, in milliseconds. */
const SLACK_MS = 1000;
/** How far ahead a run's call over a trunk starts at least, so that its transaction has committed, in milliseconds. */
const RUN_LEAD_MS = 250;
/** How far ahead it may start at most, for the trunk's pace, in milliseconds. */
const AHEAD_MS = 2000;
/** Within so long runs look again for room of a trunk or an agent, each at another time, in milliseconds. */
const BUSY_MS = 5000;
/** When a person who is on another call is tried again. */
const BUSY_ELSEWHERE_MS = 30_000;

/** A call that a workflow run wants to place. */
export interface RunCallWish {
  workspaceId: string;
  /** UUID of the run. */
  runId: string;
  /** Counts every dial of the run, from 1. */
  attempt: number;
  /** E.164. */
  to: string;
  /** What to call from: a number of the workspace in E.164, or the UUID of a pool. */
  from: { number: string } | { poolId: string };
  agentId: string;
  variables: Record<string, string>;
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
}

/** What a call lacks; the words are those of a campaign contact's `reason`. */
export type RunCallObstacle = DialObstacle | 'no_caller_id' | 'trunk_busy' | 'trunk_paused' | 'already_on_a_call';

/**
 * - `queued`: committed with the transaction, held by this server, to be placed after it.
 * - `refused`: this person is not to be called, now or later; the outcome of an attempt that is not made.
 * - `blocked`: not now. `until` is when it may be different, where that is known.
 */
export type RunCallAnswer =
  | { kind: 'queued'; call: CallToPlace }
  | { kind: 'refused'; outcome: 'do_not_call' | 'invalid_number' }
  | { kind: 'blocked'; reason: RunCallObstacle; until?: Date };

/**
 * Commits a run's call as `queued`, if everything that holds for an outbound attempt holds for it: do-not-call, quiet
 * hours, countries, the workspace's limits, one live call a person. It is called in the transaction that moves the run,
 * before the run's row is written (engine.md, "Locks"). Throws `unavailable` where the server was given up.
 */
export async function requestRunCall(tx: EngineTx, wish: RunCallWish, terms: RunCallTerms): Promise<RunCallAnswer> {
  const toNumber = readNumber(wish.to)?.toNumber;
  if (toNumber === undefined) return { kind: 'refused', outcome: 'invalid_number' };
  const found = await readTerms(tx, wish, toNumber, terms);
  const answer = mayDial(toNumber, found, terms.now, wish.hours);
  if (answer && 'refused' in answer) return { kind: 'refused', outcome: answer.refused };
  if (answer) return { kind: 'blocked', reason: answer.blocked, ...(answer.until && { until: answer.until }) };
  if (found.agent_is_limited && (await lockAgentRoom(tx, wish.workspaceId, wish.agentId)) === 0)
    return { kind: 'blocked', reason: 'limit_reached', until: lookAgainAt(terms.now) };
  const { caller, trunk } =
    'poolId' in wish.from
      ? await fromPool(tx, wish, wish.from.poolId, toNumber, terms)
      : await fromNumber(tx, callerOf(found, terms.isSimulated), wish.workspaceId);
  if (!caller) return withoutCaller(tx, wish, terms.now);
  if (trunk && !startsWithin(trunk, terms.now, after(terms.now, AHEAD_MS))) {
    return trunk.isActive ? trunkBusy(trunk.nextStartAt, terms.now) : { kind: 'blocked', reason: 'trunk_paused' };
  }
  const { agentId, maxCallSeconds } = wish;
  const ofAgent = {
    limitedAgentId: limitedAgentId(found, agentId),
    maxCallSeconds: callSeconds(maxCallSeconds, found),
  };
  return queueRunCall(tx, { ...wish, ...ofAgent }, toNumber, { caller, trunk }, terms);
}

const after = (now: Date, milliseconds: number) => new Date(now.getTime() + milliseconds);

/** A number to call from, and its trunk, held, where it has one. */
interface HeldCaller {
  caller: Caller | undefined;
  trunk: TrunkRoom | undefined;
}

async function fromNumber(tx: EngineTx, caller: Caller | undefined, workspaceId: string): Promise<HeldCaller> {
  const [trunk] = await lockTrunkRooms(tx, workspaceId, caller?.trunkId ? [caller.trunkId] : []);
  return { caller, trunk };
}

/** Runs that wait for one trunk or agent look at different times: all at once they would only take turns at its lock. */
const lookAgainAt = (from: Date) => after(from, Math.random() * BUSY_MS);

function trunkBusy(freeAt: Date, now: Date): RunCallAnswer {
  return { kind: 'blocked', reason: 'trunk_busy', until: lookAgainAt(freeAt > now ? freeAt : now) };
}

/** Why there is no number to call from: those that there are wait for their trunks, or these are paused, or neither. */
async function withoutCaller(tx: EngineTx, { workspaceId, from }: RunCallWish, now: Date): Promise<RunCallAnswer> {
  if ('poolId' in from) {
    const freeAt = await poolFreeAt(tx, { workspaceId, poolId: from.poolId, now, providers });
    const soon = freeAt !== undefined && freeAt > now && freeAt < after(now, 2 * BUSY_MS);
    return soon ? trunkBusy(freeAt, now) : { kind: 'blocked', reason: 'no_caller_id' };
  }
  const { rows } = await sql`
    select from phone_numbers n join trunks t on t.workspace_id = n.workspace_id and t.id = n.trunk_id
    where n.workspace_id = ${workspaceId} and n.phone_number = ${from.number} and n.status = 'active' and t.status = 'paused'
    limit 1`.execute(tx.db);
  return { kind: 'blocked', reason: rows.length > 0 ? 'trunk_paused' : 'no_caller_id' };
}

/** A member of the wish's pool that can call now, rather another than the run's last attempt had. */
async function fromPool(
  tx: EngineTx,
  { workspaceId, runId, attempt }: RunCallWish,
  poolId: string,
  to: number,
  { now, isSimulated }: RunCallTerms,
): Promise<HeldCaller> {
  const last = await sql<{ phone_number_id: string }>`
    select phone_number_id from calls
    where workspace_id = ${workspaceId} and workflow_run_id = ${runId} and attempt = ${attempt - 1}`.execute(tx.db);
  const avoid = last.rows[0]?.phone_number_id;
  const picked = await pickPoolNumber(tx, workspaceId, poolId, {
    ...{ to, now, isSimulated, avoid },
    lastStart: after(now, AHEAD_MS),
  });
  if (!picked) return { caller: undefined, trunk: undefined };
  const { trunk, ...number } = picked;
  return { caller: { ...number, simulated: isSimulated(number.provider)!, pooled: true }, trunk };
}

/** A workspace with limits is locked first, so that what is counted can't change before the commit. */
async function readTerms(
  tx: EngineTx,
  { workspaceId, from, agentId }: RunCallWish,
  toNumber: number,
  { serverId, now }: RunCallTerms,
): Promise<PersonTerms & AgentTerms> {
  const doNotCall = isDoNotCall(
    sql`${toNumber}`,
    sql`${workspaceId}`,
    sql`array(${doNotCallUploads(sql`${workspaceId}`)})`,
  );
  const [, { rows }] = await together(tx, [
    () => lockLimits(tx, workspaceId),
    sql<PersonTerms & AgentTerms>`
      select w.dialing_paused_at is not null as dialing_paused, w.quiet_hours_start, w.quiet_hours_end,
        w.quiet_windows, w.holidays, ${dialTerms}, ${agentTerms},
        ${usedOfLimits(now)},
        case when w.max_attempts_per_person_per_day is null then 0 else
          (select count(*) from calls where workspace_id = w.id and to_number = ${toNumber}
            and ${isAttemptOfDay(now)}) end as attempts,
        ${doNotCall} as do_not_call
      from workspaces w
      join servers s on s.id = ${serverId}
      left join phone_numbers n on n.workspace_id = w.id and n.phone_number = ${'number' in from ? from.number : null}
        and n.status <> 'released' and ${callable}
      ${joinAgent(sql.ref('w.id'), sql`${agentId}::text`)}
      where w.id = ${workspaceId}
      for key share of s`,
  ]);
  if (!rows[0]) throw new ServiceError('unavailable', 'This server was given up. Try again.');
  return rows[0];
}

async function queueRunCall(
  tx: EngineTx,
  wish: RunCallWish & { limitedAgentId: string | null },
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
    ringTimeoutSeconds,
    maxCallSeconds,
    recording,
  };
  const startAt = trunk ? takeStart(trunk, after(now, RUN_LEAD_MS)) : now;
  const placeBefore = after(startAt, trunk ? PACE_SLACK_MS : SLACK_MS);
  const wanted = { contactId: null, toNumber, caller, attempt, startAt, placeBefore, variables };
  const [call] = await queueCalls(tx, { ...shared, now }, [wanted]);
  if (!call) {
    return { kind: 'blocked', reason: 'already_on_a_call', until: new Date(now.getTime() + BUSY_ELSEWHERE_MS) };
  }
  await countQueued(tx, workspaceId, [caller], now);
  await moveStarts(tx, workspaceId, trunk ? [trunk] : []);
  return { kind: 'queued', call };
}
