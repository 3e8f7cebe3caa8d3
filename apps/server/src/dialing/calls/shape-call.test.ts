import { expect, test } from 'vitest';
import { newUuid } from '../../foundation/values/ids.ts';
import { type CallRow, shapeCall } from './shape-call.ts';

const at = (time: string) => new Date(`2026-11-20T${time}Z`);
const queued = {
  id: newUuid(),
  status: 'queued',
  outcome: null,
  direction: 'outbound',
  simulated: true,
  from_number: 14155550100,
  to_number: 14155550142,
  agent_id: 'agent_reception',
  phone_number_id: newUuid(),
  campaign_id: null,
  campaign_kind: 'campaign',
  owner_kind: 'intent',
  owner_id: newUuid(),
  variables: null,
  attempt: 1,
  external_id: null,
  tags: null,
  metadata: {},
  queued_at: at('17:30:00'),
  dialed_at: null,
  ringing_at: null,
  answered_at: null,
  ended_at: null,
  ended_by: null,
  sip_status: null,
  sip_reason: null,
  codec: null,
  packets_received: null,
  packets_lost: null,
  encrypted_with: null,
  packets_undeciphered: null,
  agent_end: null,
  usage: null,
  result: null,
  reason: null,
  next_attempt_at: null,
  expires_at: null,
  number_pool_id: null,
  contact_values: null,
  contact_name: null,
  columns: null,
  recording_status: null,
  recording_bytes: null,
  recording_ms: null,
  recording_stored_at: null,
} satisfies Partial<CallRow> as CallRow;

test('a field without a value is left out', () => {
  expect(Object.keys(shapeCall(queued)).toSorted()).toEqual([
    'agentId',
    'attempt',
    'direction',
    'fromNumber',
    'phoneNumberId',
    'queuedAt',
    'roomId',
    'simulated',
    'status',
    'toNumber',
  ]);
});

test('a call lasts from its answer to its end, and has no duration without one of them', () => {
  const answered = { ...queued, status: 'in_progress' as const, answered_at: at('17:30:06.040') };
  expect(shapeCall(answered)).not.toHaveProperty('durationSeconds');
  expect(shapeCall({ ...queued, ended_at: at('17:31:00') })).not.toHaveProperty('durationSeconds');
  expect(shapeCall({ ...answered, ended_at: at('17:31:18.540') }).durationSeconds).toBe(72.5);
});

test('the variables are the name and the columns of the contact that have a value', () => {
  const row = {
    ...queued,
    columns: ['first_name', 'city', 'later'],
    contact_values: ['Ada', null],
    contact_name: 'Ada L.',
  };
  expect(shapeCall(row).variables).toEqual({ name: 'Ada L.', first_name: 'Ada' });
});
