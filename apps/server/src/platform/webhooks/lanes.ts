/** Items that are worked on side by side, those that came first before the others. */
export interface Lanes<Item> {
  /**
   * Takes items, and resolves once half of them have begun: there is room for more then. It copies what still waits, so give it
   * many at a time.
   */
  add(items: readonly Item[]): Promise<void>;
  /** Has so many be worked on at a time from now on, no fewer than before. */
  widen(most: number): void;
  waiting(): number;
  /** Forgets the items that have not begun, and answers with them. */
  drop(): Item[];
  /** Resolves once nothing is worked on. */
  idle(): Promise<void>;
}

/**
 * Unlike a limiter it knows no keys, and an item that waits is nothing but its place in a list.
 * @param most how many are worked on at a time
 * @param work must not throw
 */
export function openLanes<Item>(most: number, work: (item: Item) => Promise<void>): Lanes<Item> {
  let items: Item[] = [];
  let begun = 0;
  /** What is told once so many have begun. */
  let enough = { begun: 0, tell: () => {} };
  let underWay = 0;
  const idlers: (() => void)[] = [];

  const workOn = async (): Promise<void> => {
    underWay += 1;
    while (begun < items.length) {
      const item = items[begun]!;
      begun += 1;
      if (begun === enough.begun) enough.tell();
      await work(item);
    }
    underWay -= 1;
    if (underWay === 0) for (const resolve of idlers.splice(0)) resolve();
  };
  const fill = () => {
    while (underWay < most && begun < items.length) void workOn();
  };

  return {
    add: (more) => {
      const left = items.slice(begun);
      items = [...left, ...more];
      begun = 0;
      return new Promise<void>((tell) => {
        enough = { begun: left.length + Math.ceil(more.length / 2), tell };
        fill();
      });
    },
    widen: (wider) => {
      most = wider;
      fill();
    },
    waiting: () => items.length - begun,
    drop: () => items.splice(begun),
    idle: () => (underWay === 0 ? Promise.resolve() : new Promise<void>((resolve) => idlers.push(resolve))),
  };
}
