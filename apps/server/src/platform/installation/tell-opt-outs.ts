import type { RestoreGuard } from './restore-guard.ts';

/** What tells the witness of what forbids calls. */
export type WordGuard = Pick<RestoreGuard, 'tell' | 'digest' | 'doubts'>;

/**
 * Has the witness know whom a workspace is not to call (E.164 without the plus), once that is committed.
 * @param since the guard's `doubts` before that
 */
export const tellOptOuts = (
  guard: WordGuard,
  workspaceId: string,
  numbers: readonly number[],
  { at, since }: { at: Date; since: number },
): Promise<void> => {
  const to = numbers.map((number) => guard.digest(String(number), workspaceId));
  return guard.tell([{ type: 'opt_out', workspaceId, to, at: at.toISOString() }], since);
};
