import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Clock } from '../../foundation/values/clock.ts';
import type { Witness, WitnessEntry } from './witness.ts';

/** How long a set may wait until it is written, in milliseconds; what it holds is not placed after that. */
const LATEST_MS = 1000;
/** How long it rests before it tries again to write, in milliseconds. */
const AGAIN_MS = 500;
/** The most that are written at once: of a backlog what was written must not be written again. */
const MOST_AT_ONCE = 20;

/** Writes to this process's own witness, in order; what could not be written is tried again until it is. */
export interface WitnessWriter {
  /** Answers whether it was written in time; late, it is written all the same. */
  write(slot: number, entry: WitnessEntry): Promise<boolean>;
  /** Since when it can't be written; undefined where it can. */
  unwrittenSince(): Date | undefined;
  /** Tries once more, and gives up what is left. */
  close(): Promise<void>;
}

/** @param onTurn called when it can't be written any more, and when it can again */
export function createWitnessWriter(options: {
  witness: Witness;
  log: Logger;
  clock: Clock;
  onTurn: (since: Date | undefined) => void;
}): WitnessWriter {
  const { witness, log, clock } = options;
  let waiting: { slot: number; entry: WitnessEntry; done: () => void }[] = [];
  let since: Date | undefined;
  let isWorking = false;
  let working = Promise.resolve();
  const closing = new AbortController();

  const turn = (to: Date | undefined, error?: unknown) => {
    if ((since === undefined) === (to === undefined)) return;
    since = to;
    if (to) log.error({ err: error }, 'the witness can not be written; nothing is placed until it can');
    else log.info('the witness can be written again');
    options.onTurn(to);
  };

  async function work(): Promise<void> {
    for (isWorking = true; waiting.length > 0; ) {
      const { slot } = waiting[0]!;
      const other = waiting.findIndex((each) => each.slot !== slot);
      const set = waiting.slice(0, Math.min(other < 0 ? waiting.length : other, MOST_AT_ONCE));
      waiting = waiting.slice(set.length);
      try {
        await witness.append(
          slot,
          set.map(({ entry }) => entry),
        );
        for (const { done } of set) done();
        if (waiting.length === 0) turn(undefined);
      } catch (error) {
        waiting = [...set, ...waiting];
        turn(clock.now(), error);
        if (closing.signal.aborted) break;
        await sleep(AGAIN_MS, undefined, { signal: closing.signal }).catch(() => {});
      }
    }
    isWorking = false;
  }

  return {
    write: (slot, entry) =>
      new Promise((resolve) => {
        const late = setTimeout(() => {
          turn(clock.now(), new Error(`nothing was written for ${LATEST_MS} ms`));
          resolve(false);
        }, LATEST_MS);
        const done = () => {
          clearTimeout(late);
          resolve(true);
        };
        waiting.push({ slot, entry, done });
        if (!isWorking) working = work();
      }),
    unwrittenSince: () => since,
    close: async () => {
      closing.abort();
      await Promise.race([working, sleep(LATEST_MS)]);
    },
  };
}
