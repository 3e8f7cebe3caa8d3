import type { Row } from '../../../foundation/database/schema.ts';

type RecordingStatus = Row<'call_recordings'>['status'];

/** The states that a recording can move to, as the contract's `x-transitions` show them. */
export const recordingTransitions = {
  recording: ['stored', 'failed'],
  stored: ['deleted'],
  // Given up as lost, while the store was away.
  failed: ['stored'],
  deleted: [],
} as const satisfies Record<RecordingStatus, readonly RecordingStatus[]>;

/** Where the object store keeps a recording. */
export const recordingKey = (roomId: string): string => `recordings/${roomId}.wav`;
