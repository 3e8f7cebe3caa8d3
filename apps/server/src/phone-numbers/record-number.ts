import type { WorkspaceTx } from '../database/database.ts';
import { type AuditEntry, record } from '../journal/record.ts';
import type { PhoneNumberRow } from './phone-number.ts';
import { presentNumber } from './present-number.ts';

/** Writes the event of a number's change: the number as it is now, under its revision. */
export async function recordNumber(tx: WorkspaceTx, row: PhoneNumberRow, now: Date, actor?: AuditEntry): Promise<void> {
  const { id: resourceId, revision } = row;
  await record(tx, { resourceId, revision, type: 'phone_number.updated', data: presentNumber(row), now, actor });
}
