import { setTimeout as sleep } from 'node:timers/promises';

/** How long what was read is given out, and how long a reading is waited for, in milliseconds. */
const KEPT_MS = 5000;
const LONGEST_MS = 2000;

/**
 * What is dear to read, for metrics: read at most every five seconds, however often it is asked for, and one reading at a
 * time. Answers with nothing where reading fails, or takes longer than two seconds.
 */
export function keptReading<T>(read: () => Promise<T>): () => Promise<T | undefined> {
  let latest: Promise<T | undefined> = Promise.resolve(undefined);
  let isReading = false;
  let until = Number.NEGATIVE_INFINITY;
  return () => {
    if (!isReading && performance.now() >= until) {
      isReading = true;
      until = performance.now() + KEPT_MS;
      latest = read()
        .catch(() => undefined)
        .finally(() => {
          isReading = false;
        });
    }
    return Promise.race([latest, sleep(LONGEST_MS, undefined, { ref: false })]);
  };
}
