import { forWorkspace, type Tx } from '../../foundation/database/database.ts';
import { record } from '../../platform/journal/record.ts';
import type { CampaignKey } from '../campaigns/campaign.ts';
import { findCampaign } from '../campaigns/store.ts';
import { findBatch } from './store.ts';

/** Writes that the engine has completed a batch, in the transaction that did it. Campaigns are told of elsewhere. */
export async function recordCompletion(tx: Tx, { workspaceId, campaignId }: CampaignKey, now: Date): Promise<void> {
  const inWorkspace = forWorkspace(tx, workspaceId);
  const campaign = await findCampaign(inWorkspace, campaignId, 'batch');
  if (!campaign) return;
  const data = (await findBatch(inWorkspace, campaignId, now))!;
  const { revision } = campaign;
  await record(inWorkspace, { resourceId: campaignId, revision, type: 'batch.completed', data, now });
}
