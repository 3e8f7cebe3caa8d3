import type { Testimony } from './old-witness.ts';

/** How far a database has come, and where that was. */
export interface Installation extends Testimony {
  /** Whether a witness of the settings was ever told of it. */
  witnessed: boolean;
  /** What the cluster was called, and its timeline, when they were last compared; null before. */
  system_identifier: string | null;
  timeline: number | null;
  /** Why dialing is held, where it is. */
  held_reason: string | null;
  /** The number of each slot. */
  numbers: ReadonlyMap<number, number>;
}

/** What is known beside it. */
export interface Evidence {
  /** The newest numbers that the witness knows; null where there is none but a journal of this process. */
  witness: ReadonlyMap<number, number> | null;
  /** What this process has seen, or its journal. */
  seen: ReadonlyMap<number, number>;
  /** What a former version's witness says; undefined where it knows nothing. */
  old: Testimony | undefined;
  /** What the cluster is called now; null where that can't be known. */
  system_identifier: string | null;
}

export const OLDER_THAN_SEEN = 'the database is older than what this server has seen of it';

/**
 * Why a database must be taken for one that was restored or copied, or that has lost what it had committed: calls that were
 * placed since then are not in it, and would be placed again. Undefined where nothing says so.
 */
export function restoredBecause(found: Installation, { witness, old, seen, ...now }: Evidence): string | undefined {
  if (knowsMore(seen, found.numbers)) return OLDER_THAN_SEEN;
  const [was, is] = [found.system_identifier, now.system_identifier];
  if (was !== null && is !== null && was !== is) return 'the database is in another cluster than before';
  const testimony = old?.id === found.id ? old : undefined;
  if (testimony && testimony.watermark > found.watermark) return 'the database is older than its witness';
  if (witness === null) return undefined;
  if (knowsMore(witness, found.numbers)) return 'the database is older than its witness';
  return found.witnessed && witness.size === 0 && !testimony ? 'the witness is missing' : undefined;
}

/** Whether of any slot something is known that its row doesn't say. */
export const knowsMore = (known: ReadonlyMap<number, number>, rows: ReadonlyMap<number, number>): boolean =>
  [...known].some(([slot, number]) => number > (rows.get(slot) ?? 0));
