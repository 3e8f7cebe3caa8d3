import type { components } from '../../foundation/values/generated/contract.ts';
import { toId } from '../../foundation/values/ids.ts';
import type { CallOutcome, EndedBy, TestCallMedia } from '../../lines/telephony/call-outcome.ts';
import { given } from '../../lines/trunks/trunk.ts';
import { toE164 } from '../calls/call.ts';
import { explainTestCall } from './explain-test-call.ts';
import type { TestCallRow } from './store.ts';

type TestCall = components['schemas']['TestCall'];

/** A test call as clients see it. One whose call was taken back has no row of its call any more. */
export function shapeTestCall(row: TestCallRow): TestCall {
  const { returned_at: returnedAt } = row;
  const endedAt = row.ended_at ?? returnedAt;
  const end = endedAt && {
    outcome: (row.outcome ?? 'cancelled') as CallOutcome,
    endedBy: (row.ended_by ?? 'error') as EndedBy,
  };
  const sip = { sipStatus: row.sip_status, sipReason: row.sip_reason };
  const times = {
    dialedAt: row.dialed_at,
    ringingAt: row.ringing_at,
    answeredAt: row.answered_at,
    endedAt,
  };
  const media = row.media as TestCallMedia | null;
  return {
    roomId: toId('room', row.room_id),
    phoneNumberId: toId('pn', row.phone_number_id),
    fromNumber: toE164(row.from_number),
    toNumber: toE164(row.to_number),
    simulated: row.simulated,
    status: row.status ?? 'cancelled',
    ...end,
    ...given(sip),
    queuedAt: row.requested_at.toISOString(),
    ...Object.fromEntries(Object.entries(times).flatMap(([name, at]) => (at ? [[name, at.toISOString()]] : []))),
    ...given({ media }),
    ...(end &&
      explainTestCall({
        ...end,
        ...given({ ...sip, q850Cause: row.release_cause, packetsReceived: row.packets_received, media }),
        simulated: row.simulated,
        wasReturned: returnedAt !== null,
        hasRung: row.ringing_at !== null,
        ...(row.answered_at && { talkedMs: endedAt.getTime() - row.answered_at.getTime() }),
      })),
  };
}
