import { sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import type { Page, PageQuery } from '../../foundation/database/page.ts';
import { readStats } from '../campaigns/campaign-stats.ts';
import type { CampaignRow } from '../campaigns/shape-campaign.ts';
import { campaignPage, findCampaign } from '../campaigns/store.ts';
import { type Batch, type BatchStatus, campaignStatuses, shapeBatch } from './batch.ts';

/** One batch, as it is now. */
export async function findBatch(tx: WorkspaceTx, id: string, now: Date): Promise<Batch | undefined> {
  const campaign = await findCampaign(tx, id, 'batch');
  return campaign && (await shaped(tx, [campaign], now))[0];
}

export async function batchPage(
  tx: WorkspaceTx,
  { statuses, ...page }: PageQuery & { statuses: readonly BatchStatus[] | undefined },
  now: Date,
): Promise<Page<Batch>> {
  const ofCampaigns = statuses?.flatMap((status) => campaignStatuses[status]);
  const found = await campaignPage(tx, { ...page, kind: 'batch', statuses: ofCampaigns });
  return { ...found, rows: await shaped(tx, found.rows, now) };
}

async function shaped(tx: WorkspaceTx, campaigns: CampaignRow[], now: Date): Promise<Batch[]> {
  if (campaigns.length === 0) return [];
  const { rows } = await sql<{ id: string; rejected_count: number }>`
    select id, rejected_count from batches
    where workspace_id = ${tx.workspaceId} and id = any(${campaigns.map(({ id }) => id)}::uuid[])`.execute(tx.db);
  const rejected = new Map(rows.map((row) => [row.id, row.rejected_count]));
  return Promise.all(
    campaigns.map(async (campaign) =>
      shapeBatch(campaign, { rejectedCount: rejected.get(campaign.id)!, stats: await readStats(tx, campaign, now) }),
    ),
  );
}
