import { ServiceError } from '../../foundation/values/service-error.ts';

/** Carries out a request's work when it is its workspace's turn. Throws what the work does, and `unavailable`. */
export type InTurn = <T>(workspaceId: string, signal: AbortSignal, work: () => Promise<T>) => Promise<T>;

export interface TurnLimits {
  /** How much work is under way at a time; of one workspace, one piece. */
  atOnce: number;
  /** How much of it is of workspaces whose work took longer than `slowMs` the last time; the other places are never theirs. */
  mostSlow: number;
  slowMs: number;
  /** How many requests of one workspace wait at most. */
  mostWaiting: number;
  /** How long they do, in milliseconds. */
  waitMs: number;
}

/** How many requests of all workspaces wait at most: each that begins or ends looks at those before it. */
const MOST_WAITING = 1000;

interface Waiting {
  workspaceId: string;
  begin: () => void;
}

/**
 * Takes dear requests in their order, one of a workspace at a time, so that no workspace keeps the others waiting; and few of
 * those whose work takes long, so that these don't either. A request that its client gives up waits no longer.
 */
export function turns({ atOnce, mostSlow, slowMs, mostWaiting, waitMs }: TurnLimits): InTurn {
  const underWay = new Set<string>();
  const slow = new Set<string>();
  const waiting = new Set<Waiting>();

  const slowUnderWay = () => [...underWay].filter((workspaceId) => slow.has(workspaceId)).length;
  const go = () => {
    for (const each of waiting) {
      if (underWay.size >= atOnce) return;
      if (underWay.has(each.workspaceId)) continue;
      if (slow.has(each.workspaceId) && slowUnderWay() >= mostSlow) continue;
      waiting.delete(each);
      underWay.add(each.workspaceId);
      each.begin();
    }
  };
  const turnOf = (workspaceId: string, signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      const stop = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', giveUp);
      };
      const begin = () => {
        stop();
        resolve();
      };
      const each = { workspaceId, begin };
      const giveUp = () => {
        stop();
        waiting.delete(each);
        reject(busy());
      };
      const timer = setTimeout(giveUp, waitMs);
      signal.addEventListener('abort', giveUp);
      waiting.add(each);
      go();
    });

  return async (workspaceId, signal, work) => {
    if (waiting.size >= MOST_WAITING || signal.aborted) throw busy();
    const ours = [...waiting].filter((each) => each.workspaceId === workspaceId);
    if (ours.length >= mostWaiting) throw busy();
    await turnOf(workspaceId, signal);
    let isSlow = false;
    const timer = setTimeout(() => {
      isSlow = true;
      slow.add(workspaceId);
    }, slowMs);
    try {
      return await work();
    } finally {
      clearTimeout(timer);
      if (!isSlow) slow.delete(workspaceId);
      underWay.delete(workspaceId);
      go();
    }
  };
}

const busy = () => new ServiceError('unavailable', 'Too many figures are being counted. Try again in a moment.');
