import { setTimeout as sleep } from 'node:timers/promises';

/** The most rows that one statement deletes: what waits for its locks waits for milliseconds. */
export const MOST_AT_ONCE = 5000;

/** The longest rest between two chunks. */
const LONGEST_REST_MS = 1000;

/**
 * Deletes chunk after chunk, and rests after each for as long as it took: what is erased leaves the database half of its
 * time at least.
 * @param erase deletes at most a chunk, and answers whether there may be more
 * @param signal ends it between two chunks
 */
export async function inChunks(erase: () => Promise<boolean>, signal?: AbortSignal): Promise<void> {
  for (;;) {
    const began = performance.now();
    if (!(await erase()) || signal?.aborted) return;
    const restMs = Math.min(performance.now() - began, LONGEST_REST_MS);
    await sleep(restMs, undefined, { signal }).catch(() => undefined);
    if (signal?.aborted) return;
  }
}
