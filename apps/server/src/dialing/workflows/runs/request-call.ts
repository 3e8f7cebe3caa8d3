import type { EngineTx } from '../../../foundation/database/database.ts';
import { fromId, toId } from '../../../foundation/values/ids.ts';
import { spread } from '../../../foundation/values/spread.ts';
import { askForCall } from '../../calls/ask-for-call.ts';
import type { CallAnswer, CallTerms } from '../../calls/call-wish.ts';
import { HORIZON_MS } from '../../calls/calling-hours.ts';
import type { CallToPlace } from '../../calls/place-calls.ts';
import { USUAL_CALL_SECONDS, USUAL_RING_SECONDS } from '../../calls/usual-times.ts';
import { whyBlocked } from '../../calls/why-blocked.ts';
import type { CallNode } from '../definitions/definition.ts';
import { fillText } from '../definitions/fill-template.ts';
import { withOutcome } from './advance-run.ts';
import { type Change, fail, waitAs } from './change-run.ts';
import { nameRecalled, RUN } from './recall-run-calls.ts';
import type { RunRow } from './run.ts';

/** When a blocked run is looked at again: after 1, 2, 5 and then every 10 minutes (dialing.md, "Runs"). */
const CHECK_MINUTES = [1, 2, 5, 10];

/**
 * Asks for the call of a `call` node, in the transaction that then writes the change that it answers with, and places
 * `call` after that. A run that stays blocked for `longestBlockMs`, hours that open again aside, fails.
 * @throws StepError where a template can't be filled in
 */
export async function requestCall(
  tx: EngineTx,
  run: RunRow,
  node: CallNode,
  terms: CallTerms & { longestBlockMs: number },
): Promise<{ change: Change; call?: CallToPlace }> {
  const { now } = terms;
  const variables = Object.entries(node.variables ?? {}).map(([name, text]) => [name, fillText(text, run.context)]);
  const wish = {
    workspaceId: run.workspace_id,
    owner: { kind: RUN, id: run.id },
    attempt: run.calls + 1,
    to: fillText(node.to, run.context),
    from: node.numberPoolId ? { poolId: fromId(node.numberPoolId) } : { number: node.fromNumber! },
    agentId: node.agentId,
    variables: Object.fromEntries(variables),
    ringTimeoutSeconds: node.ringTimeoutSeconds ?? USUAL_RING_SECONDS,
    // A node says nothing of it.
    maxCallSeconds: USUAL_CALL_SECONDS,
    recording: node.recording ?? false,
    asksAgain: true,
    hours: node,
  };
  const answer = await askForCall(tx, wish, terms);
  if (answer.kind === 'blocked') return { change: blocked(run, answer, terms.longestBlockMs, now) };
  if (answer.kind === 'refused' && answer.outcome === 'unknown') {
    await nameRecalled(tx, { workspaceId: run.workspace_id, roomId: answer.roomId }, wish);
    const call = { outcome: answer.outcome, roomId: toId('room', answer.roomId), data: {} };
    return { change: withOutcome({ ...run, calls: answer.attempt }, node, call, now) };
  }
  if (answer.kind === 'refused') {
    return { change: withOutcome(run, node, { outcome: answer.outcome, data: {} }, now) };
  }
  const { roomId } = answer.call;
  const fields = { waits_for: roomId, calls: run.calls + 1 };
  return { change: waitAs(run, 'waiting_call', fields, now, { room_id: roomId }), call: answer.call };
}

type Blocked = CallAnswer & { kind: 'blocked' };

const CLOSED = new Set<string>(['outside_window', 'quiet_hours', 'holiday'] satisfies Blocked['reason'][]);

/** How long a run still waits for hours that open, in milliseconds; undefined where it is not these that it waits for. */
function untilOpen({ reason, until }: Blocked, now: Date): number | undefined {
  const wait = until && CLOSED.has(reason) ? until.getTime() - now.getTime() : HORIZON_MS;
  return wait < HORIZON_MS ? wait : undefined;
}

const neverOpens = (answer: Blocked, now: Date): boolean =>
  CLOSED.has(answer.reason) && answer.until !== undefined && untilOpen(answer, now) === undefined;

/** Hours that were closed since the last look, and open, don't count: who calls on weekdays only waits for a weekend. */
function blockedSince(run: RunRow, answer: Blocked, now: Date): number {
  if (!run.blocked_since) return now.getTime();
  const waitedForHours = CLOSED.has(run.error?.code ?? '') && (!CLOSED.has(answer.reason) || untilOpen(answer, now));
  return run.blocked_since.getTime() + (waitedForHours ? Math.max(0, now.getTime() - run.updated_at.getTime()) : 0);
}

function blocked(run: RunRow, answer: Blocked, longestBlockMs: number, now: Date): Change {
  const { reason, until } = answer;
  const why = `${whyBlocked[reason]}${neverOpens(answer, now) ? ' No hours are open within 8 days.' : ''}`;
  const since = blockedSince(run, answer, now);
  const failsAt = since + longestBlockMs + (untilOpen(answer, now) ?? 0);
  if (now.getTime() >= failsAt) {
    return fail(run, { code: 'blocked_too_long', message: `The run was blocked for too long. ${why}` }, now);
  }
  const minutes = CHECK_MINUTES[Math.min(run.checks, CHECK_MINUTES.length - 1)]!;
  const checkAt = until?.getTime() ?? now.getTime() + minutes * 60_000 * (0.9 + spread(run.id, run.checks) / 5);
  const dueAt = new Date(Math.min(checkAt, failsAt));
  const fields = {
    blocked_since: new Date(since),
    looked_at: now,
    checks: run.checks + 1,
    due_at: dueAt,
    error: { code: reason, message: why, nodeId: run.node_id },
  };
  const note = `${why} The next look is at ${dueAt.toISOString()}.`;
  return waitAs(run, 'blocked', fields, now, { note });
}
