/** What is due at a fixed beat. */
export interface Paced {
  /** @param now in ms, of `performance.now()` */
  play(now: number): void;
  /** The clock stood still for too long to make up for: so many of its turns have passed. */
  skip(turns: number): void;
}

const TICK_MS = 5;
/** A round of ticks that every packet time (10, 20, 30, 40, 60 ms) divides. */
const TICKS = 120 / TICK_MS;
/** What is made up for after a stall; more is skipped. */
const MAX_CATCH_UP_MS = 100;
/** The latest turn is told of for so long at least, in ms. */
const LATEST_MS = 10_000;
/** A thread is behind where every turn of so long, in ms, began this late: a packet's time. One that has stalled catches up. */
const BEHIND_OVER_MS = 1000;
const BEHIND_MS = 20;
/** A turn that begins so late, in ms, says that others take the time of the calls. */
const LATE_MS = 10;

/**
 * One scheduler for all calls of a thread. Calls are spread evenly over the ticks, and each tick's timer is set for when
 * it is due by the clock, so that lateness doesn't add up. It rests while nothing is to be paced.
 */
export class Pacer {
  #slots = Array.from({ length: TICKS }, () => new Set<Paced>());
  #size = 0;
  /** When the slot `#at` is due. */
  #due = 0;
  #at = 0;
  #timer: NodeJS.Timeout | NodeJS.Immediate | undefined;
  /** How late the latest turn was, since `#since` and in the time before. */
  #latest = 0;
  #latestBefore = 0;
  #since = 0;
  /** How late the earliest turn was of those since `#leastSince`, and whether those before were all too late. */
  #least = Number.POSITIVE_INFINITY;
  #leastSince = 0;
  #isBehind = false;
  #now: () => number;
  #onLate: () => void;

  /**
   * @param now in ms; never set back
   * @param onLate told of each turn that begins more than 10 ms late
   */
  constructor(now: () => number = () => performance.now(), onLate: () => void = () => {}) {
    this.#now = now;
    this.#onLate = onLate;
  }

  /**
   * Has a call played every `periodMs`: 10, 20, 30, 40 or 60.
   * @returns ends it
   */
  add(call: Paced, periodMs: number): () => void {
    const step = periodMs / TICK_MS;
    let first = 0;
    for (let slot = 1; slot < step; slot += 1) if (this.#slots[slot]!.size < this.#slots[first]!.size) first = slot;
    const slots = this.#slots.filter((_, slot) => slot % step === first);
    for (const slot of slots) slot.add(call);
    this.#size += 1;
    if (!this.#timer) this.#start();
    let ended = false;
    return () => {
      if (ended) return;
      ended = true;
      for (const slot of slots) slot.delete(call);
      this.#size -= 1;
      if (this.#size > 0) return;
      this.#disarm();
    };
  }

  /** How late, in ms, the latest turn began: of the last ten seconds, and back to the last question before them. */
  worstLateMs(): number {
    const now = this.#now();
    if (now - this.#since > LATEST_MS) {
      this.#latestBefore = this.#latest;
      this.#latest = 0;
      this.#since = now;
    }
    return Math.max(this.#latest, this.#latestBefore);
  }

  /** Whether there is more to play than there is time for: another call would take from those that are up. */
  isBehind(): boolean {
    return this.#isBehind && this.#size > 0;
  }

  #start(): void {
    this.#isBehind = false;
    this.#least = Number.POSITIVE_INFINITY;
    this.#leastSince = this.#now();
    this.#due = this.#now() + TICK_MS;
    this.#arm();
  }

  /** Where a turn is late already, what has arrived is read before it: timers that are due at once would keep it waiting. */
  #arm(): void {
    const turn = () => {
      this.run();
      if (this.#size > 0) this.#arm();
    };
    const wait = Math.ceil(this.#due - this.#now());
    this.#timer = wait > 0 ? setTimeout(turn, wait) : setImmediate(turn);
  }

  #disarm(): void {
    clearTimeout(this.#timer as NodeJS.Timeout);
    clearImmediate(this.#timer as NodeJS.Immediate);
    this.#timer = undefined;
  }

  #note(lateMs: number, now: number): void {
    this.#latest = Math.max(this.#latest, lateMs);
    this.#least = Math.min(this.#least, lateMs);
    if (lateMs > LATE_MS) this.#onLate();
    if (now - this.#leastSince < BEHIND_OVER_MS) return;
    this.#isBehind = this.#least >= BEHIND_MS;
    this.#least = Number.POSITIVE_INFINITY;
    this.#leastSince = now;
  }

  /** Each call misses the turns that it had in these slots, and no other time: the next one is due as it ever was. */
  #skip(slots: number): void {
    if (slots <= 0) return;
    const missed = new Map<Paced, number>();
    for (let ahead = 0; ahead < Math.min(slots, TICKS); ahead += 1) {
      const times = Math.ceil((slots - ahead) / TICKS);
      for (const call of this.#slots[(this.#at + ahead) % TICKS]!) missed.set(call, (missed.get(call) ?? 0) + times);
    }
    this.#due += slots * TICK_MS;
    this.#at = (this.#at + slots) % TICKS;
    for (const [call, turns] of missed) call.skip(turns);
  }

  /** Plays what is due as it begins, so that it comes to an end where playing takes longer than what is played. */
  run(): void {
    let now = this.#now();
    this.#note(now - this.#due, now);
    this.#skip(Math.floor((now - this.#due - MAX_CATCH_UP_MS) / TICK_MS));
    const until = now;
    while (this.#due <= until && this.#size > 0) {
      for (const call of this.#slots[this.#at]!) call.play(now);
      this.#at = (this.#at + 1) % TICKS;
      this.#due += TICK_MS;
      now = this.#now();
    }
  }
}
