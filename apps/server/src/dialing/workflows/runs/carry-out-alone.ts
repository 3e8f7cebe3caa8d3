import type { EngineTx } from '../../../foundation/database/database.ts';
import type { Lease } from '../../../foundation/database/lease.ts';
import type { Clock } from '../../../foundation/values/clock.ts';
import { recordAll } from '../../../platform/journal/record.ts';
import type { CallTerms } from '../../calls/call-wish.ts';
import type { CallToPlace } from '../../calls/place-calls.ts';
import type { CallNode, ChildNode } from '../definitions/definition.ts';
import { StepError } from '../definitions/step-error.ts';
import { type Change, goWrong } from './change-run.ts';
import type { Flows } from './flows.ts';
import { insertRuns } from './insert-runs.ts';
import { requestCall } from './request-call.ts';
import type { RunRow } from './run.ts';
import { runEvent } from './run-event.ts';
import { startChild } from './start-child.ts';

export interface AloneDeps {
  lease: Lease;
  clock: Clock;
  flows: Flows;
  isSimulated: CallTerms['isSimulated'];
  operator: CallTerms['operator'];
  /** Places a call that is committed as `queued`. */
  place: (calls: CallToPlace[]) => void;
  /** A run that stays blocked for longer fails. */
  longestBlockMs: number;
  /** Has the engine look for the child. */
  nudge: () => void;
}

/** Asks for the call, or makes the child run, of a run at such a node: what it answers with is committed with that. */
export async function carryOutAlone(
  { lease, clock, flows, isSimulated, operator, place, longestBlockMs, nudge }: AloneDeps,
  tx: EngineTx,
  run: RunRow,
  node: CallNode | ChildNode,
): Promise<{ change: Change; afterwards?: () => void }> {
  const now = clock.now();
  try {
    if (node.type === 'workflow') {
      const { change, child } = await startChild(tx, flows, run, node, now);
      if (!child) return { change };
      await insertRuns(tx, [child]);
      await recordAll(tx, [runEvent(child)]);
      return { change, afterwards: nudge };
    }
    const terms = { serverId: lease.serverId(), now, isSimulated, operator, longestBlockMs };
    const { change, call } = await requestCall(tx, run, node, terms);
    return call ? { change, afterwards: () => place([call]) } : { change };
  } catch (error) {
    if (!(error instanceof StepError)) throw error;
    const onError = node.type === 'workflow' ? node.onError : undefined;
    return { change: goWrong(run, onError, { code: error.code, message: error.message }, now) };
  }
}
