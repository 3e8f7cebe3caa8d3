import type { ObjectStore } from '../../foundation/objects/object-store.ts';
import type { ContactListUpload } from './upload.ts';

const URL_SECONDS = 3600;

/** An upload with a fresh URL of its error report, where it has one. */
export async function signedUpload(objects: ObjectStore, upload: ContactListUpload): Promise<ContactListUpload> {
  if (!upload.errorReportStorageKey) return upload;
  const errorReportUrl = await objects.downloadUrl(upload.errorReportStorageKey, {
    fileName: 'error-report.csv',
    contentType: 'text/csv; charset=utf-8',
    expiresInSeconds: URL_SECONDS,
  });
  return { ...upload, errorReportUrl };
}
