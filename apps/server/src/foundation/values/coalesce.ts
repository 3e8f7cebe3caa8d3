import { setTimeout as sleep } from 'node:timers/promises';
import { Yallist } from 'yallist';

/** Work done in sets, asked for one by one. */
export interface Coalesced<Item, Result> {
  /** Answers with the item's own result, or throws what its set's work threw. */
  (item: Item): Promise<Result>;
  /** Resolves once no work is under way or waiting. */
  idle(): Promise<void>;
}

/** How sets are made. */
export interface SetTerms<Item> {
  /** How long a set is gathered before its work begins, in milliseconds; by default for this turn of the event loop. */
  ms?: number;
  /**
   * The longest that a set is gathered, in milliseconds: as long as the set before took to be done, `ms` at least. Who
   * shares a slow database with others so asks it for fewer and larger sets. By default, `ms`.
   */
  mostMs?: number;
  /** The most items of a set; by default all that wait. */
  atMost?: number;
  /** The most sets that are worked on at a time; by default one. */
  sets?: number;
  /**
   * Whether an item may join a set. One that may not waits for a later one; those behind it may come first, as long as they
   * are not more than `MOST_PASSED_OVER` further back.
   */
  fits?: (set: readonly Item[], item: Item) => boolean;
  /** Has the items of a set whose work threw done one by one: what is wrong with one is not the others' fault. */
  oneByOne?: boolean;
}

/** How many items that don't fit a set are passed over for those behind them: however many wait, a set costs no more. */
const MOST_PASSED_OVER = 1000;

interface Waiting<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/**
 * Gathers what is asked for, also while earlier sets are worked on, and does it in sets.
 * @param work answers with one result for each item, in their order, or with nothing
 */
export function coalesce<Item, Result>(
  work: (items: Item[]) => Promise<readonly Result[]> | Promise<void>,
  terms: SetTerms<Item> = {},
): Coalesced<Item, Result> {
  const {
    ms = 0,
    mostMs = ms,
    atMost = Number.POSITIVE_INFINITY,
    sets = 1,
    fits = () => true,
    oneByOne = false,
  } = terms;
  const waiting = new Yallist<Waiting<Item, Result>>();
  let gatherMs = ms;
  let underWay = 0;
  const idlers: (() => void)[] = [];

  const take = () => {
    const items: Item[] = [];
    const taken: Waiting<Item, Result>[] = [];
    let passedOver = 0;
    for (let each = waiting.head; each && items.length < atMost && passedOver <= MOST_PASSED_OVER; ) {
      const behind: typeof each | undefined = each.next;
      if (fits(items, each.value.item)) {
        items.push(each.value.item);
        taken.push(each.value);
        waiting.removeNode(each);
      } else passedOver += 1;
      each = behind;
    }
    return taken;
  };

  const carryOut = async (taken: Waiting<Item, Result>[]): Promise<void> => {
    try {
      const results = (await work(taken.map(({ item }) => item))) as Result[] | undefined;
      for (const [at, { resolve }] of taken.entries()) resolve(results?.[at] as Result);
    } catch (error) {
      if (oneByOne && taken.length > 1) for (const each of taken) await carryOut([each]);
      else for (const { reject } of taken) reject(error);
    }
  };

  const workOnSets = async () => {
    while (waiting.length > 0) {
      // Without a time, everything that is asked for in this turn joins the set.
      if (waiting.length < atMost) await (gatherMs > 0 ? sleep(gatherMs) : undefined);
      const taken = take();
      if (taken.length === 0) break;
      const began = performance.now();
      await carryOut(taken);
      gatherMs = Math.min(Math.max(performance.now() - began, ms), mostMs);
    }
    underWay -= 1;
    if (underWay === 0) for (const resolve of idlers.splice(0)) resolve();
  };

  const ask = (item: Item) =>
    new Promise<Result>((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      if (underWay === sets) return;
      underWay += 1;
      void workOnSets();
    });
  const idle = () => (underWay === 0 ? Promise.resolve() : new Promise<void>((resolve) => idlers.push(resolve)));
  return Object.assign(ask, { idle });
}
