import type { Row } from '../../foundation/database/schema.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { toId } from '../../foundation/values/ids.ts';

export type DtmfRow = Omit<Row<'call_dtmf'>, 'digits'>;

/** The states that digits which are asked for can move to, as the contract's `x-transitions` show them. */
export const dtmfTransitions = {
  waiting: ['sending', 'failed'],
  sending: ['sent', 'failed'],
  sent: [],
  failed: [],
} as const satisfies Record<DtmfRow['status'], readonly DtmfRow['status'][]>;

export const shapeDtmf = (row: DtmfRow): components['schemas']['CallDtmf'] => ({
  id: toId('dtmf', row.id),
  roomId: toId('room', row.room_id),
  status: row.status,
  ...(row.reason !== null && { reason: row.reason as NonNullable<components['schemas']['CallDtmf']['reason']> }),
  requestedAt: row.requested_at.toISOString(),
  ...(row.ended_at && { endedAt: row.ended_at.toISOString() }),
});
