import { setTimeout as sleep } from 'node:timers/promises';

/** How long results are gathered before they are written as a set. */
const GATHER_MS = 20;

/** Gathers results and writes them in sets, one after another. */
export interface Marks<Result> {
  add(result: Result): void;
  /** Whether a write has failed; nothing is written after it. */
  hasFailed(): boolean;
  /** Resolves when nothing is left to write. Throws what a write threw. */
  settled(): Promise<void>;
}

export function gatherMarks<Result>(write: (results: Result[]) => Promise<void>): Marks<Result> {
  let gathered: Result[] = [];
  let writing: Promise<void> | undefined;
  let failed = false;

  const writeAll = async () => {
    while (gathered.length > 0) {
      await sleep(GATHER_MS);
      const taken = gathered;
      gathered = [];
      await write(taken);
    }
    writing = undefined;
  };

  return {
    add: (result) => {
      gathered.push(result);
      if (writing) return;
      writing = writeAll();
      writing.catch(() => {
        failed = true;
      });
    },
    hasFailed: () => failed,
    settled: async () => writing,
  };
}
