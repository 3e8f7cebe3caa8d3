import { sql } from 'kysely';
import type { OwnedCall } from '../calls/call.ts';
import type { CallOwner } from '../calls/call-owner.ts';

/** Test calls, as the owners of their calls: a call is placed once or never, and what it saw is kept with its end. */
export const testCallOwner: CallOwner = {
  mayBePlaced: () => sql`
    (c.campaign_id is null and c.workflow_run_id is null and exists (select from test_calls t
      where t.workspace_id = c.workspace_id and t.room_id = c.id))`,
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
    const own = calls.filter(isNobodyElses);
    if (own.length === 0) return;
    await sql`
      update test_calls t set returned_at = ${now}
      from unnest(${own.map((call) => call.workspaceId)}::uuid[], ${own.map((call) => call.roomId)}::uuid[])
        as x (workspace_id, room_id)
      where t.workspace_id = x.workspace_id and t.room_id = x.room_id`.execute(db);
  },
};

const isNobodyElses = ({ campaignId, workflowRunId }: OwnedCall) => campaignId === null && workflowRunId === null;
