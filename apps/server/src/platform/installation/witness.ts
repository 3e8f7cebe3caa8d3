import type { ReadOldWitness } from './old-witness.ts';

/** A call that is about to be placed. */
export interface WitnessedCall {
  /** A UUID. */
  workspaceId: string;
  /** Whose it is: of which kind, as `calls.owner_kind` has it, and its UUID. */
  ownerKind: string;
  ownerId: string;
  /** The campaign that it is made for, if any. */
  campaignId?: string;
  roomId: string;
  attempt: number;
  /** HMAC of the number, in hex, as `numberDigest` makes it. */
  to: string;
  /** ISO 8601. */
  at: string;
}

/** What forbids calls, or some of them. IDs are UUIDs, numbers HMACs as in `WitnessedCall`, times ISO 8601. */
export type WitnessedWord =
  | { type: 'opt_out'; workspaceId: string; to: string[]; at: string }
  | { type: 'pause' | 'stop'; workspaceId: string; campaignId: string; at: string }
  | { type: 'pause_dialing'; workspaceId: string; at: string };

/** What is told at once. */
export interface WitnessEntry {
  /** That of the slot's row after the commit. */
  number: number;
  /** ISO 8601. */
  at: string;
  calls?: WitnessedCall[];
  words?: WitnessedWord[];
}

/**
 * A place outside the database, and outside what is restored with it. It keeps what servers tell, by slot, in the order of
 * its numbers.
 */
export interface Witness {
  /**
   * The newest number of each slot that it knows.
   * @param known numbers of slots: where it knows nothing above them, it may answer with these
   */
  newest(known: ReadonlyMap<number, number>): Promise<Map<number, number>>;
  /** What it knows of a slot above a number, in order. */
  above(slot: number, number: number): AsyncIterable<WitnessEntry>;
  /** Keeps entries for good before it resolves. Those of one slot are given one set after the other, by one server. */
  append(slot: number, entries: readonly WitnessEntry[]): Promise<void>;
  /** Removes what is older, but never the newest of a slot. */
  cut(before: Date): Promise<void>;
  /** Appends nothing any more. */
  close(): Promise<void>;
}

/** Where a server tells what it does. */
export interface Witnesses {
  witness: Witness;
  /** Whether it is only a journal in this server's folder. */
  isJournal: boolean;
  readOld: ReadOldWitness;
}

/** An entry as a line of JSON, or undefined where it is none: half a line was never waited for. */
export function readEntry(line: string): WitnessEntry | undefined {
  try {
    const entry = JSON.parse(line) as WitnessEntry;
    return Number.isSafeInteger(entry.number) ? entry : undefined;
  } catch {
    return undefined;
  }
}
