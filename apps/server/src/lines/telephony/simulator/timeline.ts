import TinyQueue from 'tinyqueue';
import type { SimulatorTime } from './time.ts';

/** Things that fall due, ten thousands of them on one timer: a binary heap of due times. */
export interface Timeline<Item> {
  /** `at` in milliseconds since the epoch. */
  add(at: number, item: Item): void;
  /** Forgets everything. */
  clear(): void;
}

interface Entry<Item> {
  at: number;
  /** Keeps things of the same moment in the order of their adding. */
  order: number;
  item: Item;
}

const earliestFirst = (a: Entry<unknown>, b: Entry<unknown>) => a.at - b.at || a.order - b.order;

/** A timeline that hands `run` everything that is due, in order, as one set. `run` may add more. */
export function createTimeline<Item>(time: SimulatorTime, run: (items: Item[]) => void): Timeline<Item> {
  let heap = new TinyQueue<Entry<Item>>([], earliestFirst);
  let added = 0;
  let wake: { at: number; cancel: () => void } | undefined;

  const setWake = () => {
    const next = heap.peek();
    if (!next || (wake && wake.at <= next.at)) return;
    wake?.cancel();
    wake = { at: next.at, cancel: time.wakeAt(next.at, runDue) };
  };
  const runDue = () => {
    wake = undefined;
    const now = time.now().getTime();
    const due: Item[] = [];
    while (heap.length > 0 && heap.peek()!.at <= now) due.push(heap.pop()!.item);
    if (due.length > 0) run(due);
    setWake();
  };

  return {
    add(at, item) {
      heap.push({ at, order: added, item });
      added += 1;
      setWake();
    },
    clear() {
      heap = new TinyQueue<Entry<Item>>([], earliestFirst);
      wake?.cancel();
      wake = undefined;
    },
  };
}
