import type { components } from '../../foundation/values/generated/contract.ts';
import type { ReadContact } from './reading/check-row.ts';
import { columnUses } from './reading/column-uses.ts';
import { MAX_VALUE_LENGTH, type RowFault } from './reading/error-report.ts';
import { shapeFault } from './reading/file-fault.ts';
import type { Header } from './reading/header.ts';
import type { FilePreview } from './reading/preview-contacts.ts';

type Schemas = components['schemas'];

/** The beginning of a file as the contract shows it. */
export function shapePreview({
  format,
  header,
  titles,
  rows,
  fault,
}: FilePreview): Schemas['ContactListUploadPreview'] {
  return {
    ...(format && { format }),
    columns: header ? columnUses(header) : titles.map(unread),
    rows: rows.map(({ row: { row, fields }, read }) => ({
      row,
      cells: fields,
      ...(Array.isArray(read) ? { errors: read.map(shapeError) } : { contact: shapeContact(header!, read) }),
    })),
    ...(fault && { failure: shapeFault(fault) }),
  };
}

const unread = (title: string) => ({ name: title.trim(), use: 'variable' as const });

/** What is wrong with a row, as the contract shows it. */
export const shapeError = ({ column, value, code, reason }: RowFault): Schemas['ContactListRowError'] => ({
  column,
  value: value.slice(0, MAX_VALUE_LENGTH).toWellFormed(),
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
