import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../foundation/database/database.ts';
import type { Clock } from '../../foundation/values/clock.ts';
import type { Asleep } from './every.ts';

/**
 * For so long after the last word from any server no loop sleeps, and how long it then sleeps at most, in milliseconds:
 * one that says when it is due, and one that can't.
 */
const limits = { awakeMs: 10_000, longestMs: 30_000, longestBlindMs: 30_000 };

export type QuietLimits = Partial<typeof limits>;

/** How often the database is asked when the loops that sleep are due. */
const ASK_MS = 1000;

/**
 * SQL without values: an instant at or before the first at which a loop finds something to do, null where it waits for word.
 * Of what can't be told by a time alone, `epoch`: the loop then runs as often as ever.
 */
export type DueTime = RawBuilder<Date | null>;

/** A loop that may sleep. */
interface Sleeper {
  due: DueTime | undefined;
  /** When it is due by business time, in milliseconds since the epoch. */
  at: number;
  /** Until when it sleeps at most, by `performance.now()`. */
  until: number;
  wake: (() => void) | undefined;
}

/**
 * Has loops sleep while nothing happens on any server. What makes work is told to all servers, and ends the sleep; what falls
 * due by time does so too; and word that was lost is made up for within a second, since all loops are asked for in one
 * statement.
 */
export class Quiet {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #limits: typeof limits;
  readonly #sleepers: Sleeper[] = [];
  #isListening = false;
  #heardAt = performance.now();
  #askedAt = 0;
  #asking: Promise<void> | undefined;
  #reading: NodeJS.Timeout | undefined;

  constructor(options: { database: Database; clock: Clock; limits?: QuietLimits | undefined }) {
    this.#limits = { ...limits, ...options.limits };
    this.#database = options.database;
    this.#clock = options.clock;
    known.set(options.database, this);
  }

  /** There was word of a change: all loops are awake for a while. */
  word(): void {
    this.#heardAt = performance.now();
    for (const sleeper of this.#sleepers) this.#wake(sleeper);
  }

  /** Whether word of other servers comes. While it does not, nobody sleeps. */
  listening(isListening: boolean): void {
    this.#isListening = isListening;
    this.word();
  }

  /** Whether others may soon sleep who must know of a change. */
  needsWord(): boolean {
    return performance.now() - this.#heardAt > this.#limits.awakeMs / 2;
  }

  /** What a loop waits for after each rest: at once over while there was word lately, else once it is due. */
  add(due: DueTime | undefined): Asleep {
    const sleeper: Sleeper = { due, at: Number.POSITIVE_INFINITY, until: 0, wake: undefined };
    this.#sleepers.push(sleeper);
    return async (signal) => {
      if (signal.aborted || !this.#isListening || performance.now() - this.#heardAt < this.#limits.awakeMs) return;
      sleeper.until = performance.now() + (due ? this.#limits.longestMs : this.#limits.longestBlindMs);
      const sleep = new Promise<void>((resolve) => {
        sleeper.wake = resolve;
      });
      const wake = () => this.#wake(sleeper);
      signal.addEventListener('abort', wake);
      this.#read();
      await sleep;
      signal.removeEventListener('abort', wake);
    };
  }

  #wake(sleeper: Sleeper): void {
    sleeper.wake?.();
    sleeper.wake = undefined;
  }

  /** Wakes those that are due, and comes again when the next is, or the database is to be asked. */
  #read(): void {
    clearTimeout(this.#reading);
    const [now, passed] = [this.#clock.now().getTime(), performance.now()];
    for (const sleeper of this.#sleepers)
      if (sleeper.wake && (sleeper.at <= now || sleeper.until <= passed)) this.#wake(sleeper);
    const asleep = this.#sleepers.filter(({ wake }) => wake);
    if (asleep.length === 0) return;
    if (passed - this.#askedAt >= ASK_MS) this.#ask();
    const waits = asleep.map(({ at, until }) => Math.min(at - now, until - passed));
    if (!this.#asking) waits.push(this.#askedAt + ASK_MS - passed);
    this.#reading = setTimeout(() => this.#read(), Math.min(...waits)).unref();
  }

  /** Asks when they are due. Where that fails, each fails by itself, and says so. */
  #ask(): void {
    this.#asking ??= this.#askNow()
      .catch(() => {
        for (const sleeper of this.#sleepers) this.#wake(sleeper);
      })
      .finally(() => {
        this.#asking = undefined;
        this.#read();
      });
  }

  async #askNow(): Promise<void> {
    this.#askedAt = performance.now();
    const loops = this.#sleepers.filter(({ due }) => due);
    const times = loops.map(({ due }, place) => sql`(${due}) as ${sql.ref(`loop_${place}`)}`);
    const { rows } = await this.#database.inHotLoop(({ db }) =>
      sql<Record<string, Date | null>>`select ${sql.join(times)}`.execute(db),
    );
    for (const [place, loop] of loops.entries()) {
      const at = rows[0]?.[`loop_${place}`];
      loop.at = at ? Number(at) : Number.POSITIVE_INFINITY;
    }
  }
}

const known = new WeakMap<Database, Quiet>();

/** Ends the sleep of all loops of a server, as word of a change does: for who sets its clock. */
export const wakeLoops = (database: Database): void => known.get(database)?.word();

/**
 * What a loop waits for after each rest (`every`), so that it sleeps while nothing happens.
 * @param due when it has something to do by itself; without it, it sleeps until there is word, or for half a minute
 */
export const whileQuiet = (database: Database, due?: DueTime): Asleep | undefined => known.get(database)?.add(due);
