import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';

/**
 * Runs something again and again, `ms` after its last end, until closed. What it throws is logged.
 * @returns what stops it, after the run that is under way
 */
export function every(
  ms: number,
  run: (signal: AbortSignal) => Promise<unknown>,
  { name, log }: { name: string; log: Logger },
): { close(): Promise<void> } {
  const closing = new AbortController();
  const running = (async () => {
    while (!closing.signal.aborted) {
      await run(closing.signal).catch((error) => {
        if (!closing.signal.aborted) log.error({ err: error, loop: name }, 'a background run failed');
      });
      await sleep(ms, undefined, { signal: closing.signal }).catch(() => undefined);
    }
  })();
  return {
    close: () => {
      closing.abort();
      return running;
    },
  };
}
