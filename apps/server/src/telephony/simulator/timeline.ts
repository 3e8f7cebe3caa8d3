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

const before = (a: Entry<unknown>, b: Entry<unknown>) => a.at < b.at || (a.at === b.at && a.order < b.order);

function push<Item>(heap: Entry<Item>[], entry: Entry<Item>): void {
  let index = heap.length;
  while (index > 0) {
    const parent = (index - 1) >> 1;
    if (!before(entry, heap[parent]!)) break;
    heap[index] = heap[parent]!;
    index = parent;
  }
  heap[index] = entry;
}

function pop<Item>(heap: Entry<Item>[]): Entry<Item> {
  const first = heap[0]!;
  const last = heap.pop()!;
  if (heap.length === 0) return first;
  let index = 0;
  for (;;) {
    let child = 2 * index + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && before(heap[child + 1]!, heap[child]!)) child += 1;
    if (!before(heap[child]!, last)) break;
    heap[index] = heap[child]!;
    index = child;
  }
  heap[index] = last;
  return first;
}

/** A timeline that hands `run` everything that is due, in order, as one set. `run` may add more. */
export function createTimeline<Item>(time: SimulatorTime, run: (items: Item[]) => void): Timeline<Item> {
  const heap: Entry<Item>[] = [];
  let added = 0;
  let wake: { at: number; cancel: () => void } | undefined;

  const setWake = () => {
    const next = heap[0];
    if (!next || (wake && wake.at <= next.at)) return;
    wake?.cancel();
    wake = { at: next.at, cancel: time.wakeAt(next.at, runDue) };
  };
  const runDue = () => {
    wake = undefined;
    const now = time.now().getTime();
    const due: Item[] = [];
    while (heap[0] && heap[0].at <= now) due.push(pop(heap).item);
    if (due.length > 0) run(due);
    setWake();
  };

  return {
    add(at, item) {
      push(heap, { at, order: added, item });
      added += 1;
      setWake();
    },
    clear() {
      heap.length = 0;
      wake?.cancel();
      wake = undefined;
    },
  };
}
