import { sql } from 'kysely';
import type { EngineTx } from '../../foundation/database/database.ts';
import { from } from '../../foundation/database/moves.ts';
import { countsWith, erasureTransitions, type RunningErasure } from './erasure.ts';
import type { Next, Outcome } from './outcome.ts';
import { passedBefore, stepAfter } from './steps.ts';

/** After so long it looks again for what it waits for. */
const WAIT_MS = 2000;

/** Writes down how far an erasure is, or how it ended. */
export async function moveOn(tx: EngineTx, erasure: RunningErasure, outcome: Outcome, now: Date): Promise<void> {
  const { counts = {}, unread, round } = outcome;
  const { step, passed, place } = await whereNext(tx, erasure, outcome);
  const wait = outcome.next === 'wait' ? outcome : undefined;
  const restMs = wait || outcome.next === 'anew' ? WAIT_MS : 0;
  const due = wait?.due ?? new Date(now.getTime() + restMs);
  const isCounted = round
    ? sql`, remaining = ${JSON.stringify(round.remaining)}::jsonb, files_since = ${round.filesSince}`
    : sql``;
  // Whom the lists have brought meanwhile may stand in exports that were begun meanwhile.
  const beginsAnew = outcome.next === 'anew' ? sql`, files_since = null` : sql``;
  const hasRead = unread ? sql`, unread = ${unread}::uuid[]` : sql``;
  const failure = outcome.next === 'fail' ? outcome.failure : null;
  const end = failure ? 'failed' : step === undefined ? 'completed' : undefined;
  const running = failure ? from(erasureTransitions, 'failed') : from(erasureTransitions, 'completed');
  const ends = end
    ? sql`, status = ${end}, phone_number = null, unread = null, failure_code = ${failure},
        completed_at = ${failure ? null : now}`
    : sql``;
  await sql`
    update erasures set step = ${step ?? erasure.step}, passed = ${passed}::text[], place = ${place}::text[],
      counts = ${JSON.stringify(countsWith(erasure, counts))}::jsonb, waits_for = ${wait?.waitsFor ?? null},
      waits_until = ${wait?.until ?? null}, due_at = ${due}, failing_since = null ${isCounted} ${beginsAnew}
      ${hasRead} ${ends}
    where workspace_id = ${erasure.workspace_id} and id = ${erasure.id}
      and status in ${running}`.execute(tx.db);
}

/** The step that an erasure is at after that, if there is one, those that it has passed, and the place in its step. */
async function whereNext(
  tx: EngineTx,
  { step, passed, place }: RunningErasure,
  outcome: Next,
): Promise<{ step: string | undefined; passed: string[]; place: string[] | null }> {
  const at = (name: string, from: string[] | null) => ({ step: name, passed: passedBefore(name, passed), place: from });
  if (outcome.next === 'place') return at(step, outcome.place);
  if (outcome.next === 'again') return at(step, place);
  if (outcome.next === 'anew') return { step: 'entries', passed: [], place: null };
  if (outcome.next === 'wait') {
    if (outcome.goesOn === 'files') return at('files', null);
    return at(step, outcome.goesOn === 'here' ? place : null);
  }
  const done = [...passedBefore(step, passed), step];
  return { step: await stepAfter(tx, done), passed: done, place: null };
}
