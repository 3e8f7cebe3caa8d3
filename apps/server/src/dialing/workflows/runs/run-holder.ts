import assert from 'node:assert';
import { setTimeout as sleep } from 'node:timers/promises';
import type { EngineTx } from '../../../foundation/database/database.ts';
import type { Measured } from '../../../foundation/observe/slot-metrics.ts';
import type { SendRequest } from '../../../foundation/outbound-http/guarded-request.ts';
import { limiter, Shares } from '../../../foundation/values/limiter.ts';
import type { CallNode, ChildNode, HttpNode } from '../definitions/definition.ts';
import { type HeldRun, type NextStep, nextStep } from './advance-run.ts';
import { after, type Change, fail } from './change-run.ts';
import { releaseRuns } from './claim-runs.ts';
import { type CommitDeps, commitAlone, commitChanges, type Outcome } from './commit-changes.ts';
import { HeldRuns, type Holding } from './held-runs.ts';
import type { RunRow } from './run.ts';
import { createRequestSender, type RequestSender } from './send-requests.ts';

/** The most runs that one transaction moves, and how many such transactions there are at a time. */
const TURN_SIZE = 100;
const MOST_TURNS = 2;
/** How many nodes that need a transaction of their own are carried out at a time, three of one workspace alone. */
const MOST_ALONE = 5;
/** How many runs wait for a slot to send their request from, half of them of one workspace alone. */
const LONGEST_LINE = 512;
/** When a run is tried again after the database was away, or when too many requests wait. */
const RETRY_MS = 500;
const LATER_MS = 2000;
/** When a run whose step the database refuses, and whose failure too, is tried again. */
const REFUSED_MS = 60_000;

export interface HolderOptions extends CommitDeps {
  send: SendRequest;
  /** Does what a node needs that is carried out in a transaction of its own. */
  carryOutAlone: (
    tx: EngineTx,
    run: RunRow,
    node: CallNode | ChildNode,
  ) => Promise<{ change: Change; afterwards?: () => void }>;
  /** Called after a commit with what was written. */
  onWritten: (changes: readonly Change[]) => void;
  /** Called when there is room for more runs. */
  onRoom: () => void;
}

/** A run to be let go of, and when it is due again; null: with its signal. */
type Release = [Holding, dueAt: Date | null];

/**
 * The runs that this process holds, each moved on from step to step until it waits or ends. While it runs it moves them on;
 * while it stops it lets requests end; when it has stopped it holds none.
 */
export class RunHolder {
  readonly #options: HolderOptions;
  readonly #held = new HeldRuns();
  readonly #sender: RequestSender;
  readonly #givingUp = new AbortController();
  readonly #alone = limiter(MOST_ALONE);
  readonly #working = new Set<Promise<void>>();
  #mode: 'running' | 'stopping' | 'stopped' = 'running';
  #turns = 0;

  constructor(options: HolderOptions) {
    this.#options = options;
    this.#sender = createRequestSender({ ...options, givenUp: this.#givingUp.signal });
  }

  /** Takes over runs that are committed as this server's; lets go of them where it has begun to stop. */
  add(runs: readonly HeldRun[]): void {
    const added = runs.map((run) => this.#held.add(run));
    if (this.#mode === 'running') this.#go();
    else void this.#release(added.map(asItStands(this.#options.clock.now())));
  }

  /** How many runs are being moved on; those whose request is under way don't count. */
  busy(): number {
    return this.#held.count('ready', 'moving', 'alone');
  }

  /** What its runs share, for the metrics. */
  slots(): Record<string, Measured> {
    const { slots } = this.#sender;
    const requests = {
      total: slots.total,
      underWay: () => slots.underWay(),
      waiting: () => this.#held.count('in_line'),
    };
    return { workflow_http_requests: requests, workflow_steps_alone: this.#alone };
  }

  /** The UUIDs of all that it holds. */
  ids(): ReadonlySet<string> {
    return this.#held.ids();
  }

  /** Begins nothing any more, gives requests `ms` to end, commits what they came to, and lets go of all runs. */
  async stop(ms: number): Promise<void> {
    assert(this.#mode === 'running');
    this.#mode = 'stopping';
    this.#alone.drop();
    const timer = setTimeout(() => this.#givingUp.abort(), ms);
    while (this.#working.size > 0) await Promise.all(this.#working);
    clearTimeout(timer);
    await this.#turn(this.#held.in('ready').filter(({ attempt }) => attempt));
    assert(this.#mode === 'stopping');
    this.#mode = 'stopped';
    await this.#release(this.#held.all().map(asItStands(this.#options.clock.now())));
  }

  /** Begins whatever there is room for. */
  #go(): void {
    if (this.#mode !== 'running') return;
    while (this.#turns < MOST_TURNS) {
      const batch = [...this.#nextInLine(), ...this.#held.in('ready', TURN_SIZE)].slice(0, TURN_SIZE);
      if (batch.length === 0) break;
      this.#turns += 1;
      this.#work(
        batch,
        this.#turn(batch).finally(() => {
          this.#turns -= 1;
        }),
      );
    }
  }

  /** Who waits for a slot, longest first, as far as there is one for its workspace. */
  #nextInLine(): Holding[] {
    if (this.#sender.slots.underWay() === this.#sender.slots.total) return [];
    const room = new Map<string, number>();
    return this.#held.in('in_line').filter(({ run: { workspace_id: workspaceId } }) => {
      const left = room.get(workspaceId) ?? this.#sender.slots.room(workspaceId, TURN_SIZE);
      room.set(workspaceId, left - 1);
      return left > 0;
    });
  }

  /** What fails in a way that nobody has thought of is forgotten here: the engine finds it in the database. */
  #work(runs: readonly Holding[], promise: Promise<unknown>): void {
    const work: Promise<void> = promise
      .catch((error) => {
        this.#options.log.error(
          { err: error, runs: runs.length },
          'runs could not be moved on; they are taken up again',
        );
        for (const each of runs.filter(isHeld)) this.#held.move(each, 'gone');
      })
      .then(() => {
        this.#working.delete(work);
        this.#go();
        this.#options.onRoom();
      });
    this.#working.add(work);
  }

  /** Decides the next step of some runs and commits what can be committed together. */
  async #turn(batch: readonly Holding[]): Promise<void> {
    const now = this.#options.clock.now();
    for (const each of batch) this.#held.move(each, 'moving');
    const line = new Shares(LONGEST_LINE);
    for (const { run } of this.#held.in('in_line')) line.add(run.workspace_id);
    const changes: Change[] = [];
    const requests: [Holding, HttpNode, Change][] = [];
    const releases: Release[] = [];
    for (const each of batch) {
      const step = this.#decide(each, now);
      if (step.kind === 'change') changes.push(step.change);
      else if (step.kind === 'rest') releases.push([each, step.dueAt]);
      else if (step.kind !== 'send') {
        this.#held.move(each, 'alone');
        this.#work(
          [each],
          this.#alone(each.run.workspace_id, () => this.#carryOutAlone(each, step.node)),
        );
      } else if (this.#sender.slots.take(each.run.workspace_id)) {
        requests.push([each, step.node, step.change]);
        changes.push(step.change);
      } else if (line.take(each.run.workspace_id)) this.#held.move(each, 'in_line');
      else releases.push([each, new Date(now.getTime() + LATER_MS)]);
    }
    const committing = commitChanges(this.#options, changes);
    for (const [each, node, change] of requests) {
      const isCommitted = committing.then((outcomes) => outcomes.some((outcome) => outcome.change === change));
      this.#work([each], this.#request(each, node, isCommitted));
    }
    const releasing = this.#release(releases);
    // Before any answer to what was sent: it is about what was committed.
    await this.#settle(batch, await committing);
    await releasing;
  }

  #decide(each: Holding, now: Date): NextStep {
    const { run, flow } = each;
    try {
      const step = nextStep(each, now);
      return 'change' in step ? { ...step, change: { ...step.change, flow } } : step;
    } catch (error) {
      const where = { runId: run.id, nodeId: run.node_id };
      this.#options.log.error({ err: error, ...where }, 'a step of a run could not be decided');
      const fault = { code: 'internal', message: 'The step could not be carried out.' };
      return { kind: 'change', change: fail(run, fault, now) };
    }
  }

  async #request(each: Holding, node: HttpNode, isCommitted: Promise<boolean>): Promise<void> {
    this.#held.move(each, 'requesting');
    const attempt = await this.#sender.send(each.run, node, isCommitted);
    if (!attempt || !isHeld(each)) return;
    each.attempt = attempt;
    this.#held.move(each, 'ready');
  }

  async #carryOutAlone(each: Holding, node: CallNode | ChildNode): Promise<void> {
    const carryOut = async (tx: EngineTx) => {
      const done = await this.#options.carryOutAlone(tx, each.run, node);
      return { ...done, change: { ...done.change, flow: each.flow } };
    };
    await this.#settle([each], [await commitAlone(this.#options, each.run, carryOut)]);
  }

  /** Has each run go on from what became of its change, or lets go of it. */
  async #settle(batch: readonly Holding[], outcomes: readonly Outcome[]): Promise<void> {
    const holdings = new Map(batch.filter(isHeld).map((each) => [each.run, each]));
    const now = this.#options.clock.now();
    const releases: Release[] = [];
    const again: Holding[] = [];
    for (const { before, kind, change } of outcomes) {
      const each = holdings.get(before);
      if (!each) continue;
      if (change) this.#goOn(each, after(change));
      else if (kind === 'passing') again.push(each);
      else if (kind === 'refused') releases.push([each, new Date(now.getTime() + REFUSED_MS)]);
      else releases.push(asItStands(now)(each));
    }
    this.#options.onWritten(outcomes.flatMap(({ change }) => change ?? []));
    this.#go();
    await this.#release(releases);
    if (again.length === 0) return;
    await sleep(RETRY_MS);
    for (const each of again.filter(isHeld)) this.#held.move(each, 'ready');
  }

  #goOn(each: Holding, run: RunRow): void {
    each.run = run;
    each.signal = undefined;
    each.attempt = undefined;
    if (run.server_id === null) this.#held.move(each, 'gone');
    else if (each.mode !== 'requesting') this.#held.move(each, 'ready');
  }

  /** Lets go of runs in the database and in memory. Where that fails the engine finds them there later. */
  async #release(releases: readonly Release[]): Promise<void> {
    const held = releases.filter(([each]) => isHeld(each));
    if (held.length === 0) return;
    for (const [each] of held) this.#held.move(each, 'gone');
    const runs = held.map(([{ run }, dueAt]) => ({ run, dueAt }));
    const { database, log } = this.#options;
    await database
      .inHotLoop((tx) => releaseRuns(tx, runs))
      .catch((error) => log.warn({ err: error, runs: runs.length }, 'runs could not be let go of; that is done later'));
  }
}

const isHeld = ({ mode }: Holding): boolean => mode !== 'gone';

/** One that waits for a signal is claimed with it, any other at once. */
const asItStands =
  (now: Date) =>
  (each: Holding): Release => [each, each.run.waits_for === null ? now : null];
