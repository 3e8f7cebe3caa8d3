import type { Logger } from 'pino';
import type { Database, EngineTx } from '../../../foundation/database/database.ts';
import { isRetriable, isUnavailable } from '../../../foundation/database/errors.ts';
import type { Clock } from '../../../foundation/values/clock.ts';
import { type Change, fail } from './change-run.ts';
import type { RunRow } from './run.ts';
import { writeChanges } from './write-changes.ts';

export interface CommitDeps {
  database: Database;
  clock: Clock;
  log: Logger;
}

/** What became of a run whose change was to be committed. */
export interface Outcome {
  /** The run as it was held. */
  before: RunRow;
  /**
   * `lost`: it was cancelled or taken over, or a commit whose answer was lost has moved it on. `passing`: the database is
   * away, or others were in the way time and again; the same may succeed later. `refused`: so is that the run fails.
   */
  kind: 'written' | 'lost' | 'passing' | 'refused';
  /** What was written: the change, or where the database refused it that the run fails. */
  change?: Change;
}

/** Commits a change each of some runs. What the database refuses of one holds up no other. */
export async function commitChanges(deps: CommitDeps, changes: readonly Change[]): Promise<Outcome[]> {
  if (changes.length === 0) return [];
  try {
    const written = new Set(await deps.database.inHotLoop((tx) => writeChanges(tx, changes)));
    return changes.map((change) => outcome(change.before, written.has(change) ? change : undefined));
  } catch (error) {
    if (isPassing(error)) return changes.map(({ before }) => ({ before, kind: 'passing' }));
    const [change] = changes;
    if (changes.length === 1) return [await commitFailure(deps, change!.before, error)];
    const outcomes: Outcome[] = [];
    for (const each of changes) outcomes.push(...(await commitChanges(deps, [each])));
    return outcomes;
  }
}

class LostRun extends Error {}

/**
 * Commits the change of one run with what else `carryOut` does in the transaction, of which nothing holds where the run is
 * not ours any more; then does what it wants done afterwards.
 */
export async function commitAlone(
  deps: CommitDeps,
  before: RunRow,
  carryOut: (tx: EngineTx) => Promise<{ change: Change; afterwards?: () => void }>,
): Promise<Outcome> {
  try {
    const { change, afterwards } = await deps.database.inHotLoop(async (tx) => {
      const done = await carryOut(tx);
      if ((await writeChanges(tx, [done.change])).length === 0) throw new LostRun();
      return done;
    });
    afterwards?.();
    return outcome(before, change);
  } catch (error) {
    if (error instanceof LostRun) return outcome(before, undefined);
    return isPassing(error) ? { before, kind: 'passing' } : await commitFailure(deps, before, error);
  }
}

const outcome = (before: RunRow, change: Change | undefined): Outcome =>
  change ? { before, kind: 'written', change } : { before, kind: 'lost' };

const isPassing = (error: unknown): boolean => isRetriable(error) || isUnavailable(error);

async function commitFailure({ database, clock, log }: CommitDeps, before: RunRow, error: unknown): Promise<Outcome> {
  // Not the whole error: the database's may show what is in the context.
  const reason = error instanceof Error ? error.message : String(error);
  log.error({ reason, runId: before.id, nodeId: before.node_id }, 'a step of a run could not be saved');
  const fault = { code: 'internal', message: 'What the step came to could not be saved.' };
  const failure = fail(before, fault, clock.now());
  try {
    const [written] = await database.inHotLoop((tx) => writeChanges(tx, [failure]));
    return outcome(before, written);
  } catch {
    return { before, kind: 'refused' };
  }
}
