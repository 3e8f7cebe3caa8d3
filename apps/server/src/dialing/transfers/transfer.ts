import type { Row } from '../../foundation/database/schema.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { toId } from '../../foundation/values/ids.ts';
import { toE164 } from '../calls/call.ts';

/** Of what kind transfers are as owners of calls. */
export const TRANSFER = 'transfer';

export type TransferRow = Row<'call_transfers'>;

/** The states that a transfer can move to, as the contract's `x-transitions` show them. */
export const transferTransitions = {
  waiting: ['dialing', 'failed'],
  dialing: ['joined', 'failed'],
  joined: [],
  failed: [],
} as const satisfies Record<TransferRow['status'], readonly TransferRow['status'][]>;

type Transfer = components['schemas']['CallTransfer'];

export const shapeTransfer = (row: TransferRow): Transfer => ({
  id: toId('xfr', row.id),
  roomId: toId('room', row.room_id),
  to: toE164(row.to_number),
  status: row.status,
  ...(row.reason !== null && { reason: row.reason as NonNullable<Transfer['reason']> }),
  ...(row.leg_room_id !== null && { legRoomId: toId('room', row.leg_room_id) }),
  requestedAt: row.requested_at.toISOString(),
  ...(row.settled_at && { settledAt: row.settled_at.toISOString() }),
});
