import { sql } from 'kysely';
import type { Database } from '../database/database.ts';
import type { HeldCall } from './call.ts';
import { type CallOwner, campaignsOf, type ReturnedCall } from './call-owner.ts';

interface Row {
  workspace_id: string;
  campaign_id: string | null;
  contact_id: string | null;
}

const returned =
  (attemptTakenBack: boolean) =>
  (row: Row): ReturnedCall => ({
    workspaceId: row.workspace_id,
    campaignId: row.campaign_id,
    contactId: row.contact_id,
    attemptTakenBack,
  });

/**
 * Takes back calls that were never placed, so that their contacts can be called. A call still `queued` disappears
 * with its attempt; one that was `dialing`, but that the provider has surely not heard of, stays as `cancelled`.
 * A call that another server has taken over is left alone.
 */
export async function returnCalls(
  database: Database,
  owner: CallOwner,
  serverId: string,
  calls: HeldCall[],
  now: Date,
): Promise<void> {
  if (calls.length === 0) return;
  const workspaces = calls.map((call) => call.workspaceId);
  const ids = calls.map((call) => call.roomId);
  await database.inEngine(async (tx) => {
    await owner.lock(tx, campaignsOf(calls));
    const queued = await sql<Row>`
      delete from calls c using unnest(${workspaces}::uuid[], ${ids}::uuid[]) as x (workspace_id, id)
      where c.workspace_id = x.workspace_id and c.id = x.id and c.status = 'queued' and c.server_id = ${serverId}
      returning c.workspace_id, c.campaign_id, c.contact_id`.execute(tx.db);
    const dialing = await sql<Row>`
      update calls c set status = 'cancelled', outcome = 'cancelled', ended_by = 'error', ended_at = ${now}
      from unnest(${workspaces}::uuid[], ${ids}::uuid[]) as x (workspace_id, id)
      where c.workspace_id = x.workspace_id and c.id = x.id and c.status = 'dialing' and c.server_id = ${serverId}
      returning c.workspace_id, c.campaign_id, c.contact_id`.execute(tx.db);
    await owner.onCallsReturned(
      tx,
      [...queued.rows.map(returned(true)), ...dialing.rows.map(returned(false))],
      now,
    );
  });
}
