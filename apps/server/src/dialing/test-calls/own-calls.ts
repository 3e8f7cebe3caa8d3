import { sql } from 'kysely';
import type { CallOwner } from '../calls/call-owner.ts';

/** Of what kind test calls are as owners of calls; their ID is the room's. */
export const TEST_CALL = 'test_call';

/** Test calls, as the owners of their calls: a call is placed once or never, and what it saw is kept with its end. */
export const testCallOwner: CallOwner = {
  kind: TEST_CALL,
  mayBePlaced: () => sql`true`,
  onCallsEnded: async ({ db }, calls) => {
    const told = calls.filter((call) => call.test !== undefined);
    if (told.length === 0) return;
    await sql`
      update test_calls t set media = x.media
      from unnest(${told.map((call) => call.workspaceId)}::uuid[], ${told.map((call) => call.roomId)}::uuid[],
        ${told.map((call) => JSON.stringify(call.test))}::json[]) as x (workspace_id, room_id, media)
      where t.workspace_id = x.workspace_id and t.room_id = x.room_id`.execute(db);
  },
  onCallsReturned: async ({ db }, calls, now) => {
    await sql`
      update test_calls t set returned_at = ${now}
      from unnest(${calls.map((call) => call.workspaceId)}::uuid[], ${calls.map((call) => call.roomId)}::uuid[])
        as x (workspace_id, room_id)
      where t.workspace_id = x.workspace_id and t.room_id = x.room_id`.execute(db);
  },
};
