import type { Row } from '../../foundation/database/schema.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { toId } from '../../foundation/values/ids.ts';

export type Erasure = components['schemas']['Erasure'];
export type ErasureRow = Row<'erasures'>;
/** How many of each kind are gone. */
export type Counts = Erasure['erased'];

/** Every move of an erasure; the contract shows the same. */
export const erasureTransitions = {
  running: ['completed', 'failed'],
  completed: [],
  failed: [],
} as const satisfies Record<Erasure['status'], readonly Erasure['status'][]>;

/** One that runs. */
export interface RunningErasure extends Omit<ErasureRow, 'phone_number'> {
  /** E.164 without the plus. */
  phone_number: number;
}

const NONE: Counts = { entries: 0, contacts: 0, calls: 0, runs: 0, files: 0, mentions: 0 };

/** How many are gone with those of one more batch. */
export const countsWith = (row: Pick<ErasureRow, 'counts'>, more: Partial<Counts>): Counts => {
  const counts = { ...NONE, ...(row.counts as Partial<Counts>) };
  for (const [kind, count] of Object.entries(more) as [keyof Counts, number][]) counts[kind] += count;
  return counts;
};

const messages: Record<NonNullable<ErasureRow['failure_code']>, string> = {
  files_left:
    'The files that remaining counts could not be deleted for seven days; all else is gone. Recordings are deleted by themselves once that is possible; for other files erase the number once more then.',
  internal_error:
    'The server failed at it for seven days, and its log says why. Some may be left: erase the number once more when that is mended.',
};

/** An erasure as clients see it: it doesn't say of which number. */
export function shapeErasure(row: ErasureRow): Erasure {
  const { remaining, failure_code } = row;
  return {
    id: toId('ers', row.id),
    status: row.status,
    ...(row.waits_for && { waitsFor: row.waits_for }),
    ...(row.waits_until && { waitsUntil: row.waits_until.toISOString() }),
    ...(remaining && remaining.recordings + remaining.files > 0 && { remaining }),
    ...(failure_code && { failure: { code: failure_code, message: messages[failure_code] } }),
    erased: countsWith(row, {}),
    createdAt: row.created_at.toISOString(),
    ...(row.completed_at && { completedAt: row.completed_at.toISOString() }),
  };
}
