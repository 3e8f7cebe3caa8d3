import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';

/** Something that a process does over and over. */
export interface Repeating {
  /** Runs it at once instead of at its next time. */
  nudge(): void;
  /** Ends it; resolves when a run that is under way, whose signal is aborted, is over. */
  close(): Promise<void>;
}

/**
 * Runs something again and again until closed: at once where it answers `true`, since there is more to do, else `ms`
 * after its last end or at a nudge. What it throws is logged.
 */
export function every(
  ms: number,
  run: (signal: AbortSignal) => Promise<unknown>,
  { name, log }: { name: string; log: Logger },
): Repeating {
  const closing = new AbortController();
  let resting = new AbortController();

  const once = async () => {
    try {
      return (await run(closing.signal)) === true;
    } catch (error) {
      if (!closing.signal.aborted) log.error({ err: error, loop: name }, 'a background run failed; it is tried again');
      return false;
    }
  };
  const running = (async () => {
    while (!closing.signal.aborted) {
      resting = new AbortController();
      const hasMore = await once();
      if (!hasMore) await sleep(ms, undefined, { signal: resting.signal }).catch(() => undefined);
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
