/** Lets so much work be under way at a time, and the rest wait in its order. */
export interface Limiter {
  /** Answers what the work comes to, or nothing where it was dropped before it began. */
  <T>(work: () => Promise<T>): Promise<T | undefined>;
  underWay(): number;
  waiting(): number;
  /** Forgets what waits. */
  drop(): void;
  /** Resolves once no work is under way or waiting. */
  idle(): Promise<void>;
}

/** @param atMost how much work is under way at a time */
export function limiter(atMost: number): Limiter {
  const waiting: ((isDropped?: boolean) => void)[] = [];
  const idlers: (() => void)[] = [];
  let underWay = 0;

  const go = () => {
    while (underWay < atMost && waiting.length > 0) waiting.shift()!();
    if (underWay === 0) for (const resolve of idlers.splice(0)) resolve();
  };
  const limited = <T>(work: () => Promise<T>) =>
    new Promise<T | undefined>((resolve, reject) => {
      waiting.push((isDropped) => {
        if (isDropped) return resolve(undefined);
        underWay += 1;
        void work()
          .finally(() => {
            underWay -= 1;
            go();
          })
          .then(resolve, reject);
      });
      go();
    });
  return Object.assign(limited, {
    underWay: () => underWay,
    waiting: () => waiting.length,
    drop: () => {
      for (const end of waiting.splice(0)) end(true);
    },
    idle: () => (underWay === 0 ? Promise.resolve() : new Promise<void>((resolve) => idlers.push(resolve))),
  });
}
