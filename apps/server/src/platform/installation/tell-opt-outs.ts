import type { RestoreGuard } from './restore-guard.ts';

/** What tells the witness of what forbids calls. */
export type WordGuard = Pick<RestoreGuard, 'tell' | 'digest'>;

/** Has the witness know whom a workspace is not to call (E.164 without the plus), once that is committed. */
export const tellOptOuts = (
  guard: WordGuard,
  workspaceId: string,
  numbers: readonly number[],
  at: Date,
): Promise<void> => {
  const to = numbers.map((number) => guard.digest(String(number), workspaceId));
  return guard.tell([{ type: 'opt_out', workspaceId, to, at: at.toISOString() }]);
};
