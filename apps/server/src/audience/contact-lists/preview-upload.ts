import type { components } from '../../foundation/values/generated/contract.ts';
import { notFound, ServiceError } from '../../foundation/values/service-error.ts';
import type { ContactListDeps } from './deps.ts';
import type { ReadContact } from './reading/check-row.ts';
import { columnUses } from './reading/column-uses.ts';
import { MAX_VALUE_LENGTH, type RowFault } from './reading/error-report.ts';
import { shapeFault } from './reading/file-fault.ts';
import type { Header } from './reading/header.ts';
import { type FilePreview, previewContacts } from './reading/preview-contacts.ts';
import { findList } from './store.ts';
import { isChecked, readOptionsOf, type UploadRow } from './upload.ts';
import { findUpload } from './upload-store.ts';

type Schemas = components['schemas'];

/**
 * Reads the beginning of an uploaded file again, and says how it is read.
 * @throws `not_found`; `invalid_state` where the file has not come, or is gone
 */
export async function previewUpload(
  { database, objects, limits }: ContactListDeps,
  workspaceId: string,
  { listId, uploadId }: { listId: string; uploadId: string },
): Promise<Schemas['ContactListUploadPreview']> {
  const { list, upload } = await database.inWorkspace(workspaceId, async (tx) => {
    const list = await findList(tx, listId);
    const upload = list && (await findUpload(tx, listId, uploadId));
    if (!upload) throw notFound();
    return { list, upload };
  });
  if (upload.status === 'pending') {
    throw new ServiceError('invalid_state', 'The file has not come yet. Send it to the uploadUrl first.');
  }
  if (!(await objects.stat(upload.storage_key))) {
    throw new ServiceError('invalid_state', 'The file is gone. Upload it again.');
  }
  const options = {
    ...readOptionsOf(upload),
    defaultCountry: list.default_country ?? undefined,
    limits,
  };
  return shapePreview(await previewContacts(await objects.get(upload.storage_key), options), upload);
}

function shapePreview(
  { format, header, titles, rows, fault }: FilePreview,
  upload: UploadRow,
): Schemas['ContactListUploadPreview'] {
  return {
    ...(format && { format }),
    columns: header ? columnUses(header) : titles.map(unread),
    rows: rows.map(({ row: { row, fields }, read }) => ({
      row,
      cells: fields,
      ...(Array.isArray(read) ? { errors: read.map(shapeError) } : { contact: shapeContact(header!, read) }),
    })),
    ...(isChecked(upload) && { doNotCall: { count: upload.do_not_call_rows, rows: upload.do_not_call_row_numbers } }),
    ...(fault && { failure: shapeFault(fault) }),
  };
}

const unread = (title: string) => ({ name: title.trim(), use: 'variable' as const });

const shapeError = ({ column, value, code, reason }: RowFault): Schemas['ContactListRowError'] => ({
  column,
  value: value.slice(0, MAX_VALUE_LENGTH),
  code,
  reason,
});

function shapeContact(header: Header, read: ReadContact): Schemas['ContactListPreviewContact'] {
  return {
    phoneNumber: `+${read.phoneNumber}`,
    ...(read.country !== undefined && { country: read.country }),
    ...(read.name !== undefined && { name: read.name }),
    ...(read.timezone !== undefined && { timezone: read.timezone }),
    ...(read.doNotCall && { doNotCall: true }),
    ...(read.consent && { consent: read.consent }),
    variables: Object.fromEntries(header.variables.map(({ name }, at) => [name, read.values[at]!])),
  };
}
