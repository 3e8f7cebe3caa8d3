import type { Clock } from '../../clock.ts';
import type { Database } from '../../database/database.ts';
import { isLockTimeout } from '../../database/errors.ts';
import { inProgress } from '../../database/idempotency-keys.ts';
import { ServiceError } from '../../service-error.ts';
import type { Flows } from './flows.ts';
import type { LatestFlow } from './latest-flows.ts';
import type { RunRow } from './run.ts';
import type { RunEngine } from './run-engine.ts';
import type { RunStart, StartResult } from './run-start.ts';
import { isPlain, NotAsSeen, startAtOnce } from './start-at-once.ts';
import { startRuns } from './start-runs.ts';

/** The most starts of one transaction, and how many transactions there are at a time. */
const MOST_STARTS = 100;
const MOST_TRANSACTIONS = 2;
/** A start that waits for another server's transaction gives up before its client does. */
const LOCK_SECONDS = 5;
const MOST_REMEMBERED = 500;

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

const nameOf = (workspaceId: string, workflowId: string): string => `${workspaceId}/${workflowId}`;

/**
 * Starts that come while others are being committed go together in the next transaction, so that a commit serves many.
 * New runs are moved on by this process as long as it has room for them.
 */
export function createRunStarter(options: {
  database: Database;
  clock: Clock;
  flows: Flows;
  engine: Pick<RunEngine, 'serverForNew' | 'moveOn' | 'nudge'>;
}): StartRun {
  const { database, clock, flows, engine } = options;
  let waiting: Waiting[] = [];
  let underWay = 0;
  /** The latest versions of workflows, as they were when they were last started. */
  const latest = new Map<string, LatestFlow>();

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

  async function carryOut(batch: Waiting[]): Promise<void> {
    try {
      const results = await start(
        batch[0]!.workspaceId,
        batch.map(({ start }) => start),
      );
      for (const [at, { resolve }] of batch.entries()) resolve(results[at]!);
    } catch (error) {
      if (batch.length === 1) return batch[0]!.reject(isLockTimeout(error) ? inProgress() : error);
      // What is wrong with one of them is not the others' fault.
      for (const each of batch) await carryOut([each]);
    }
  }

  async function start(workspaceId: string, starts: RunStart[]): Promise<StartResult[]> {
    const now = clock.now();
    const serverId = engine.serverForNew();
    const seen = starts.flatMap((start) => {
      const follows = latest.get(nameOf(workspaceId, start.workflowId));
      return follows && isPlain(start, follows) ? { start, follows } : [];
    });
    const carefully = () =>
      database.inWorkspace(workspaceId, (tx) => startRuns(tx, flows, starts, now, serverId), LOCK_SECONDS);
    const atOnce = () => database.inWorkspace(workspaceId, (tx) => startAtOnce(tx, seen, now, serverId), LOCK_SECONDS);
    const results =
      seen.length < starts.length
        ? await carefully()
        : await atOnce().catch((error) => {
            if (error instanceof NotAsSeen) return carefully();
            throw error;
          });
    const fresh = results.filter((result) => 'follows' in result);
    for (const { follows } of fresh) remember(workspaceId, follows);
    // The answers go out first.
    setImmediate(() => {
      if (serverId !== undefined) engine.moveOn(fresh.map(({ run, follows: { flow } }) => ({ run, flow })));
      else if (fresh.length > 0) engine.nudge();
    });
    return results;
  }

  function remember(workspaceId: string, follows: LatestFlow): void {
    latest.set(nameOf(workspaceId, follows.workflowId), follows);
    for (const name of latest.keys()) {
      if (latest.size <= MOST_REMEMBERED) return;
      latest.delete(name);
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
    return { run: result.run, isReplayed: 'isReplayed' in result };
  };
}
