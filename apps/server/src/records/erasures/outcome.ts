import type { Counts, ErasureRow } from './erasure.ts';

/** What came of a batch: the step goes on after a place, or from where it was; it has to wait; or it is over. */
export interface Outcome {
  counts?: Partial<Counts>;
  /** The key of the row after which the step goes on; null where it begins anew. */
  place?: string[] | null | undefined;
  again?: boolean;
  /** The step it goes back to: the first, as the person has come back meanwhile, or that of the files, as some are left. */
  back?: 'entries' | 'files';
  waitsFor?: NonNullable<ErasureRow['waits_for']>;
  /** Until when it waits at the latest, where that is known. */
  until?: Date;
  /** When it is looked at again, where that is not soon. */
  due?: Date;
  /** What could not be deleted in this round. */
  remaining?: NonNullable<ErasureRow['remaining']>;
  /** Uploads that nobody has read yet, as the tables are looked through from the first. */
  unread?: string[];
  /** Exports that are ready after this were begun without the number. Given with the first that could not be deleted. */
  filesSince?: Date;
  /** Why it is given up. */
  failure?: NonNullable<ErasureRow['failure_code']>;
}
