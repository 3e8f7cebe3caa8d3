import { type RawBuilder, sql } from 'kysely';
import { NIL } from 'uuid';
import type { WorkspaceTx } from '../../foundation/database/database.ts';

/** Below the ID of every contact. */

/** Has the windows of all of the workspace's campaigns computed anew, after its quiet hours or holidays have changed. */
export async function changeHoursOfWorkspace(tx: WorkspaceTx): Promise<void> {
  const { db, workspaceId } = tx;
  await sql`
    with active as (select id from campaigns
      where workspace_id = ${workspaceId} and status in ('scheduled', 'running', 'paused')
      order by id for no key update)
    update campaigns c set next_claim_at = 'epoch' from active
    where c.workspace_id = ${workspaceId} and c.id = active.id`.execute(db);
  await relane(tx, hasLeftOutByHours);
  await sql`update campaign_lanes set closes_at = 'epoch' where workspace_id = ${workspaceId}`.execute(db);
}

/**
 * The same for a paused campaign that has other hours, or another `calleeTimeZone`: the time zones of its contacts then come
 * from another rule. The caller holds its row.
 */
export async function changeHoursOfCampaign(
  tx: WorkspaceTx,
  campaignId: string,
  { newZones }: { newZones: boolean },
): Promise<void> {
  await relane(tx, sql`c.id = ${campaignId} and ${newZones ? sql`true` : hasLeftOutByHours}`);
  await sql`
    update campaign_lanes set opens_at = 'epoch', closes_at = 'epoch'
    where workspace_id = ${tx.workspaceId} and campaign_id = ${campaignId}`.execute(tx.db);
}

/** SQL for whether a campaign `c` leaves contacts out as `no_common_hour`. */
const hasLeftOutByHours = sql`exists (select from campaign_lanes l
  where l.workspace_id = c.workspace_id and l.campaign_id = c.id
    and not (l.has_common_hour and coalesce(l.free_has_common_hour, true)))`;

/** Has `relaneContacts` go over some campaigns: until it is done, no claim runs. */
async function relane({ db, workspaceId }: WorkspaceTx, which: RawBuilder<unknown>): Promise<void> {
  await sql`
    update campaigns c set relaning_after = ${NIL}, contacts_added = false
    where c.workspace_id = ${workspaceId} and c.status in ('running', 'paused') and ${which}`.execute(db);
}
