import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { isDatabaseLost } from '../../foundation/database/errors.ts';

/** Something that a process does over and over. */
export interface Repeating {
  /** Runs it at once instead of at its next time. */
  nudge(): void;
  /** Ends it; resolves when a run that is under way, whose signal is aborted, is over. */
  close(): Promise<void>;
}

/** Waits while there is nothing to do, until its signal is aborted at the latest. */
export type Asleep = (signal: AbortSignal) => Promise<void>;

/** The longest rest between runs that fail, unless they stand further apart anyway. */
const LONGEST_REST_MS = 5000;

/**
 * Runs something again and again until closed: at once where it answers `true`, since there is more to do, else `ms`
 * after its last end and what `asleep` waits for after that (`whileQuiet`), or at a nudge. While it throws it rests longer and longer, and the log tells of the 1st, 2nd, 4th,
 * 8th … failure in a row. That the database is away is told of elsewhere (`outage.ts`).
 */
export function every(
  ms: number,
  run: (signal: AbortSignal) => Promise<unknown>,
  { name, log, asleep }: { name: string; log: Logger; asleep?: Asleep | undefined },
): Repeating {
  const closing = new AbortController();
  let resting = new AbortController();
  let failures = 0;
  /** Those that are told of here. */
  let faults = 0;

  const once = async () => {
    try {
      const hasMore = (await run(closing.signal)) === true;
      if (faults > 0) log.info({ loop: name, failures: faults }, 'a background run works again');
      failures = 0;
      faults = 0;
      return hasMore;
    } catch (error) {
      failures += 1;
      if (closing.signal.aborted || isDatabaseLost(error)) return false;
      faults += 1;
      if (Number.isInteger(Math.log2(faults)))
        log.error({ err: error, loop: name, failures: faults }, 'a background run failed; it is tried again');
      return false;
    }
  };
  const restMs = () => Math.max(ms, Math.min(ms * 2 ** Math.max(failures - 1, 0), LONGEST_REST_MS));
  const running = (async () => {
    while (!closing.signal.aborted) {
      resting = new AbortController();
      const hasMore = await once();
      if (hasMore) continue;
      await sleep(restMs(), undefined, { signal: resting.signal }).catch(() => undefined);
      if (failures === 0) await asleep?.(resting.signal);
    }
  })();

  return {
    nudge: () => resting.abort(),
    close: () => {
      closing.abort();
      resting.abort();
      return running;
    },
  };
}
