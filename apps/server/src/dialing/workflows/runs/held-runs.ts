import assert from 'node:assert';
import type { HeldRun } from './advance-run.ts';

/** What each mode of a held run may change to. */
const modes = {
  /** Wants to be moved on. */
  ready: ['moving', 'gone'],
  /** Its next step is being decided and committed, with those of others. */
  moving: ['ready', 'alone', 'in_line', 'requesting', 'gone'],
  /** Has a transaction of its own, or waits for one. */
  alone: ['ready', 'gone'],
  /** Waits for a slot to send its request from. */
  in_line: ['moving', 'gone'],
  /** That its request goes out is being committed, or it is under way. */
  requesting: ['ready', 'gone'],
  /** Is held no more: what still comes for it is dropped. */
  gone: [],
} as const;

export type HeldMode = keyof typeof modes;
type HeldIn = Exclude<HeldMode, 'gone'>;

/** A run that this process holds, and where it stands. Only `HeldRuns` changes its mode. */
export interface Holding extends HeldRun {
  mode: HeldMode;
}

/** The runs that this process holds, of each mode in the order in which they came to it. */
export class HeldRuns {
  readonly #held = new Map<string, Holding>();
  readonly #in: Record<HeldIn, Set<Holding>> = {
    ready: new Set(),
    moving: new Set(),
    alone: new Set(),
    in_line: new Set(),
    requesting: new Set(),
  };

  /** Holds a run from now on. One that is held already was taken away and claimed again: what it was is gone. */
  add(run: HeldRun): Holding {
    const before = this.#held.get(run.run.id);
    if (before) this.move(before, 'gone');
    const holding: Holding = { ...run, mode: 'ready' };
    this.#held.set(run.run.id, holding);
    this.#in.ready.add(holding);
    return holding;
  }

  /** Fails where the table of modes doesn't know the move. */
  move(holding: Holding, to: HeldMode): void {
    const { mode, run } = holding;
    assert((modes[mode] as readonly HeldMode[]).includes(to), `A held run can not move from ${mode} to ${to}.`);
    if (mode !== 'gone') this.#in[mode].delete(holding);
    holding.mode = to;
    if (to === 'gone') this.#held.delete(run.id);
    else this.#in[to].add(holding);
  }

  /** Those of a mode, the longest in it first, at most `most`. */
  in(mode: HeldIn, most = Number.POSITIVE_INFINITY): Holding[] {
    const found: Holding[] = [];
    for (const each of this.#in[mode]) {
      if (found.length >= most) break;
      found.push(each);
    }
    return found;
  }

  count(...wanted: HeldIn[]): number {
    return wanted.reduce((sum, mode) => sum + this.#in[mode].size, 0);
  }

  all(): Holding[] {
    return [...this.#held.values()];
  }

  /** The UUIDs of all. */
  ids(): Set<string> {
    return new Set(this.#held.keys());
  }
}
