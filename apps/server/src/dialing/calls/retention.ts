import { sql } from 'kysely';
import { NIL } from 'uuid';
import type { Database } from '../../foundation/database/database.ts';
import { from } from '../../foundation/database/moves.ts';
import { workspaceIds } from '../../foundation/database/workspace-ids.ts';
import { inChunks } from '../../foundation/values/in-chunks.ts';
import { recordingTransitions } from './recordings/recording.ts';

/** With what hangs on them these are at most 5,000 rows. */
const CHUNK = 1000;

/** Where a walk through the calls of a workspace goes on. The time is text: that of the database is finer than a Date. */
interface Place {
  id: string;
  at: string;
}

/**
 * Deletes calls that ended before a time, with what is kept of them, workspace by workspace, in small transactions. One
 * whose recording has a file stays until that is erased, which this asks for. Servers may do it at once.
 */
export async function deleteOldCalls(database: Database, before: Date, signal?: AbortSignal): Promise<void> {
  for (const workspaceId of await database.inEngine(workspaceIds)) {
    let place: Place = { id: NIL, at: '-infinity' };
    await inChunks(async () => {
      const old = await nextOld(database, workspaceId, before, place);
      await deleteCalls(
        database,
        workspaceId,
        old.map(({ id }) => id),
      );
      place = old.at(-1) ?? place;
      return old.length === CHUNK;
    }, signal);
  }
}

/** The next calls that have ended before a time: they were queued before it too, and so stand at the head of an index. */
async function nextOld(database: Database, workspaceId: string, before: Date, after: Place): Promise<Place[]> {
  const { rows } = await database.inHotLoop(({ db }) =>
    sql<Place>`
      select id, queued_at::text as at from calls
      where workspace_id = ${workspaceId} and queued_at < ${before} and ended_at < ${before}
        and (queued_at, id) > (${after.at}::timestamptz, ${after.id}::uuid)
      order by queued_at, id limit ${sql.lit(CHUNK)}`.execute(db),
  );
  return rows;
}

async function deleteCalls(database: Database, workspaceId: string, ids: string[]): Promise<void> {
  if (ids.length === 0) return;
  await database.inHotLoop(async ({ db }) => {
    const rooms = sql`workspace_id = ${workspaceId} and room_id = any(${ids}::uuid[])`;
    await sql`
      update call_recordings set status = 'deleted'
      where ${rooms} and status in ${from(recordingTransitions, 'deleted')}`.execute(db);
    const { rows } = await sql<{ room_id: string }>`
      select room_id from call_recordings where ${rooms} and status <> 'failed' and erased_at is null`.execute(db);
    const kept = new Set(rows.map((row) => row.room_id));
    const gone = ids.filter((id) => !kept.has(id));
    for (const table of [
      'call_recordings',
      'call_transcripts',
      'call_dtmf',
      'call_transfers',
      'test_calls',
      'sip_calls',
    ])
      await sql`
        delete from ${sql.table(table)} where workspace_id = ${workspaceId} and room_id = any(${gone}::uuid[])`.execute(
        db,
      );
    await sql`delete from simulator_calls where room_id = any(${gone}::uuid[])`.execute(db);
    await sql`delete from calls where workspace_id = ${workspaceId} and id = any(${gone}::uuid[])`.execute(db);
  });
}
