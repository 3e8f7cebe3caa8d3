import type { RunError } from '../../../foundation/database/schema.ts';
import { toId } from '../../../foundation/values/ids.ts';
import { spread } from '../../../foundation/values/spread.ts';
import { isTimestamp } from '../../../foundation/values/timestamp.ts';
import type { CallOutcome } from '../../../lines/telephony/call-outcome.ts';
import type { CallNode, ChildNode, HttpNode, Node, WaitNode } from '../definitions/definition.ts';
import { fillText, fillValues } from '../definitions/fill-template.ts';
import { zonesOfPlace } from '../definitions/place.ts';
import { StepError } from '../definitions/step-error.ts';
import { after, type Change, end, fail, goOn, goWrong, together, tryAgain, waitAs } from './change-run.ts';
import { evaluateBranch } from './evaluate-branch.ts';
import type { Flow } from './flows.ts';
import { nextLocalTime } from './local-time.ts';
import { afterHttpAttempt, type HttpAttempt } from './perform-http.ts';
import type { RunRow } from './run.ts';

/** When a call that came back unplaced is asked for again. */
const RETURNED_REST_MS = 1000;

/** What a run has waited for. */
export type Signal =
  | { kind: 'call_ended'; outcome: CallOutcome; data?: unknown }
  | { kind: 'call_returned' }
  | { kind: 'child_ended'; status: 'completed' | 'failed' | 'cancelled'; output?: Record<string, unknown> | null };

/** A run that this server holds, with what came in for it. */
export interface HeldRun {
  run: RunRow;
  flow: Flow;
  signal?: Signal | undefined;
  /** What the try that was under way came to. */
  attempt?: HttpAttempt | undefined;
}

/** What a held run does next: a change that is ready to be committed, or something that it takes others for. */
export type NextStep =
  | { kind: 'change'; change: Change }
  /** The change commits that the request is sent now. */
  | { kind: 'send'; change: Change; node: HttpNode }
  | { kind: 'call'; node: CallNode }
  | { kind: 'start'; node: ChildNode }
  /** Nothing to do before `dueAt`, or before a signal comes. */
  | { kind: 'rest'; dueAt: Date | null };

const ready = (change: Change): NextStep => ({ kind: 'change', change });

/**
 * Decides the next step of a run. Where it leads to an `end`, that is part of it: to end needs no commit of its own. A pure
 * function: nothing is asked, sent or written here.
 */
export function nextStep(held: HeldRun, now: Date): NextStep {
  const step = oneStep(held, now);
  if (step.kind !== 'change') return step;
  const run = after(step.change);
  const { flow } = held;
  if (run.server_id === null || flow.nodes.get(run.node_id)?.type !== 'end') return step;
  const last = oneStep({ run, flow }, now);
  return last.kind === 'change' ? ready(together(step.change, last.change)) : step;
}

function oneStep(held: HeldRun, now: Date): NextStep {
  const { run, flow } = held;
  const node = flow.nodes.get(run.node_id);
  if (!node) return ready(fail(run, { code: 'internal', message: 'The node is not in the definition.' }, now));
  try {
    return carryOut(held, node, now);
  } catch (error) {
    if (error instanceof StepError) return ready(wrong(run, node, error, now));
    throw error;
  }
}

/** Where a step that can't be carried out leads. */
const wrong = (run: RunRow, node: Node, { code, message }: RunError, now: Date): Change =>
  goWrong(run, 'onError' in node ? node.onError : undefined, { code, message }, now);

function carryOut(held: HeldRun, node: Node, now: Date): NextStep {
  const { run } = held;
  const { context } = run;
  switch (node.type) {
    case 'set':
      return ready(goOn(run, node.next, now, { context: { ...context, ...fillValues(node.values, context) } }));
    case 'branch': {
      const { next, ...note } = evaluateBranch(node, context);
      return ready(goOn(run, next, now, note));
    }
    case 'end': {
      const output = node.output ? fillValues(node.output, context) : null;
      const error = {
        code: 'ended_as_failed',
        message: `The node "${node.title}" ends the run as failed.`,
        nodeId: node.id,
      };
      return ready(end(run, node.status, { output, error: node.status === 'failed' ? error : null }, now));
    }
    case 'wait':
      return sleep(run, node, now);
    case 'http':
      return request(held, node, now);
    case 'call':
      return run.status === 'waiting_call' ? afterCall(held, node, now) : { kind: 'call', node };
    case 'workflow':
      return run.status === 'waiting_automation' ? afterChild(held, node, now) : { kind: 'start', node };
  }
}

function sleep(run: RunRow, node: WaitNode, now: Date): NextStep {
  if (run.status === 'waiting_schedule') {
    if (run.wake_at && run.wake_at > now) return { kind: 'rest', dueAt: run.wake_at };
    return ready(goOn(run, node.next, now));
  }
  const until = endOf(node, run, now);
  if (until <= now) return ready(goOn(run, node.next, now));
  return ready(waitAs(run, 'waiting_schedule', { wake_at: until, due_at: until }, now));
}

/** Where the numbering plan tells no time zone of a number. */
const NOWHERE = ['UTC'];

function endOf({ seconds, until }: WaitNode, run: RunRow, now: Date): Date {
  if (seconds !== undefined) return new Date(now.getTime() + seconds * 1000);
  const text = fillText(typeof until === 'object' ? until.of : until!, run.context);
  if (typeof until === 'object') {
    const timezones = zonesOfPlace(text);
    return nextLocalTime(until, timezones.length > 0 ? timezones : NOWHERE, now);
  }
  if (isTimestamp(text)) return new Date(text);
  throw new StepError('invalid_time', `"${text.slice(0, 64)}" is no RFC 3339 time, such as 2026-11-20T09:30:00Z.`);
}

function request({ run, attempt }: HeldRun, node: HttpNode, now: Date): NextStep {
  if (attempt) return ready(afterRequest(run, node, attempt, now));
  if (run.tries <= (node.retries ?? 0)) {
    return { kind: 'send', change: tryAgain(run, { tries: run.tries + 1 }, now), node };
  }
  const message = 'The server was lost while the request was under way, and no retry is left.';
  return ready(goWrong(run, node.onError, { code: 'http_failed', message }, now));
}

function afterRequest(run: RunRow, node: HttpNode, attempt: HttpAttempt, now: Date): Change {
  const rest = afterHttpAttempt(node, attempt, run.tries, spread(run.id, run.node_id ?? '', run.tries));
  if (rest !== undefined) {
    return tryAgain(run, { due_at: new Date(now.getTime() + rest), server_id: null }, now);
  }
  const { answer, error } = attempt;
  const taken = node.saveAs && answer ? { context: { ...run.context, [node.saveAs]: answer } } : {};
  return error ? goWrong(run, node.onError, error, now, taken) : goOn(run, node.next, now, taken);
}

function afterCall({ run, signal }: HeldRun, node: CallNode, now: Date): NextStep {
  if (signal?.kind === 'call_returned') {
    const dueAt = new Date(now.getTime() + RETURNED_REST_MS);
    return ready(tryAgain(run, { due_at: dueAt, server_id: null }, now));
  }
  if (signal?.kind !== 'call_ended') return { kind: 'rest', dueAt: null };
  const roomId = toId('room', run.waits_for!);
  return ready(withOutcome(run, node, { outcome: signal.outcome, roomId, data: signal.data ?? {} }, now));
}

/** The outcome of a call, or of one that is not made, leads on. */
export function withOutcome(
  run: RunRow,
  node: CallNode,
  call: { outcome: CallOutcome; roomId?: string; data: unknown },
  now: Date,
): Change {
  return goOn(run, node.outcomes?.[call.outcome] ?? node.next, now, { context: { ...run.context, call } });
}

function afterChild({ run, signal }: HeldRun, node: ChildNode, now: Date): NextStep {
  if (signal?.kind !== 'child_ended') return { kind: 'rest', dueAt: null };
  const { status, output } = signal;
  const child = { runId: toId('run', run.waits_for!), status, ...(output && { output }) };
  const taken = node.saveAs === undefined ? {} : { context: { ...run.context, [node.saveAs]: child } };
  if (status === 'completed') return ready(goOn(run, node.next, now, taken));
  const error = { code: 'child_run_failed', message: `The child run ${child.runId} is ${status}.` };
  return ready(goWrong(run, node.onError, error, now, taken));
}
