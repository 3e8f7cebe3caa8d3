import { setTimeout as sleep, setImmediate as soon } from 'node:timers/promises';
import { createPace } from './pace.ts';

/** Of each second of the event loop the large bodies of a workspace have a quarter in the long run. */
const PART = 4;
/** So many milliseconds of it they have at once. */
const AT_ONCE_MS = 500;

/** Resolves when a workspace that has had so many milliseconds of the event loop may have more: in the next turn, or later. */
export type NextTurn = (workspaceId: string, ms: number) => Promise<void>;

/** One for all requests of a process. */
export function createLoopShare(): NextTurn {
  const pace = createPace(AT_ONCE_MS * PART);
  return (workspaceId, ms) => {
    const wait = pace(workspaceId, ms * PART);
    return wait > 0 ? sleep(wait) : soon();
  };
}
