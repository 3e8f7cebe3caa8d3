import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { NIL } from 'uuid';
import type { Database } from '../../../foundation/database/database.ts';
import { measureSlots } from '../../../foundation/observe/slot-metrics.ts';
import { tracer } from '../../../foundation/observe/tracing.ts';
import type { SendRequest } from '../../../foundation/outbound-http/guarded-request.ts';
import { every, type Repeating } from '../../../platform/jobs/every.ts';
import { type DueTime, whileQuiet } from '../../../platform/jobs/quiet.ts';
import type { HeldRun } from './advance-run.ts';
import { type AloneDeps, carryOutAlone } from './carry-out-alone.ts';
import { after, type Change } from './change-run.ts';
import { claimRuns, firstDueRun } from './claim-runs.ts';
import { type Flow, flowName } from './flows.ts';
import { RunHolder } from './run-holder.ts';
import { registerRunMetrics } from './run-metrics.ts';
import { freeUnheldRuns } from './take-over-runs.ts';
import { traceSteps } from './trace-run.ts';
import { anyBlockedRun, recheckBlocked } from './unblock-runs.ts';

/** How long each loop rests when it found nothing to do. A change made in this process nudges the claims. */
const CLAIM_REST_MS = 100;
const BLOCKED_REST_MS = 1000;
/** The most runs that one claim takes of each kind, and that are moved on at a time. */
const CLAIM_SIZE = 100;
const MOST_BUSY = 400;
/** How many may be busy when new runs come past the claims, which must find room too. */
const MOST_BUSY_FOR_NEW = 200;
/** What requests that are under way get to end in when the server stops. */
const STOP_MS = 4000;

/** Everything in this process that moves workflow runs on. */
export interface RunEngine {
  start(): void;
  /** Looks for work at once, after a change that may have made some. */
  nudge(): void;
  /** The ID of this server where it has room to move new runs on itself, so that nobody needs to claim them. */
  serverForNew(): string | undefined;
  /** Moves on runs that are committed as held by this server. */
  moveOn(runs: HeldRun[]): void;
  /** Claims nothing more and lets go of all runs. */
  stop(): Promise<void>;
}

export interface RunEngineOptions extends Omit<AloneDeps, 'nudge'> {
  database: Database;
  leaseSeconds: number;
  log: Logger;
  registry: Registry;
  /** Sends the requests of `http` nodes. */
  send: SendRequest;
}

/** Its node is gone: the run fails with that. */
const noFlow: Flow = { definition: { name: '', startNodeId: '', nodes: [] }, nodes: new Map() };

/** Puts the run engine together. The row of a run is its truth: what is here may be lost at any time. */
export function createRunEngine(options: RunEngineOptions): RunEngine {
  const { database, lease, clock, log, flows } = options;
  const until = (due: DueTime) => whileQuiet(database, due);
  let loops: Repeating[] = [];
  let claiming: Repeating | undefined;
  let hasMore = false;
  let isRunning = false;
  const turns = { after: NIL };
  /** Runs that the database says are ours and that weren't in memory at the last look, and who has written each. */
  let unknown: ReadonlyMap<string, string> = new Map();

  const onWritten = (changes: readonly Change[]) => {
    metrics.written(changes);
    if (tracer) traceSteps(tracer, changes);
    if (changes.map(after).some((run) => run.ended_at && run.parent_run_id)) nudge();
  };

  const holder = new RunHolder({
    database,
    clock,
    log,
    send: options.send,
    carryOutAlone: (tx, run, node) => carryOutAlone({ ...options, nudge }, tx, run, node),
    onWritten,
    onRoom: () => {
      if (hasMore) nudge();
    },
  });
  const metrics = registerRunMetrics(options.registry, () => holder.ids().size);
  for (const [name, slots] of Object.entries(holder.slots())) measureSlots(options.registry, name, slots);

  function nudge(): void {
    claiming?.nudge();
  }

  const claimTurn = async (): Promise<boolean> => {
    if (!lease.isHeld()) return false;
    const most = Math.min(CLAIM_SIZE, MOST_BUSY - holder.busy());
    hasMore = most <= 0;
    if (hasMore) return false;
    const now = clock.now();
    const { claimed, known } = await database.inHotLoop(async (tx) => {
      const runs = await claimRuns(tx, lease.serverId(), most, now, turns);
      return {
        claimed: runs,
        known: await flows.of(
          tx,
          runs.map(({ run }) => run),
        ),
      };
    });
    moveOn(claimed.map(({ run, signal }) => ({ run, signal, flow: known.get(flowName(run)) ?? noFlow })));
    return claimed.length >= most;
  };

  /** Runs whose server is gone, and those that a lost answer has left in our name. */
  const sweepTurn = async (): Promise<void> => {
    const held = { serverId: lease.serverId(), inMemory: holder.ids(), missing: unknown };
    const { lost, freed, missing } = await database.inEngine((tx) => freeUnheldRuns(tx, held, clock.now()));
    unknown = missing;
    if (lost > 0) log.warn({ runs: lost }, 'runs of a server that is gone go on');
    if (lost + freed > 0) nudge();
  };

  const blockedTurn = async (): Promise<void> => {
    if (!lease.isHeld()) return;
    if ((await database.inHotLoop((tx) => recheckBlocked(tx, clock.now()))) > 0) nudge();
  };

  const moveOn = (runs: HeldRun[]): void => {
    metrics.claimed(runs.length);
    holder.add(runs);
  };

  return {
    nudge,
    moveOn,
    serverForNew: () =>
      isRunning && lease.isHeld() && holder.busy() < MOST_BUSY_FOR_NEW ? lease.serverId() : undefined,
    start: () => {
      isRunning = true;
      claiming = every(CLAIM_REST_MS, claimTurn, {
        name: 'claiming runs',
        log,
        asleep: until(firstDueRun),
      });
      loops = [
        claiming,
        every((options.leaseSeconds * 1000) / 3, sweepTurn, { name: 'taking over runs', log }),
        every(BLOCKED_REST_MS, blockedTurn, { name: 'looking at blocked runs', log, asleep: until(anyBlockedRun) }),
      ];
    },
    stop: async () => {
      isRunning = false;
      await Promise.all(loops.map((loop) => loop.close()));
      await holder.stop(STOP_MS);
    },
  };
}
