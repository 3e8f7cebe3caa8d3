import type { Row } from '../../foundation/database/schema.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { toId } from '../../foundation/values/ids.ts';
import type { ContactListUpload } from './upload.ts';

export type ListRow = Row<'contact_lists'>;
export type ContactList = components['schemas']['ContactList'];

/** Every move of a list; the contract shows the same. */
export const listTransitions = {
  draft: ['ready', 'archived'],
  ready: ['archived'],
  archived: [],
} as const satisfies Record<ListRow['status'], readonly ListRow['status'][]>;

/**
 * A list as clients see it.
 * @param upload its latest upload; in the answer to a confirm, the confirmed one
 */
export function shapeList(row: ListRow, upload: ContactListUpload | undefined): ContactList {
  return {
    id: toId('list', row.id),
    name: row.name,
    ...(upload && { storageKey: upload.storageKey }),
    status: row.status,
    type: row.type,
    ...(row.default_country && { defaultCountry: row.default_country }),
    totalEntries: row.total_entries,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    ...(upload && { uploadDetails: upload }),
  };
}
