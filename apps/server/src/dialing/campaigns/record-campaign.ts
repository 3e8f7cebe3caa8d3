import { forWorkspace, type Tx, type WorkspaceTx } from '../../foundation/database/database.ts';
import { toId } from '../../foundation/values/ids.ts';
import { type AuditEntry, record } from '../../platform/journal/record.ts';
import type { CampaignKey } from './campaign.ts';
import { type CampaignRow, shapeCampaign } from './shape-campaign.ts';
import { findCampaign } from './store.ts';

/** Writes that a campaign has come to the status that it has now, and answers the campaign. */
export async function recordCampaignStatus(
  tx: WorkspaceTx,
  campaignId: string,
  now: Date,
  auditEntry?: AuditEntry,
): Promise<CampaignRow> {
  const row = await findCampaign(tx, campaignId);
  if (!row) throw new Error(`The campaign ${campaignId} is gone.`);
  const data = shapeCampaign(row);
  const why = data.meta?.pause?.reason;
  tx.note(
    { workspace: toId('ws', tx.workspaceId), campaign: data.id, ...(why && { reason: why }) },
    `a campaign is ${row.status}`,
  );
  await record(tx, {
    resourceId: row.id,
    revision: row.revision,
    type: `campaign.${row.status}`,
    data,
    now,
    auditEntry,
  });
  return row;
}

/** The same for a campaign that the engine has moved, in the transaction that did it. Batches are told of elsewhere. */
export async function recordEngineMove(tx: Tx, { workspaceId, campaignId }: CampaignKey, now: Date): Promise<void> {
  const inWorkspace = forWorkspace(tx, workspaceId);
  if (await findCampaign(inWorkspace, campaignId)) await recordCampaignStatus(inWorkspace, campaignId, now);
}
