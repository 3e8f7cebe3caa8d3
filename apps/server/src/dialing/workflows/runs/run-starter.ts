import type { Database } from '../../../foundation/database/database.ts';
import { isLockTimeout } from '../../../foundation/database/errors.ts';
import { inProgress } from '../../../foundation/database/idempotency-keys.ts';
import type { Clock } from '../../../foundation/values/clock.ts';
import { coalesce } from '../../../foundation/values/coalesce.ts';
import { ServiceError } from '../../../foundation/values/service-error.ts';
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
const MOST_REMEMBERED = 500;

interface Asked {
  workspaceId: string;
  start: RunStart;
}

/** Starts of one transaction are of one workspace, no two with a key in common. */
const canGoTogether = (one: Asked, other: Asked): boolean =>
  one.workspaceId === other.workspaceId &&
  one.start.idempotencyKey !== other.start.idempotencyKey &&
  (one.start.concurrencyKey === undefined || one.start.concurrencyKey !== other.start.concurrencyKey);

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
  /** The latest versions of workflows, as they were when they were last started. */
  const latest = new Map<string, LatestFlow>();

  async function start(workspaceId: string, starts: RunStart[]): Promise<StartResult[]> {
    const now = clock.now();
    const serverId = engine.serverForNew();
    const seen = starts.flatMap((start) => {
      const follows = latest.get(nameOf(workspaceId, start.workflowId));
      return follows && isPlain(start, follows) ? { start, follows } : [];
    });
    const carefully = () => database.inWorkspace(workspaceId, (tx) => startRuns(tx, flows, starts, now, serverId));
    const atOnce = () => database.inWorkspace(workspaceId, (tx) => startAtOnce(tx, seen, now, serverId));
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

  const ask = coalesce(
    (asked: Asked[]) =>
      start(
        asked[0]!.workspaceId,
        asked.map((each) => each.start),
      ),
    {
      atMost: MOST_STARTS,
      sets: MOST_TRANSACTIONS,
      fits: (set, next) => set.every((each) => canGoTogether(each, next)),
      oneByOne: true,
    },
  );
  return async (workspaceId, start) => {
    const result = await ask({ workspaceId, start }).catch((error) => {
      throw isLockTimeout(error) ? inProgress() : error;
    });
    if (result instanceof ServiceError) throw result;
    return { run: result.run, isReplayed: 'isReplayed' in result };
  };
}
