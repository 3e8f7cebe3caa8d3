import type { Row } from '../../foundation/database/schema.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { toId } from '../../foundation/values/ids.ts';

export type Export = components['schemas']['Export'];
export type ExportStatus = Export['status'];
export type CallFilter = components['schemas']['CallExportFilter'];
export type ContactFilter = components['schemas']['ContactExportFilter'];
export type PersonFilter = components['schemas']['PersonExportFilter'];
export type FailureCode = components['schemas']['ExportFailureCode'];

/** What an export is of. */
export type Wanted =
  | { type: 'calls'; filter: CallFilter }
  | { type: 'contacts'; filter: ContactFilter }
  | { type: 'person'; filter: PersonFilter };

export type ExportRow = Row<'exports'>;

/** Every move of an export; the contract shows the same. */
export const exportTransitions = {
  queued: ['running', 'failed'],
  running: ['ready', 'failed'],
  ready: ['expired'],
  failed: [],
  expired: [],
} as const satisfies Record<ExportStatus, readonly ExportStatus[]>;

/** Rows of a file, its header left out. */
export const MOST_ROWS = 1_000_000;

const GIB = 2 ** 30;
/** Bytes of a file. */
export const MOST_BYTES = 2 * GIB;
/** Files that a workspace keeps, and their bytes together: one that has so much gets no more. */
export const MOST_KEPT = { files: 50, bytes: 10 * GIB };

const messages: Record<FailureCode, string> = {
  too_many_rows: `There are more than ${MOST_ROWS.toLocaleString('en')} rows. Narrow the filter.`,
  file_too_large: `The file would be larger than ${MOST_BYTES / GIB} GiB. Narrow the filter.`,
  source_deleted: 'What was to be exported was deleted meanwhile.',
  could_not_be_written: 'The file could not be written. Ask for the export again.',
};

/** What the export is of, as the row keeps it. */
export const wantedOf = ({ type, filter }: Pick<ExportRow, 'type' | 'filter'>) => ({ type, filter }) as Wanted;

/** Whether its file is there. It is over at its time, also where nobody has deleted it yet. */
export const isReady = ({ status, expires_at }: ExportRow, now: Date): boolean =>
  status === 'ready' && expires_at! > now;

/** An export as clients see it, but for the signed URL of its file. */
export function shapeExport(row: ExportRow, now: Date): Export {
  const { failure_code } = row;
  return {
    id: toId('exp', row.id),
    type: row.type,
    filter: row.filter,
    status: row.status === 'ready' && !isReady(row, now) ? 'expired' : row.status,
    ...(row.row_count !== null && { rowCount: row.row_count }),
    ...(row.size_bytes !== null && { sizeBytes: row.size_bytes }),
    ...(failure_code !== null && { failure: { code: failure_code, message: messages[failure_code] } }),
    createdAt: row.created_at.toISOString(),
    ...(row.ready_at && { readyAt: row.ready_at.toISOString() }),
    ...(row.expires_at && { expiresAt: row.expires_at.toISOString() }),
  };
}
