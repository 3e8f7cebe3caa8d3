import { type Limiter, limiter } from '../values/limiter.ts';
import { ServiceError } from '../values/service-error.ts';

/** The connections of a pool, as workspaces share them. The engine's transactions take theirs beside. */
export interface ConnectionShares {
  slots: Limiter;
  /**
   * Does a transaction of a workspace once that has a connection to take. Throws `unavailable` where it has none in time.
   * @param tooSlow what is said then
   */
  inTurn<T>(workspaceId: string, work: () => Promise<T>, tooSlow?: string): Promise<T>;
}

const OF_WORKSPACE = 'Too many requests of this workspace are slow. Try again.';

/** @param waitMs how long a transaction waits at most, in milliseconds */
export function connectionShares(poolSize: number, waitMs: number): ConnectionShares {
  const slots = limiter(poolSize);
  return {
    slots,
    async inTurn<T>(workspaceId: string, work: () => Promise<T>, tooSlow = OF_WORKSPACE) {
      const waiter = {};
      let late: NodeJS.Timeout | undefined;
      let hasBegun = false;
      const begin = () => {
        hasBegun = true;
        clearTimeout(late);
        return work();
      };
      const done = slots(workspaceId, begin, waiter);
      if (!hasBegun) late = setTimeout(() => slots.drop(waiter), waitMs);
      const result = await done;
      if (!hasBegun) throw new ServiceError('unavailable', tooSlow);
      return result as T;
    },
  };
}
