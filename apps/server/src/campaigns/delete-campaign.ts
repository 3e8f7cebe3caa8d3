import { sql } from 'kysely';
import type { WorkspaceTx } from '../database/database.ts';
import { type AuditEntry, audit } from '../journal/record.ts';
import { existing, ServiceError } from '../service-error.ts';
import type { CampaignDeps } from './deps.ts';
import { lockCampaign } from './store.ts';

/**
 * Deletes a draft or an ended campaign with its contacts; its calls stay. Throws `not_found`, and `invalid_state` for a
 * campaign that is active or has calls that are up.
 */
export async function deleteCampaign(
  { database, clock }: CampaignDeps,
  workspaceId: string,
  campaignId: string,
  auditEntry: AuditEntry,
): Promise<void> {
  const erase = async (tx: WorkspaceTx) => {
    // Contacts may still be on their way in, of a campaign that was just stopped: add-contacts.ts holds this lock.
    await sql`select pg_advisory_xact_lock(hashtextextended(${campaignId}, 0))`.execute(tx.db);
    const campaign = await existing(lockCampaign(tx, campaignId));
    const { status } = campaign;
    if (status === 'scheduled' || status === 'running' || status === 'paused') {
      const first = status === 'scheduled' ? 'Cancel' : 'Stop';
      throw new ServiceError('invalid_state', `An active campaign can not be deleted. ${first} it first.`);
    }
    if (campaign.in_flight > 0) {
      throw new ServiceError('invalid_state', 'Calls of this campaign are still up. Delete it when they have ended.');
    }
    for (const table of ['campaign_contacts', 'campaign_lanes', 'campaign_lists'] as const) {
      await tx.db
        .deleteFrom(table)
        .where('workspace_id', '=', workspaceId)
        .where('campaign_id', '=', campaignId)
        .execute();
    }
    await tx.db.deleteFrom('campaigns').where('workspace_id', '=', workspaceId).where('id', '=', campaignId).execute();
    tx.tell(campaignId);
    await audit(tx, auditEntry, clock.now());
  };
  await database.inWorkspace(workspaceId, erase, { mayTakeLong: true });
}
