import { monitorEventLoopDelay } from 'node:perf_hooks';

/** How often it is looked how late the event loop is, in milliseconds: by a timer that runs no JavaScript. */
const LOOK_MS = 200;
/** What was seen is told for so long, up to twice, in milliseconds. */
const TOLD_MS = 30_000;
/** From so late on, in milliseconds, calls come too late for their placement, and are given back. */
const MOST_LATE_MS = 1000;

/** How late the event loop of this process has been lately. */
export interface LoopDelay {
  /** The worst of the last half minute or more, in milliseconds. */
  worstMs(): number;
  close(): void;
}

/** Begins to look. */
export function openLoopDelay(): LoopDelay {
  const seen = monitorEventLoopDelay({ resolution: LOOK_MS });
  // Each look comes after its time at the earliest; what is beyond that is late.
  const nowMs = () => Math.max(0, seen.max / 1e6 - LOOK_MS);
  let before = 0;
  seen.enable();
  const timer = setInterval(() => {
    before = nowMs();
    seen.reset();
  }, TOLD_MS).unref();
  return {
    worstMs: () => Math.max(before, nowMs()),
    close: () => {
      clearInterval(timer);
      seen.disable();
    },
  };
}

/** What an operator should know of an event loop that was so late; nothing while it keeps its times. */
export const loopFault = (worstMs: number): string | undefined =>
  worstMs < MOST_LATE_MS
    ? undefined
    : `this process was ${(worstMs / 1000).toFixed(1)} s late with its work in the last minute, so that calls are given back: ` +
      'give the machine more CPU, or share the work with another server';
