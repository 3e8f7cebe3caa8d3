import { sql } from 'kysely';
import { recordingTransitions } from '../../dialing/calls/recordings/recording.ts';
import type { EngineTx } from '../../foundation/database/database.ts';
import { from } from '../../foundation/database/moves.ts';
import { ERASED_NUMBER } from '../../platform/person-data/number-in-text.ts';
import type { RunningErasure } from './erasure.ts';

/** Whether a call with a person is up. */
export async function isOnACall(tx: { db: EngineTx['db'] }, workspaceId: string, number: number): Promise<boolean> {
  const { rows } = await sql`
    select from calls where workspace_id = ${workspaceId} and ended_at is null
      and ${number}::bigint = case when direction = 'outbound' then to_number else from_number end limit 1`.execute(
    tx.db,
  );
  return rows.length > 0;
}

/** Whether one of these calls has a recording that is still to be stored. */
export async function isBeingRecorded(tx: EngineTx, workspaceId: string, rooms: readonly string[]): Promise<boolean> {
  const { rows } = await sql`
    select from call_recordings
    where workspace_id = ${workspaceId} and room_id = any(${rooms}::uuid[]) and status = 'recording' limit 1`.execute(
    tx.db,
  );
  return rows.length > 0;
}

/** Erases what is kept beside the calls of a person: what was said, the sound, and what their provider knows of them. */
export async function eraseBesideCalls(
  tx: EngineTx,
  { workspace_id: workspaceId, id }: Pick<RunningErasure, 'workspace_id' | 'id'>,
  rooms: readonly string[],
  now: Date,
): Promise<void> {
  if (rooms.length === 0) return;
  const ofRooms = sql`workspace_id = ${workspaceId} and room_id = any(${rooms}::uuid[])`;
  await sql`delete from call_transcripts where ${ofRooms}`.execute(tx.db);
  // One that was given up may be stored after all, unless it is deleted.
  await sql`
    update call_recordings set status = 'stored', stored_at = ${now}
    where ${ofRooms} and status in ${from(recordingTransitions, 'stored', 'failed')}`.execute(tx.db);
  await sql`
    update call_recordings set status = 'deleted'
    where ${ofRooms} and status in ${from(recordingTransitions, 'deleted')}`.execute(tx.db);
  // Nobody can tell whose they are once the number is gone.
  await sql`
    update call_recordings set erasure_id = ${id} where ${ofRooms} and status = 'deleted' and erased_at is null`.execute(
    tx.db,
  );
  await sql`
    update sip_calls set dialog = null, messages = null, sip_reason = null, agent_end = agent_end - 'text' where ${ofRooms}`.execute(
    tx.db,
  );
  await sql`
    update simulator_calls set to_number = ${`+${ERASED_NUMBER}`} where room_id = any(${rooms}::uuid[])`.execute(tx.db);
}

/** How many files of recordings that an erasure has deleted are still to be erased. */
export async function recordingsToErase(
  tx: EngineTx,
  { workspace_id: workspaceId, id }: Pick<RunningErasure, 'workspace_id' | 'id'>,
): Promise<number> {
  const { rows } = await sql<{ recordings: number }>`
    select count(*) as recordings from call_recordings
    where workspace_id = ${workspaceId} and status = 'deleted' and erased_at is null and erasure_id = ${id}`.execute(
    tx.db,
  );
  return rows[0]!.recordings;
}
