/** Work done in sets, asked for one by one. */
export interface Coalesced<Item, Result> {
  /** Answers with the item's own result, or throws what its set's work threw. */
  (item: Item): Promise<Result>;
  /** Resolves once no work is under way or waiting. */
  idle(): Promise<void>;
}

interface Waiting<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/**
 * Gathers what is asked for while the last set is worked on, at most `atMost` items, and does it as the next one.
 * `work` answers with one result for each item, in their order.
 */
export function coalesce<Item, Result>(
  atMost: number,
  work: (items: Item[]) => Promise<Result[]>,
): Coalesced<Item, Result> {
  let waiting: Waiting<Item, Result>[] = [];
  let running: Promise<void> | undefined;

  const runAll = async () => {
    while (waiting.length > 0) {
      const set = waiting.slice(0, atMost);
      waiting = waiting.slice(atMost);
      try {
        const results = await work(set.map(({ item }) => item));
        set.forEach(({ resolve }, index) => {
          resolve(results[index]!);
        });
      } catch (error) {
        for (const { reject } of set) reject(error);
      }
    }
    running = undefined;
  };

  const ask = (item: Item) =>
    new Promise<Result>((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      // The microtask lets everything that is asked for in this turn join the first set.
      running ??= Promise.resolve().then(runAll);
    });
  return Object.assign(ask, { idle: async () => running });
}
