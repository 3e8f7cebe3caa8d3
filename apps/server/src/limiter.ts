/** Whether who holds so many slots may take another while so many are free, and nobody else holds or wants any. */
export type Rule = (held: number, free: number, isAlone: () => boolean) => boolean;

/**
 * Of `n` slots one key alone takes half, and two take a third each: whoever comes next finds some free. What all leave free
 * for the next is a part as large as each of theirs.
 */
export const fewerThanFree: Rule = (held, free) => held < free;
/** The same, but one that is alone takes all: for slots that an operator has counted out. */
export const allWhileAlone: Rule = (held, free, isAlone) => held < free || isAlone();
/** For the slots of one key alone. */
export const anyFree: Rule = () => true;

/** For how long a key that found nothing free counts as wanting some. */
const WANTED_MS = 60_000;

/** Slots that keys, such as workspaces, take and give back, each no more than its share. */
export class Shares {
  readonly total: number;
  readonly #rule: Rule;
  readonly #held = new Map<string, number>();
  /** The key that last held none and found nothing free, and the last before it that was another, each until that counts. */
  #wanted = { key: '', until: 0 };
  #wantedBefore = this.#wanted;
  #taken = 0;

  constructor(total: number, rule: Rule = fewerThanFree) {
    this.total = total;
    this.#rule = rule;
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
  }

  /** How many a key may take now, at most `most`, one after the other, while no other key takes any. */
  room(key: string, most: number): number {
    const held = this.held(key);
    const free = this.total - this.#taken;
    if (free <= 0 && held === 0) this.#want(key);
    const isAlone = () => this.#taken === held && !this.#othersWant(key);
    let room = 0;
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

/**
 * @param atMost how much work is under way at a time
 * @param rule how much of it is one key's
 */
export function limiter(atMost: number, rule: Rule = fewerThanFree): Limiter {
  const slots = new Shares(atMost, rule);
  const waiting = new Map<string, { begin: (isDropped?: boolean) => void; by: object | undefined }[]>();
  const idlers: (() => void)[] = [];

  const go = () => {
    // A key that still waits goes behind the others, and so has its next turn in this very loop.
    for (const [key, queue] of waiting) {
      if (slots.underWay() === atMost) break;
      if (!slots.take(key)) continue;
      const { begin } = queue.shift()!;
      waiting.delete(key);
      if (queue.length > 0) waiting.set(key, queue);
      begin();
    }
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
      const queue = waiting.get(key);
      // Who waits could take no slot before, and can take none now.
      if (queue) queue.push({ begin, by });
      else if (slots.take(key)) begin();
      else waiting.set(key, [{ begin, by }]);
    });
  return Object.assign(limited, {
    total: atMost,
    underWay: () => slots.underWay(),
    waiting: () => [...waiting.values()].reduce((sum, queue) => sum + queue.length, 0),
    drop: (by?: object) => {
      const isDropped = (each: { by: object | undefined }) => by === undefined || each.by === by;
      const dropped = [...waiting.values()].flat().filter(isDropped);
      for (const [key, queue] of waiting) {
        const left = queue.filter((each) => !isDropped(each));
        if (left.length > 0) waiting.set(key, left);
        else waiting.delete(key);
      }
      for (const { begin } of dropped) begin(true);
    },
    idle: () => (slots.underWay() === 0 ? Promise.resolve() : new Promise<void>((resolve) => idlers.push(resolve))),
  });
}
