import type { Counts, ErasureRow } from './erasure.ts';

/** What came of a batch: the step goes on after a place, or from where it was; it has to wait; or it is over. */
export interface Outcome {
  counts?: Partial<Counts>;
  /** The key of the row after which the step goes on. */
  place?: string[] | undefined;
  again?: boolean;
  /** Whether it has to begin anew, as the person has come back meanwhile. */
  back?: boolean;
  waitsFor?: NonNullable<ErasureRow['waits_for']>;
  /** Until when it waits at least, where that is known. */
  until?: Date;
}
