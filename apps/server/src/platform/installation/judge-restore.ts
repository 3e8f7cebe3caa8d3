import type { Testimony } from './witness.ts';

/** How far a database has come, and where that was. */
export interface Installation extends Testimony {
  /** Whether a witness was ever told of it. */
  witnessed: boolean;
  /** What the cluster was called, and its timeline, when the watermark last rose; null before. */
  system_identifier: string | null;
  timeline: number | null;
  /** Why dialing is held, where it is. */
  held_reason: string | null;
}

/** What is known beside it. */
export interface Evidence {
  /** What the witness says; undefined where it knows nothing, null where there is no witness. */
  witness: Testimony | undefined | null;
  /** What the cluster is called now; null where that can't be known. */
  system_identifier: string | null;
  /** The highest watermark that this process has seen. */
  seen: number;
}

export const OLDER_THAN_SEEN = 'the database is older than what this server has seen of it';

/**
 * Why a database must be taken for one that was restored or copied: calls that were placed since then are not in it, and
 * would be placed again. Undefined where nothing says so.
 */
export function restoredBecause(found: Installation, { witness, seen, ...now }: Evidence): string | undefined {
  if (found.watermark < seen) return OLDER_THAN_SEEN;
  const [was, is] = [found.system_identifier, now.system_identifier];
  if (was !== null && is !== null && was !== is) return 'the database is in another cluster than before';
  if (witness === null) return undefined;
  if (witness === undefined) return found.witnessed ? 'the witness is missing' : undefined;
  if (witness.id !== found.id) return 'the witness is that of another installation';
  return witness.watermark > found.watermark ? 'the database is older than its witness' : undefined;
}
