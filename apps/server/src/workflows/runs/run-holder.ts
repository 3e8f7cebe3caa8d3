import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Clock } from '../../clock.ts';
import type { Database, EngineTx } from '../../database/database.ts';
import { isRetriable } from '../../database/errors.ts';
import type { SendRequest } from '../../outbound-http/guarded-request.ts';
import { ServiceError } from '../../service-error.ts';
import type { CallNode, HttpNode, RunNode } from '../definitions/definition.ts';
import { type HeldRun, type NextStep, nextStep } from './advance-run.ts';
import { after, type Change, fail } from './change-run.ts';
import { releaseRuns } from './claim-runs.ts';
import type { RunRow } from './run.ts';
import { createRequestSender } from './send-requests.ts';
import { writeChanges } from './write-changes.ts';

/** The most runs that one transaction moves, and how many such transactions there are at a time. */
const TURN_SIZE = 100;
const MOST_TURNS = 2;
/** How many nodes that need a transaction of their own are carried out at a time. */
const MOST_ALONE = 3;
/** When a run is tried again after the database was away, or when too many requests wait. */
const RETRY_MS = 500;
const LATER_MS = 2000;
/** When a run whose step the database refuses, and whose failure too, is tried again. */
const REFUSED_MS = 60_000;

/** What a node needs that is carried out in a transaction of its own. */
export type CarryOutAlone = (
  tx: EngineTx,
  run: RunRow,
  node: CallNode | RunNode,
) => Promise<{ change: Change; afterwards?: () => void }>;

/** The runs that this process holds, each moved on from step to step until it waits or ends. */
export interface RunHolder {
  add(runs: HeldRun[]): void;
  /** How many runs are being moved on; those whose request is under way don't count. */
  busy(): number;
  /** The UUIDs of all that it holds. */
  ids(): ReadonlySet<string>;
  /** Moves nothing on any more, gives requests `ms` to end, and lets go of all runs. */
  stop(ms: number): Promise<void>;
}

class LostRun extends Error {}

/** Whether the same may succeed later: the database is away, or others were in the way time and again. */
const isPassing = (error: unknown): boolean =>
  isRetriable(error) || (error instanceof ServiceError && error.code === 'unavailable');

export function createRunHolder(options: {
  database: Database;
  clock: Clock;
  log: Logger;
  send: SendRequest;
  carryOutAlone: CarryOutAlone;
  /** Called after a commit with what was written. */
  onWritten: (changes: readonly Change[]) => void;
  /** Called when there is room for more runs. */
  onRoom: () => void;
}): RunHolder {
  const { database, clock, log } = options;
  const held = new Map<string, HeldRun>();
  let ready: HeldRun[] = [];
  let alone: { held: HeldRun; node: CallNode | RunNode }[] = [];
  const working = new Set<Promise<void>>();
  let turns = 0;
  let aloneNow = 0;
  let moving = 0;
  let stopped = false;

  const sender = createRequestSender({
    send: options.send,
    clock,
    log,
    onAttempt: (each, attempt) => {
      if (isHeld(each.run)) push([{ ...each, attempt }]);
    },
    onPlace: (each) => {
      if (isHeld(each.run)) push([each]);
      else sender.leavePlace();
    },
  });

  /** Whether a run is still held as it was: it may have been taken away, and claimed again, meanwhile. */
  const isHeld = (run: RunRow): boolean => held.get(run.id)?.run === run;

  function push(runs: HeldRun[]): void {
    for (const each of runs) {
      held.set(each.run.id, each);
      ready.push(each);
    }
    go();
  }

  /** What fails in a way that nobody has thought of is forgotten here: the engine finds it in the database. */
  function work(runs: HeldRun[], promise: Promise<void>): void {
    const tracked: Promise<void> = promise
      .catch((error) => {
        log.error({ err: error, runs: runs.length }, 'runs could not be moved on; they are taken up again');
        for (const each of runs) if (held.get(each.run.id) === each) held.delete(each.run.id);
      })
      .then(() => void working.delete(tracked));
    working.add(tracked);
  }

  function go(): void {
    while (!stopped && turns < MOST_TURNS && ready.length > 0) {
      const batch = ready.splice(0, TURN_SIZE);
      turns += 1;
      moving += batch.length;
      work(
        batch,
        turn(batch).finally(() => {
          turns -= 1;
          moving -= batch.length;
          go();
          options.onRoom();
        }),
      );
    }
    while (!stopped && aloneNow < MOST_ALONE && alone.length > 0) {
      const { held: each, node } = alone.shift()!;
      aloneNow += 1;
      work(
        [each],
        takeAlone(each, node).finally(() => {
          aloneNow -= 1;
          go();
          options.onRoom();
        }),
      );
    }
  }

  async function turn(batch: HeldRun[]): Promise<void> {
    const now = clock.now();
    const changes: Change[] = [];
    const sends = new Map<string, HttpNode>();
    const rests: { run: RunRow; dueAt: Date | null }[] = [];
    for (const each of batch.filter(({ run }) => isHeld(run))) {
      const { run } = each;
      const step = decide(each, now);
      if (step.kind === 'change') changes.push(step.change);
      else if (step.kind === 'rest') rests.push({ run, dueAt: step.dueAt });
      else if (step.kind === 'send') {
        const place = sender.takePlace(each);
        if (place === 'full') rests.push({ run, dueAt: new Date(now.getTime() + LATER_MS) });
        if (place !== 'taken') continue;
        sends.set(run.id, step.node);
        changes.push(step.change);
      } else alone.push({ held: each, node: step.node });
    }
    await letGo(rests);
    await commit(changes, sends);
  }

  function decide(each: HeldRun, now: Date): NextStep {
    try {
      return nextStep(each, now);
    } catch (error) {
      log.error({ err: error, runId: each.run.id, nodeId: each.run.node_id }, 'a step of a run could not be decided');
      const fault = { code: 'internal', message: 'The step could not be carried out.' };
      return { kind: 'change', change: fail(each.run, fault, now) };
    }
  }

  /** Lets go of runs in the database and in memory. Where that fails the engine finds them there later. */
  async function letGo(given: { run: RunRow; dueAt: Date | null }[]): Promise<void> {
    const runs = given.filter(({ run }) => isHeld(run));
    for (const { run } of runs) held.delete(run.id);
    if (runs.length === 0) return;
    await database
      .inHotLoop((tx) => releaseRuns(tx, runs))
      .catch((error) => log.warn({ err: error, runs: runs.length }, 'runs could not be let go of; that is done later'));
  }

  async function commit(changes: Change[], sends: ReadonlyMap<string, HttpNode>): Promise<void> {
    if (changes.length === 0) return;
    let written: Change[];
    try {
      written = await database.inHotLoop((tx) => writeChanges(tx, changes));
    } catch (error) {
      return afterFailure(changes, sends, error);
    }
    settle(written, sends);
    const isWritten = new Set(written);
    const lost = changes.filter((change) => !isWritten.has(change));
    for (const { before } of lost) if (sends.has(before.id)) sender.leavePlace();
    await forget(lost);
  }

  /** What was cancelled or taken over is not ours any more; what a lost answer has moved on is claimed anew. */
  async function forget(lost: Change[]): Promise<void> {
    const now = clock.now();
    await letGo(lost.map(({ before }) => ({ run: before, dueAt: before.waits_for === null ? now : null })));
  }

  async function afterFailure(changes: Change[], sends: ReadonlyMap<string, HttpNode>, error: unknown): Promise<void> {
    if (isPassing(error)) {
      for (const { before } of changes) if (sends.has(before.id)) sender.leavePlace();
      await sleep(RETRY_MS);
      return push(changes.flatMap(({ before }) => held.get(before.id) ?? []));
    }
    const [change] = changes;
    // What the database refuses of one run must not hold up the others.
    if (changes.length > 1) for (const each of changes) await commit([each], sends);
    else if (change) await refused(change.before, sends.has(change.before.id), error);
  }

  async function refused(before: RunRow, hasPlace: boolean, error: unknown): Promise<void> {
    const now = clock.now();
    // Not the whole error: the database's may show what is in the context.
    const reason = error instanceof Error ? error.message : String(error);
    log.error({ reason, runId: before.id, nodeId: before.node_id }, 'a step of a run could not be saved');
    if (hasPlace) sender.leavePlace();
    const failure = fail(before, { code: 'internal', message: 'What the step came to could not be saved.' }, now);
    try {
      settle(await database.inHotLoop((tx) => writeChanges(tx, [failure])), new Map());
    } catch {
      await letGo([{ run: before, dueAt: new Date(now.getTime() + REFUSED_MS) }]);
    }
    held.delete(before.id);
  }

  function settle(written: readonly Change[], sends: ReadonlyMap<string, HttpNode>): void {
    const goOn: HeldRun[] = [];
    for (const change of written) {
      const run = after(change);
      const before = held.get(run.id);
      const node = sends.get(run.id);
      held.delete(run.id);
      if (run.server_id === null || !before) {
        if (node) sender.leavePlace();
        continue;
      }
      const next = { run, flow: before.flow };
      held.set(run.id, next);
      if (node) sender.send(next, node);
      else goOn.push(next);
    }
    options.onWritten(written);
    push(goOn);
  }

  async function takeAlone(each: HeldRun, node: CallNode | RunNode): Promise<void> {
    try {
      const { change, afterwards } = await database.inHotLoop(async (tx) => {
        const done = await options.carryOutAlone(tx, each.run, node);
        // Nothing of it holds where the run is not ours any more.
        if ((await writeChanges(tx, [done.change])).length === 0) throw new LostRun();
        return done;
      });
      afterwards?.();
      settle([change], new Map());
    } catch (error) {
      if (error instanceof LostRun) return letGo([{ run: each.run, dueAt: clock.now() }]);
      if (isPassing(error)) {
        await sleep(RETRY_MS);
        return push([each]);
      }
      await refused(each.run, false, error);
    }
  }

  /** Those that wait for a signal are claimed with it, the others at once. */
  const letGoOfAll = (): Promise<void> => {
    const now = clock.now();
    return letGo([...held.values()].map(({ run }) => ({ run, dueAt: run.waits_for === null ? now : null })));
  };

  return {
    add: (runs) => {
      push(runs);
      if (stopped) void letGoOfAll();
    },
    busy: () => ready.length + moving + alone.length + aloneNow,
    ids: () => new Set(held.keys()),
    stop: async (ms) => {
      stopped = true;
      await Promise.all([sender.stop(ms), ...working]);
      await Promise.all(working);
      ready = [];
      alone = [];
      await letGoOfAll();
    },
  };
}
