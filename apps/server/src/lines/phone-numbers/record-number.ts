import { sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { type AuditEntry, record, recordAll } from '../../platform/journal/record.ts';
import type { PhoneNumberRow } from './phone-number.ts';
import { presentNumber } from './present-number.ts';
import { readNumbers } from './store.ts';

const eventOf = (row: PhoneNumberRow, now: Date) => ({
  resourceId: row.id,
  revision: row.revision,
  type: 'phone_number.updated',
  data: presentNumber(row),
  now,
});

/** Writes the event of a number's change: the number as it is now, under its revision. */
export async function recordNumber(
  tx: WorkspaceTx,
  row: PhoneNumberRow,
  now: Date,
  auditEntry?: AuditEntry,
): Promise<void> {
  await record(tx, { ...eventOf(row, now), auditEntry });
}

/** Writes the events of a trunk's numbers, which came to call with it, or no longer do. */
export async function recordTurned(tx: WorkspaceTx, trunkId: string, now: Date): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    update phone_numbers set revision = revision + 1, updated_at = ${now}
    where workspace_id = ${tx.workspaceId} and trunk_id = ${trunkId} and status <> 'released' returning id`.execute(
    tx.db,
  );
  const numbers = await readNumbers(
    tx,
    rows.map((row) => row.id),
  );
  await recordAll(
    tx,
    numbers.map((row) => ({ ...eventOf(row, now), workspaceId: tx.workspaceId })),
  );
}
