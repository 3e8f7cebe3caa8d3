import { sql } from 'kysely';
import { expireExports } from '../../audience/contact-lists/expire-exports.ts';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import type { CampaignKind } from '../../foundation/database/schema.ts';
import { toId } from '../../foundation/values/ids.ts';
import { existing, ServiceError } from '../../foundation/values/service-error.ts';
import type { Jobs } from '../../platform/jobs/jobs.ts';
import { type AuditEntry, audit } from '../../platform/journal/record.ts';
import type { CampaignDeps } from './deps.ts';
import { eraseContacts, eraseContactsQueue } from './erase-contacts.ts';
import { findCampaign, lockCampaign } from './store.ts';

/**
 * Deletes a draft or an ended campaign with its contacts, of many most by background work; its calls stay. Throws `not_found`, and `invalid_state` for a
 * campaign that is active or has calls that are up, and for a redial that has called people of a campaign that is still there.
 */
export async function deleteCampaign(
  { database, clock, jobs }: CampaignDeps & { jobs: Jobs },
  workspaceId: string,
  campaignId: string,
  auditEntry: AuditEntry,
): Promise<void> {
  const erase = async (tx: WorkspaceTx) => {
    await eraseCampaign(tx, jobs, campaignId, 'campaign');
    tx.tell(campaignId);
    const now = clock.now();
    await expireExports(tx, { campaignId: toId('cmp', campaignId) }, now);
    await audit(tx, auditEntry, now);
  };
  await database.inWorkspace(workspaceId, erase, { mayTakeLong: true });
}

/** Erases a campaign of a kind with all that hangs on it. Throws as `deleteCampaign` does. */
export async function eraseCampaign(
  tx: WorkspaceTx,
  jobs: Jobs,
  campaignId: string,
  kind: CampaignKind,
): Promise<void> {
  const { db, workspaceId } = tx;
  // Contacts may still be on their way in, of a campaign that was just stopped: add-contacts.ts holds this lock.
  await sql`select pg_advisory_xact_lock(hashtextextended(${campaignId}, 0))`.execute(db);
  const campaign = await existing(lockCampaign(tx, campaignId, kind));
  const { status } = campaign;
  if (status === 'scheduled' || status === 'running' || status === 'paused') {
    const first = status === 'scheduled' || kind === 'batch' ? 'Cancel' : 'Stop';
    throw new ServiceError('invalid_state', `An active ${kind} can not be deleted. ${first} it first.`);
  }
  if (campaign.in_flight > 0) {
    throw new ServiceError('invalid_state', `Calls of this ${kind} are still up. Delete it when they have ended.`);
  }
  if (campaign.attempts > 0 && campaign.redial_of !== null && (await findCampaign(tx, campaign.redial_of))) {
    const first = toId('cmp', campaign.redial_of);
    const why = `Without this redial, the next one of ${first} would call the same people again.`;
    throw new ServiceError('invalid_state', `${why} Delete that campaign first.`);
  }
  // Nobody sees what is left of them without the campaign.
  if (await eraseContacts(tx, campaignId)) await jobs.enqueue(tx, eraseContactsQueue, { workspaceId, campaignId });
  for (const table of ['campaign_lanes', 'campaign_lists'] as const) {
    await db.deleteFrom(table).where('workspace_id', '=', workspaceId).where('campaign_id', '=', campaignId).execute();
  }
  await db.deleteFrom('campaigns').where('workspace_id', '=', workspaceId).where('id', '=', campaignId).execute();
}
