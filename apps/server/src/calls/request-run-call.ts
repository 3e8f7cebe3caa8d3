import { sql } from 'kysely';
import { nextUtcDay } from '../clock.ts';
import { timeZoneOfCountry } from '../contact-lists/reading/time-zone.ts';
import type { EngineTx } from '../database/database.ts';
import { doNotCallUploads, isDoNotCall } from '../do-not-call/do-not-call-numbers.ts';
import { newUuid } from '../ids.ts';
import { pickPoolNumber } from '../number-pools/choose-numbers.ts';
import { countUses } from '../number-pools/count-uses.ts';
import { countryOfNumber } from '../phone-numbers/country.ts';
import { mayCall } from '../phone-numbers/may-call.ts';
import { findPlan } from '../phone-numbers/numbering-plan.ts';
import { callable } from '../phone-numbers/phone-number.ts';
import { ServiceError } from '../service-error.ts';
import {
  type CallLimits,
  countCalls,
  leftOfLimits,
  lockLimits,
  type UsedOfLimits,
  usedOfLimits,
} from '../workspace/limits.ts';
import { fromE164 } from './call.ts';
import { closedReason, nextCallingWindow } from './calling-window.ts';
import { isAttemptOfDay } from './daily-attempts.ts';
import { type CallToPlace, callRequest } from './place-calls.ts';

/** How late a run's call may be placed, in milliseconds. */
const SLACK_MS = 1000;
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
}

export interface RunCallTerms {
  serverId: string;
  now: Date;
  /** Whether no telephone rings for numbers of a provider; undefined for one that isn't configured here. */
  isSimulated: (provider: string) => boolean | undefined;
}

/** What a call lacks; the words are those of a campaign contact's `reason`. */
export type RunCallObstacle =
  | 'dialing_paused'
  | 'quiet_hours'
  | 'limit_reached'
  | 'country_not_allowed'
  | 'no_caller_id'
  | 'already_on_a_call';

/**
 * - `queued`: committed with the transaction, held by this server, to be placed after it.
 * - `refused`: this person is not to be called, now or later; the outcome of an attempt that is not made.
 * - `blocked`: not now. `until` is when it may be different, where that is known.
 */
export type RunCallAnswer =
  | { kind: 'queued'; call: CallToPlace }
  | { kind: 'refused'; outcome: 'do_not_call' | 'invalid_number' }
  | { kind: 'blocked'; reason: RunCallObstacle; until?: Date };

interface Terms extends CallLimits, UsedOfLimits {
  dialing_paused: boolean;
  quiet_hours_start: number | null;
  quiet_hours_end: number | null;
  allowed_countries: string[] | null;
  premium_rate_allowed: boolean;
  attempts: number;
  do_not_call: boolean;
  number_id: string | null;
  provider: string | null;
  allowed_outbound_countries: string[] | null;
  /** Whether the number is a member of a pool, on which the call then counts. */
  pooled: boolean;
}

/** The number that a run's call is placed from. */
interface Caller {
  id: string;
  /** E.164 without the plus. */
  fromNumber: number;
  provider: string;
  pooled: boolean;
}

/**
 * Commits a run's call as `queued`, if everything that holds for an outbound attempt holds for it: do-not-call, quiet
 * hours, countries, the workspace's limits, one live call a person. It is called in the transaction that moves the run,
 * before the run's row is written (engine.md, "Locks"). Throws `unavailable` where the server was given up.
 */
export async function requestRunCall(tx: EngineTx, wish: RunCallWish, terms: RunCallTerms): Promise<RunCallAnswer> {
  if (!/^\+[1-9]\d{6,14}$/.test(wish.to)) return { kind: 'refused', outcome: 'invalid_number' };
  const to = fromE164(wish.to);
  if (!findPlan(String(to))) return { kind: 'refused', outcome: 'invalid_number' };
  const found = await readTerms(tx, wish, to, terms);
  if (found.do_not_call) return { kind: 'refused', outcome: 'do_not_call' };
  const obstacle = obstacleTo(to, found, terms.now);
  if (obstacle) return { kind: 'blocked', ...obstacle };
  const caller = 'poolId' in wish.from ? await fromPool(tx, wish, wish.from.poolId, to, terms) : numberOf(wish, found);
  const simulated = caller && terms.isSimulated(caller.provider);
  if (!caller || simulated === undefined) return { kind: 'blocked', reason: 'no_caller_id' };
  return queueCall(tx, wish, to, { ...caller, simulated }, terms);
}

/** The wish's number, if it can call now. */
function numberOf({ from }: RunCallWish, { number_id: id, provider, pooled }: Terms): Caller | undefined {
  if (id === null || provider === null || !('number' in from)) return undefined;
  return { id, fromNumber: fromE164(from.number), provider, pooled };
}

/** A member of the wish's pool that can call now, rather another than the run's last attempt had. */
async function fromPool(
  tx: EngineTx,
  { workspaceId, runId, attempt }: RunCallWish,
  poolId: string,
  to: number,
  { now, isSimulated }: RunCallTerms,
): Promise<Caller | undefined> {
  const last = await sql<{ phone_number_id: string }>`
    select phone_number_id from calls
    where workspace_id = ${workspaceId} and workflow_run_id = ${runId} and attempt = ${attempt - 1}`.execute(tx.db);
  const avoid = last.rows[0]?.phone_number_id;
  const picked = await pickPoolNumber(tx, workspaceId, poolId, { to, now, isSimulated, avoid });
  return picked && { ...picked, pooled: true };
}

/** A workspace with limits is locked first, so that what is counted can't change before the commit. */
async function readTerms(tx: EngineTx, wish: RunCallWish, to: number, { serverId, now }: RunCallTerms): Promise<Terms> {
  const { workspaceId, from } = wish;
  const fromNumber = 'number' in from ? from.number : null;
  const read = sql<Terms>`
    select w.dialing_paused_at is not null as dialing_paused, w.quiet_hours_start, w.quiet_hours_end,
      w.allowed_countries, w.premium_rate_allowed, w.max_concurrent_calls, w.max_calls_per_day, w.max_attempts_per_person_per_day,
      ${usedOfLimits(now)},
      case when w.max_attempts_per_person_per_day is null then 0 else
        (select count(*) from calls where workspace_id = w.id and to_number = ${to}
          and ${isAttemptOfDay(now)}) end as attempts,
      ${isDoNotCall(sql`${to}`, sql`${workspaceId}`, sql`array(${doNotCallUploads(sql`${workspaceId}`)})`)} as do_not_call,
      n.id as number_id, n.provider, n.allowed_outbound_countries,
      exists (select from number_usage u where u.workspace_id = w.id and u.phone_number_id = n.id
        and u.pool_id is not null) as pooled
    from workspaces w
    join servers s on s.id = ${serverId}
    left join phone_numbers n on n.workspace_id = w.id and n.phone_number = ${fromNumber}
      and n.status <> 'released' and ${callable}
    where w.id = ${workspaceId}
    for key share of s`;
  const [, { rows }] = await Promise.all([lockLimits(tx, workspaceId), read.execute(tx.db)]);
  if (!rows[0]) throw new ServiceError('unavailable', 'This server was given up. Try again.');
  return rows[0];
}

function obstacleTo(to: number, terms: Terms, now: Date): { reason: RunCallObstacle; until?: Date } | undefined {
  if (terms.dialing_paused) return { reason: 'dialing_paused' };
  const countries = [terms.allowed_countries, terms.allowed_outbound_countries];
  if (!mayCall({ countries, premiumRate: terms.premium_rate_allowed }, to)) return { reason: 'country_not_allowed' };
  const quietUntil = endOfQuietHours(terms, countryOfNumber(to), now);
  if (quietUntil) return { reason: 'quiet_hours', until: quietUntil };
  const left = leftOfLimits(terms, terms);
  if (left.now <= 0) return { reason: 'limit_reached' };
  const mostAttempts = terms.max_attempts_per_person_per_day;
  if (left.today <= 0 || (mostAttempts !== null && terms.attempts >= mostAttempts)) {
    return { reason: 'limit_reached', until: nextUtcDay(now) };
  }
  return undefined;
}

/** In the callee's own time where the number's country has one clock, else in UTC; a run has no time zone of its own. */
function endOfQuietHours(terms: Terms, country: string | undefined, now: Date): Date | undefined {
  const { quiet_hours_start: start, quiet_hours_end: end } = terms;
  if (start === null || end === null) return undefined;
  const hours = { days: [1, 2, 3, 4, 5, 6, 7], quiet: { start, end } };
  const timezone = (country && timeZoneOfCountry(country)) ?? 'UTC';
  return closedReason(hours, timezone, now) && nextCallingWindow(hours, timezone, now).opensAt;
}

async function queueCall(
  tx: EngineTx,
  wish: RunCallWish,
  to: number,
  caller: Caller & { simulated: boolean },
  { serverId, now }: RunCallTerms,
): Promise<RunCallAnswer> {
  const { workspaceId, runId, attempt, agentId, variables, ringTimeoutSeconds, maxCallSeconds } = wish;
  const call = { roomId: newUuid(), startAt: now, placeBefore: new Date(now.getTime() + SLACK_MS) };
  const { fromNumber, provider } = caller;
  const { rows } = await sql`
    insert into calls (workspace_id, id, status, direction, simulated, from_number, to_number, agent_id,
      phone_number_id, pooled, workflow_run_id, attempt, server_id, start_at, place_before, ring_timeout_seconds,
      max_call_seconds, variables, queued_at)
    values (${workspaceId}, ${call.roomId}, 'queued', 'outbound', ${caller.simulated}, ${fromNumber}, ${to}, ${agentId},
      ${caller.id}, ${caller.pooled}, ${runId}, ${attempt}, ${serverId}, ${call.startAt}, ${call.placeBefore},
      ${ringTimeoutSeconds}, ${maxCallSeconds}, ${JSON.stringify(variables)}, ${now})
    on conflict (workspace_id, to_number, (case when direction = 'inbound' then id end)) where ended_at is null
    do nothing
    returning id`.execute(tx.db);
  if (rows.length === 0) {
    return { kind: 'blocked', reason: 'already_on_a_call', until: new Date(now.getTime() + BUSY_ELSEWHERE_MS) };
  }
  // In this order, as claims do.
  if (caller.pooled) await countUses(tx, workspaceId, [caller.id], now);
  await countCalls(tx, workspaceId, 1, now);
  const held = {
    ...call,
    workspaceId,
    campaignId: null,
    contactId: null,
    workflowRunId: runId,
    toNumber: to,
    fromNumber,
    provider,
    attempt,
  };
  const request = callRequest(held, { agentId, variables, ringTimeoutSeconds, maxCallSeconds });
  return { kind: 'queued', call: { ...held, request } };
}
