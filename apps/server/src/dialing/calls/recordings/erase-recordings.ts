import { sql } from 'kysely';
import { NIL } from 'uuid';
import { from } from '../../../foundation/database/moves.ts';
import { MOST_AT_ONCE } from '../../../foundation/values/in-chunks.ts';
import type { RecordingDeps } from './keep-recordings.ts';
import { recordingKey, recordingTransitions } from './recording.ts';

const DAY_MS = 24 * 3600 * 1000;
/** A recording whose call is over for so long, and whose file nobody has, is lost. */
const LOST_AFTER_MS = 3600 * 1000;
const MOST = 200;

type Deps = Pick<RecordingDeps, 'database' | 'objects' | 'clock' | 'log' | 'retentionDays'>;

/** Where a look for what is to be erased goes on. */
export interface ErasePlace {
  workspaceId: string;
  roomId: string;
}

const START: ErasePlace = { workspaceId: NIL, roomId: NIL };

/**
 * Erases recordings that were deleted, or kept for as long as the settings say (without such a setting for ever), and gives up those that were lost with
 * their server. One that can't be erased is left for the next time round. Servers may do it at once.
 * @param after the place that the call before has answered with
 * @returns where to go on, where there may be more to erase
 */
export async function eraseRecordings(
  { database, objects, clock, log, retentionDays }: Deps,
  after = START,
): Promise<ErasePlace | undefined> {
  const now = clock.now();
  const oldest = retentionDays === undefined ? undefined : new Date(now.getTime() - retentionDays * DAY_MS);
  const lost = new Date(now.getTime() - LOST_AFTER_MS);
  const erasable = await database.inEngine(async ({ db }) => {
    await sql`
      update call_recordings r set status = 'failed'
      where r.created_at < ${lost} and r.status in ${from(recordingTransitions, 'failed')} and exists (
        select from calls c where c.workspace_id = r.workspace_id and c.id = r.room_id and c.ended_at < ${lost})`.execute(
      db,
    );
    if (oldest) {
      await sql`
        update call_recordings set status = 'deleted' where ctid = any(array(
          select ctid from call_recordings
          where stored_at < ${oldest} and status in ${from(recordingTransitions, 'deleted')}
          order by stored_at limit ${sql.lit(MOST_AT_ONCE)} for update skip locked))
          and status in ${from(recordingTransitions, 'deleted')}`.execute(db);
    }
    const { rows } = await sql<{ workspace_id: string; room_id: string }>`
      select workspace_id, room_id from call_recordings
      where status = 'deleted' and erased_at is null
        and (workspace_id, room_id) > (${after.workspaceId}::uuid, ${after.roomId}::uuid)
      order by workspace_id, room_id limit ${sql.lit(MOST)}`.execute(db);
    return rows;
  });
  for (const { workspace_id: workspaceId, room_id: roomId } of erasable) {
    try {
      await objects.delete(recordingKey(roomId));
    } catch (error) {
      log.warn({ err: error, roomId }, 'a recording could not be erased; it is tried again');
      continue;
    }
    await database.inWorkspace(workspaceId, ({ db }) =>
      sql`
        update call_recordings set erased_at = ${now}, peaks = null
        where workspace_id = ${workspaceId} and room_id = ${roomId}`.execute(db),
    );
  }
  const last = erasable.length === MOST ? erasable.at(-1)! : undefined;
  return last && { workspaceId: last.workspace_id, roomId: last.room_id };
}
