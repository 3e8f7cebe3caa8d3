import type { ErasureRow } from './erasure.ts';
import type { Next } from './outcome.ts';

const SHORTEST_MS = 2000;
const LONGEST_MS = 3_600_000;
/** After so long what can't be done is given up. */
export const GIVE_UP_MS = 7 * 24 * LONGEST_MS;

/** When what has failed since a time is tried again: after half as long as that, and an hour at most. */
export function nextTry(since: Date, now: Date): Date {
  const tried = now.getTime() - since.getTime();
  return new Date(now.getTime() + Math.min(Math.max(tried / 2, SHORTEST_MS), LONGEST_MS));
}

/** Whether it has failed for so long that it is given up. */
export const isGivenUp = (since: Date, now: Date): boolean => now.getTime() - since.getTime() >= GIVE_UP_MS;

/** Whether a try is made soon after it is due. Otherwise no server ran, and it was not tried all that time. */
export const isOnTime = (due: Date, now: Date): boolean => now.getTime() - due.getTime() <= LONGEST_MS;

/**
 * What comes after the last round: it is over, waits for keys, or tries once more what could not be deleted. Files are
 * not given up while keys are waited for.
 * @param keysUntil when the last of the keys goes that bear the number
 */
export function afterRound(
  { remaining, files_since }: Pick<ErasureRow, 'remaining' | 'files_since'>,
  keysUntil: Date | undefined,
  now: Date,
): Next {
  const { recordings, files } = remaining ?? { recordings: 0, files: 0 };
  const isAllDeleted = recordings + files === 0;
  if (isAllDeleted && !keysUntil) return { next: 'step' };
  const since = files_since ?? now;
  const due = nextTry(since, now);
  if (keysUntil) {
    const keys = { next: 'wait', waitsFor: 'keys', until: keysUntil } as const;
    if (isAllDeleted) return { ...keys, goesOn: 'step', due: keysUntil };
    return { ...keys, goesOn: 'files', due: due < keysUntil ? due : keysUntil };
  }
  if (isGivenUp(since, now)) return { next: 'fail', failure: 'files_left' };
  const until = new Date(since.getTime() + GIVE_UP_MS);
  return { next: 'wait', waitsFor: recordings > 0 ? 'recording' : 'file', goesOn: 'files', until, due };
}
