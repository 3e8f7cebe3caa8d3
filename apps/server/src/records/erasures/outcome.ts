import type { Counts, ErasureRow } from './erasure.ts';

/** What a batch has found, to be kept with what comes next. */
interface Found {
  counts?: Partial<Counts>;
  /** Uploads that nobody has read yet, as the tables are looked through from the first. */
  unread?: string[];
  /** What could not be deleted in a round of files; exports that are ready after `filesSince` were begun without the number. */
  round?: { remaining: NonNullable<ErasureRow['remaining']>; filesSince: Date };
}

/** Where an erasure goes on after a batch. */
export type Next =
  /** The step is passed. */
  | { next: 'step' }
  /** The step goes on after a row of this key, or from where it was. */
  | { next: 'place'; place: string[] }
  | { next: 'again' }
  /** All is done again from the first step, as the person has come back meanwhile. */
  | { next: 'anew' }
  /**
   * It is looked at again later, soon unless `due` says when, and waits until `until` at the latest, if that is known. It goes
   * on from where it was, at the head of its step, or by deleting files once more.
   */
  | {
      next: 'wait';
      waitsFor: NonNullable<ErasureRow['waits_for']>;
      goesOn: 'here' | 'step' | 'files';
      until?: Date;
      due?: Date;
    }
  /** It is given up. */
  | { next: 'fail'; failure: NonNullable<ErasureRow['failure_code']> };

/** What came of a batch. */
export type Outcome = Found & Next;

/** The step goes on after a place, or is passed where there is none. */
export const goOn = (place: string[] | undefined): Next => (place ? { next: 'place', place } : { next: 'step' });
