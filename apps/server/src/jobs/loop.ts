import type { Logger } from 'pino';

/** Something that a process does over and over. */
export interface Loop {
  /** Runs it at once instead of at its next time. */
  nudge(): void;
  /** Ends it; resolves when a run that is under way is over. */
  stop(): Promise<void>;
}

/**
 * Runs `act`, waits, and runs it again. `act` answers whether there is more to do at once; otherwise the next run is
 * after `restMs` or at a nudge. A failure is logged and the loop goes on after a rest.
 */
export function startLoop(options: { name: string; restMs: number; log: Logger; act: () => Promise<boolean> }): Loop {
  const { name, restMs, log, act } = options;
  let stopped = false;
  let nudged = false;
  let wake: (() => void) | undefined;

  const rest = () =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, restMs);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  const run = async () => {
    while (!stopped) {
      nudged = false;
      let more = false;
      try {
        more = await act();
      } catch (error) {
        log.error({ err: error }, `${name} failed; it is tried again`);
      }
      if (!more && !nudged && !stopped) await rest();
      wake = undefined;
    }
  };
  const running = run();

  return {
    nudge: () => {
      nudged = true;
      wake?.();
    },
    stop: async () => {
      stopped = true;
      wake?.();
      await running;
    },
  };
}
