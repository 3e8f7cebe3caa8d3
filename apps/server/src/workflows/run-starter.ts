import type { Clock } from '../clock.ts';
import type { Database } from '../database/database.ts';
import { isLockTimeout } from '../database/errors.ts';
import { inProgress } from '../database/idempotency-keys.ts';
import { ServiceError } from '../service-error.ts';
import type { Flows } from './flows.ts';
import type { RunRow } from './run.ts';
import { type RunStart, type StartResult, startRuns } from './start-runs.ts';

/** The most starts of one transaction, and how many transactions there are at a time. */
const MOST_STARTS = 100;
const MOST_TRANSACTIONS = 2;

interface Waiting {
  workspaceId: string;
  start: RunStart;
  resolve: (result: StartResult) => void;
  reject: (error: unknown) => void;
}

/**
 * Starts a run, or answers the one that was started before with this `Idempotency-Key`. Throws `not_found`,
 * `workflow_not_published`, `invalid_request` where the context lacks something, `concurrency_conflict`,
 * `cooldown_active`, `idempotency_key_reused` and `idempotency_in_progress`.
 */
export type StartRun = (workspaceId: string, start: RunStart) => Promise<{ run: RunRow; isReplayed: boolean }>;

/**
 * Starts that come while others are being committed go together in the next transaction, so that a commit serves many.
 * @param onStarted called once new runs are committed
 */
export function createRunStarter(options: {
  database: Database;
  clock: Clock;
  flows: Flows;
  onStarted: () => void;
}): StartRun {
  const { database, clock, flows } = options;
  let waiting: Waiting[] = [];
  let underWay = 0;

  /** The starts that wait longest, of one workspace, no two with a key in common. */
  function take(): Waiting[] {
    const workspaceId = waiting[0]!.workspaceId;
    const keys = new Set<string>();
    const concurrencyKeys = new Set<string>();
    const taken: Waiting[] = [];
    const left: Waiting[] = [];
    for (const each of waiting) {
      const { idempotencyKey, concurrencyKey } = each.start;
      const isFree = !keys.has(idempotencyKey) && !(concurrencyKey && concurrencyKeys.has(concurrencyKey));
      if (each.workspaceId === workspaceId && isFree && taken.length < MOST_STARTS) taken.push(each);
      else left.push(each);
      keys.add(idempotencyKey);
      if (concurrencyKey) concurrencyKeys.add(concurrencyKey);
    }
    waiting = left;
    return taken;
  }

  async function carryOut(starts: Waiting[]): Promise<void> {
    try {
      const now = clock.now();
      const results = await database.inWorkspace(starts[0]!.workspaceId, (tx) =>
        startRuns(
          tx,
          flows,
          starts.map(({ start }) => start),
          now,
        ),
      );
      if (results.some((result) => !(result instanceof ServiceError) && !result.isReplayed)) options.onStarted();
      for (const [at, { resolve }] of starts.entries()) resolve(results[at]!);
    } catch (error) {
      if (starts.length === 1) return starts[0]!.reject(isLockTimeout(error) ? inProgress() : error);
      // What is wrong with one of them is not the others' fault.
      for (const start of starts) await carryOut([start]);
    }
  }

  function go(): void {
    while (underWay < MOST_TRANSACTIONS && waiting.length > 0) {
      underWay += 1;
      void carryOut(take()).finally(() => {
        underWay -= 1;
        go();
      });
    }
  }

  return async (workspaceId, start) => {
    const result = await new Promise<StartResult>((resolve, reject) => {
      waiting.push({ workspaceId, start, resolve, reject });
      go();
    });
    if (result instanceof ServiceError) throw result;
    return result;
  };
}
