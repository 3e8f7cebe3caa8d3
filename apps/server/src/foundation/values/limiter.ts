import { type Node, Yallist } from 'yallist';

/** Whether who holds so many slots may take another while so many are free, and nobody else holds or wants any. */
export type Rule = (held: number, free: number, isAlone: () => boolean) => boolean;

/**
 * Of `n` slots one key alone takes half, and two take a third each: whoever comes next finds some free. What all leave free
 * for the next is a part as large as each of theirs.
 */
export const fewerThanFree: Rule = (held, free) => held < free;
/** The same, but one that is alone takes all, or nine tenths on the day of another one: for slots that an operator has counted out. */
export const allWhileAlone: Rule = (held, free, isAlone) => held < free || isAlone();
/** For the slots of one key alone. */
export const anyFree: Rule = () => true;

/** For how long a key that found nothing free counts as wanting some. */
const WANTED_MS = 60_000;
/** For how long some stay free for a key that held one. */
const SEEN_MS = 24 * 3600 * 1000;

/** Slots that keys, such as workspaces, take and give back, each no more than its share. */
export class Shares {
  readonly total: number;
  readonly #rule: Rule;
  readonly #held = new Map<string, number>();
  /** The key that last held none and found nothing free, and the last before it that was another, each until that counts. */
  #wanted = { key: '', until: 0 };
  #wantedBefore = this.#wanted;
  /** The key that took one last, and the last before it that was another. */
  #seen = { key: '', until: 0 };
  #seenBefore = this.#seen;
  readonly #spare: number;
  #taken = 0;

  constructor(total: number, rule: Rule = fewerThanFree) {
    this.total = total;
    this.#rule = rule;
    this.#spare = Math.floor(total / 10);
  }

  /** Takes a slot where there is one for this key; says whether it did. */
  take(key: string): boolean {
    if (this.room(key, 1) === 0) return false;
    this.add(key);
    return true;
  }

  /** Counts a slot as taken, whether there is one or not. */
  add(key: string): void {
    this.#held.set(key, this.held(key) + 1);
    this.#taken += 1;
    if (this.#seen.key !== key) this.#seenBefore = this.#seen;
    this.#seen = { key, until: performance.now() + SEEN_MS };
  }

  /** How many a key may take now, at most `most`, one after the other, while no other key takes any. */
  room(key: string, most: number): number {
    const held = this.held(key);
    const free = this.total - this.#taken;
    if (free <= 0 && held === 0) this.#want(key);
    let room = 0;
    const isAlone = () =>
      this.#taken === held && !this.#othersWant(key) && (free - room > this.#spare || !this.#othersWereSeen(key));
    while (room < most && room < free && this.#rule(held + room, free - room, isAlone)) room += 1;
    return room;
  }

  #want(key: string): void {
    if (this.#wanted.key !== key) this.#wantedBefore = this.#wanted;
    this.#wanted = { key, until: performance.now() + WANTED_MS };
  }

  #othersWant(key: string): boolean {
    const { until } = this.#wanted.key === key ? this.#wantedBefore : this.#wanted;
    return until > performance.now();
  }

  #othersWereSeen(key: string): boolean {
    const { until } = this.#seen.key === key ? this.#seenBefore : this.#seen;
    return until > performance.now();
  }

  giveBack(key: string): void {
    const held = this.held(key);
    if (held > 1) this.#held.set(key, held - 1);
    else this.#held.delete(key);
    this.#taken -= 1;
  }

  held(key: string): number {
    return this.#held.get(key) ?? 0;
  }

  underWay(): number {
    return this.#taken;
  }
}

/** Lets so much work be under way at a time. Of the keys that wait and may take a slot each takes one in turn. */
export interface Limiter {
  /** Answers what the work comes to, or nothing where it was dropped before it began. @param by what `drop` may name */
  <T>(key: string, work: () => Promise<T>, by?: object): Promise<T | undefined>;
  total: number;
  underWay(): number;
  waiting(): number;
  /** Forgets what waits: all, or what is of one. */
  drop(by?: object): void;
  /** Resolves once no work is under way or waiting. */
  idle(): Promise<void>;
}

/** What waits for a slot of its key. */
interface Waiter {
  key: string;
  begin: (isDropped?: boolean) => void;
  by: object | undefined;
}

/** A key that waits, and its waiters in their order. */
interface Line {
  key: string;
  waiters: Yallist<Waiter>;
}

/** All that waits. To add or take out a waiter costs the same, however many others there are. */
class Lines {
  /** The keys that wait; whose turn is next is the first. */
  readonly turns = new Yallist<Line>();
  readonly #lines = new Map<string, Node<Line>>();
  readonly #waitersBy = new Map<object, Set<Node<Waiter>>>();
  count = 0;

  has(key: string): boolean {
    return this.#lines.has(key);
  }

  add(waiter: Waiter): void {
    const { key, by } = waiter;
    if (!this.has(key)) {
      this.turns.push({ key, waiters: new Yallist() });
      this.#lines.set(key, this.turns.tail!);
    }
    const { waiters } = this.#lines.get(key)!.value;
    waiters.push(waiter);
    if (by) this.#waitersBy.set(by, (this.#waitersBy.get(by) ?? new Set()).add(waiters.tail!));
    this.count += 1;
  }

  takeOut(node: Node<Waiter>): Waiter {
    const { key, by } = node.value;
    const line = this.#lines.get(key)!;
    line.value.waiters.removeNode(node);
    if (line.value.waiters.length === 0) {
      this.turns.removeNode(line);
      this.#lines.delete(key);
    }
    const same = by && this.#waitersBy.get(by);
    same?.delete(node);
    if (same?.size === 0) this.#waitersBy.delete(by!);
    this.count -= 1;
    return node.value;
  }

  /** @returns those that were waiting: all, or those of one */
  takeOutAll(by: object | undefined): Waiter[] {
    if (by) return [...(this.#waitersBy.get(by) ?? [])].map((node) => this.takeOut(node));
    const all = [...this.turns].flatMap(({ waiters }) => [...waiters]);
    while (this.turns.head) this.takeOut(this.turns.head.value.waiters.head!);
    return all;
  }
}

/**
 * What is asked for, ends or is dropped costs the same, however much waits: of the keys that do, only those that hold slots
 * too are passed over, and so fewer than there are slots.
 * @param atMost how much work is under way at a time
 * @param rule how much of it is one key's
 */
export function limiter(atMost: number, rule: Rule = fewerThanFree): Limiter {
  const slots = new Shares(atMost, rule);
  const waiting = new Lines();
  const { turns } = waiting;
  const idlers: (() => void)[] = [];

  const go = () => {
    const next: Waiter[] = [];
    for (let turn = turns.head; turn && slots.underWay() < atMost; ) {
      const { key, waiters } = turn.value;
      const behind: Node<Line> | undefined = turn.next;
      if (slots.take(key)) {
        // A key that still waits goes behind the others, and so has its next turn in this very loop.
        turns.pushNode(turn);
        next.push(waiting.takeOut(waiters.head!));
        turn = behind ?? turns.tail;
      } else if (slots.held(key) > 0) turn = behind;
      // What a key that holds none may not take, nobody may.
      else break;
    }
    for (const { begin } of next) begin();
    if (slots.underWay() === 0) for (const resolve of idlers.splice(0)) resolve();
  };
  const limited = <T>(key: string, work: () => Promise<T>, by?: object) =>
    new Promise<T | undefined>((resolve, reject) => {
      const begin = (isDropped?: boolean) => {
        if (isDropped) return resolve(undefined);
        void work()
          .finally(() => {
            slots.giveBack(key);
            go();
          })
          .then(resolve, reject);
      };
      // Who waits could take no slot before, and can take none now.
      if (!waiting.has(key) && slots.take(key)) begin();
      else waiting.add({ key, begin, by });
    });
  return Object.assign(limited, {
    total: atMost,
    underWay: () => slots.underWay(),
    waiting: () => waiting.count,
    drop: (by?: object) => {
      for (const { begin } of waiting.takeOutAll(by)) begin(true);
    },
    idle: () => (slots.underWay() === 0 ? Promise.resolve() : new Promise<void>((resolve) => idlers.push(resolve))),
  });
}
