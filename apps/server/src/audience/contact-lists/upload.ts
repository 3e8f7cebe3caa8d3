import type { Row, UploadStatus } from '../../foundation/database/schema.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { toId } from '../../foundation/values/ids.ts';
import type { ColumnUse } from './reading/column-uses.ts';
import type { ReadAs } from './reading/file-format.ts';
import type { ReadOptions } from './reading/read-contacts.ts';

export type UploadRow = Row<'contact_list_uploads'>;
export type ContactListUpload = components['schemas']['ContactListUpload'];
export type UploadEvent = components['schemas']['ContactListUploadEvent'];
export type FailureCode = components['schemas']['ContactListUploadFailureCode'];

/** Every move of an upload; the contract shows the same. */
export const uploadTransitions = {
  pending: ['uploaded', 'expired'],
  uploaded: ['validating'],
  validating: ['validated', 'failed'],
  validated: ['processing', 'expired', 'uploaded'],
  processing: ['processed', 'failed'],
  processed: [],
  failed: ['uploaded'],
  expired: [],
} as const satisfies Record<UploadStatus, readonly UploadStatus[]>;

/** Whether nothing happens to an upload any more, unless somebody has its file read otherwise. */
export const isFinal = (status: UploadStatus): boolean => status === 'failed' || uploadTransitions[status].length === 0;

/** How the file of an upload is to be read, as far as somebody has said so. */
export const readOptionsOf = ({ phone_column, do_not_call_columns, read_as }: UploadRow): ReadOptions => ({
  ...(read_as as ReadAs | null),
  phoneColumn: phone_column ?? undefined,
  doNotCallColumns: do_not_call_columns ?? undefined,
});

/** Each event of an upload is another edition of it. */
export const shownEdition = ({ revision }: UploadRow) => ({ edition: revision });

const time = (at: Date | null) => at?.toISOString();

/** Whether the file was checked to its end. */
export const isChecked = (row: UploadRow): boolean => row.validated_at !== null || row.failure_code === 'no_valid_rows';

/** An upload as clients see it, but for the signed URL of its error report. */
export function shapeUpload(row: UploadRow): ContactListUpload {
  return {
    id: toId('upl', row.id),
    status: row.status,
    fileName: row.file_name,
    storageKey: row.storage_key,
    createdAt: row.created_at.toISOString(),
    ...(row.uploaded_at && { uploadedAt: time(row.uploaded_at)! }),
    ...(row.validated_at && { validatedAt: time(row.validated_at)! }),
    ...(row.processed_at && { processedAt: time(row.processed_at)! }),
    ...(row.status === 'validating' && {
      progress: { rowsRead: row.rows_read, bytesRead: row.bytes_read, bytesTotal: row.bytes_total },
    }),
    ...(isChecked(row) && {
      metadata: {
        totalRows: row.total_rows,
        validRows: row.valid_rows,
        invalidRows: row.invalid_rows,
        duplicateRows: row.duplicate_rows,
        ...(row.do_not_call_rows > 0 && { doNotCallRows: row.do_not_call_rows }),
        ...(row.consent_rows > 0 && { consentRows: row.consent_rows }),
        ...(row.status === 'processed' && { importedRows: row.imported_rows }),
      },
      errors: row.error_rows,
      ...(row.error_report_key && { errorReportStorageKey: row.error_report_key }),
    }),
    ...(row.format && { format: row.format as ContactListUpload['format'] & object }),
    ...(row.columns && { columns: row.columns as ColumnUse[] }),
    ...(row.failure_code && {
      failure: { code: row.failure_code as FailureCode, message: row.failure_message ?? '' },
    }),
  };
}
