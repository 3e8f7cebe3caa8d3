import type { CampaignKind, Row } from '../../foundation/database/schema.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { toId } from '../../foundation/values/ids.ts';
import type { MessageLeft } from '../../lines/media/answered/answered-voice.ts';
import { toE164 } from './call.ts';
import { callVariables } from './call-variables.ts';

export type Call = components['schemas']['Call'];
export type CallResult = components['schemas']['CallResult'];

/** A call's row, with what its contact gives the agent. `from_number` is null if an inbound caller has withheld it, or none was chosen. */
export interface CallRow
  extends Omit<
    Row<'calls'>,
    | 'outcome'
    | 'ended_by'
    | 'agent_end'
    | 'usage'
    | 'result'
    | 'reason'
    | 'answered_by'
    | 'answered_by_evidence'
    | 'message_left'
  > {
  reason: NonNullable<Call['reason']> | null;
  outcome: NonNullable<Call['outcome']> | null;
  ended_by: NonNullable<Call['endedBy']> | null;
  agent_end: NonNullable<Call['agentEnd']> | null;
  usage: NonNullable<Call['usage']> | null;
  result: CallResult | null;
  answered_by: Call['answeredBy'] | null;
  answered_by_evidence: Call['answeredByEvidence'] | null;
  message_left: MessageLeft | null;
  /** Of the campaign, where there is one. */
  campaign_kind: CampaignKind;
  /** Null where the contact is gone with its campaign. */
  contact_values: (string | null)[] | null;
  contact_name: string | null;
  columns: string[] | null;
  /** When a call that waits is looked at next, and given up; null of any other. */
  next_attempt_at: Date | null;
  expires_at: Date | null;
  /** The pool of a call that waits, if that has one. */
  number_pool_id: string | null;
  recording_status: Row<'call_recordings'>['status'] | null;
  recording_bytes: number | null;
  recording_ms: number | null;
  recording_stored_at: Date | null;
}

/** A call as clients see it. */
export function shapeCall(row: CallRow): Call {
  const { answered_at: answered, ended_at: ended } = row;
  const variables =
    row.variables ?? (row.contact_values && callVariables(row.columns ?? [], row.contact_values, row.contact_name));
  return {
    roomId: toId('room', row.id),
    status: row.status,
    ...(row.outcome && { outcome: row.outcome }),
    direction: row.direction,
    simulated: row.simulated,
    ...(row.from_number !== null && { fromNumber: toE164(row.from_number) }),
    toNumber: toE164(row.to_number),
    ...(row.agent_id !== null && { agentId: row.agent_id }),
    ...(row.phone_number_id && { phoneNumberId: toId('pn', row.phone_number_id) }),
    ...(row.campaign_id &&
      (row.campaign_kind === 'batch'
        ? { batchId: toId('bat', row.campaign_id) }
        : { campaignId: toId('cmp', row.campaign_id) })),
    ...(row.number_pool_id && { numberPoolId: toId('pool', row.number_pool_id) }),
    ...(row.owner_kind === 'run' && { workflowRunId: toId('run', row.owner_id) }),
    ...(row.owner_kind === 'contact' && { contactId: toId('cc', row.owner_id) }),
    attempt: row.attempt,
    ...(row.external_id && { externalId: row.external_id }),
    ...(row.tags && { tags: row.tags }),
    ...(Object.keys(row.metadata).length > 0 && { metadata: row.metadata }),
    ...(variables && Object.keys(variables).length > 0 && { variables }),
    ...((row.result?.answeredBy ?? row.answered_by) && { answeredBy: row.result?.answeredBy ?? row.answered_by! }),
    ...(row.answered_by_evidence && { answeredByEvidence: row.answered_by_evidence }),
    ...(row.message_left && answered && { messageLeft: shapeMessage(row.message_left, answered) }),
    ...(row.sip_status !== null && { sipStatus: row.sip_status }),
    ...(row.sip_reason && { sipReason: row.sip_reason }),
    ...(row.codec && { codec: row.codec }),
    ...(row.packets_received !== null && { packetsReceived: row.packets_received }),
    ...(row.packets_lost !== null && { packetsLost: row.packets_lost }),
    ...(row.encrypted_with && { encryptedWith: row.encrypted_with }),
    ...(row.packets_undeciphered !== null && { packetsUndeciphered: row.packets_undeciphered }),
    ...(answered &&
      row.packets_received === 0 && {
        noMediaReason: row.packets_undeciphered === null ? ('no_packets' as const) : ('wrong_key' as const),
      }),
    queuedAt: row.queued_at.toISOString(),
    ...(row.dialed_at && { dialedAt: row.dialed_at.toISOString() }),
    ...(row.ringing_at && { ringingAt: row.ringing_at.toISOString() }),
    ...(answered && { answeredAt: answered.toISOString() }),
    ...(ended && { endedAt: ended.toISOString() }),
    ...(answered && ended && { durationSeconds: Math.max(0, (ended.getTime() - answered.getTime()) / 1000) }),
    ...(row.ended_by && { endedBy: row.ended_by }),
    ...(row.agent_end && { agentEnd: row.agent_end }),
    ...(row.usage && { usage: row.usage }),
    ...(row.reason && { reason: row.reason }),
    ...(row.next_attempt_at && { nextAttemptAt: row.next_attempt_at.toISOString() }),
    ...(row.expires_at && { expiresAt: row.expires_at.toISOString() }),
    ...(row.result && { result: row.result }),
    ...(row.recording_status && { recording: shapeRecording(row, row.recording_status) }),
  };
}

const shapeMessage = (left: MessageLeft, answered: Date): NonNullable<Call['messageLeft']> => ({
  startedAt: new Date(answered.getTime() + left.fromMs).toISOString(),
  ...left,
});

const shapeRecording = (row: CallRow, status: NonNullable<Call['recording']>['status']) => ({
  status,
  ...(status === 'stored' && row.recording_ms !== null && { durationSeconds: row.recording_ms / 1000 }),
  ...(status === 'stored' && row.recording_bytes !== null && { sizeBytes: row.recording_bytes }),
});
