import { sql } from 'kysely';
import type { WorkspaceTx } from '../database/database.ts';
import { containing, type PageQuery, pageRows } from '../database/page.ts';
import type { CampaignKind, CampaignStatus } from '../database/schema.ts';
import type { CampaignRow } from './shape-campaign.ts';

/** A batch is a campaign that the operations of campaigns don't see. */
type WantedKind = CampaignKind | 'any';

/** Campaigns with their caller ID and their lists, in the order in which these were given. */
const selectCampaigns = (tx: WorkspaceTx, kind: WantedKind) =>
  tx.db
    .selectFrom('campaigns')
    .leftJoin('phone_numbers', (join) =>
      join
        .onRef('phone_numbers.workspace_id', '=', 'campaigns.workspace_id')
        .onRef('phone_numbers.id', '=', 'campaigns.phone_number_id'),
    )
    .selectAll('campaigns')
    .select('phone_numbers.phone_number as from_number')
    .select(
      sql<CampaignRow['lists']>`(
        select coalesce(json_agg(json_build_object('id', cl.list_id, 'role', cl.role) order by cl.position), '[]')
        from campaign_lists cl
        where cl.workspace_id = campaigns.workspace_id and cl.campaign_id = campaigns.id)`.as('lists'),
    )
    .where('campaigns.workspace_id', '=', tx.workspaceId)
    .$if(kind !== 'any', (q) => q.where('campaigns.kind', '=', kind as CampaignKind));

/** One campaign, as it is now. */
export async function findCampaign(
  tx: WorkspaceTx,
  id: string,
  kind: WantedKind = 'campaign',
): Promise<CampaignRow | undefined> {
  return selectCampaigns(tx, kind).where('campaigns.id', '=', id).executeTakeFirst();
}

/** The same, its row locked until the transaction ends. */
export async function lockCampaign(
  tx: WorkspaceTx,
  id: string,
  kind: WantedKind = 'campaign',
): Promise<CampaignRow | undefined> {
  return selectCampaigns(tx, kind).where('campaigns.id', '=', id).forUpdate('campaigns').executeTakeFirst();
}

/** Which campaigns are listed. */
export interface CampaignQuery extends PageQuery {
  kind: CampaignKind;
  /** Those in one of these. */
  statuses: readonly CampaignStatus[] | undefined;
}

export async function campaignPage(
  tx: WorkspaceTx,
  query: CampaignQuery,
): Promise<{ rows: CampaignRow[]; totalCount: number }> {
  const { kind, statuses, searchText } = query;
  const pattern = searchText && containing(searchText);
  const counted = await tx.db
    .selectFrom('campaigns')
    .select(sql<number>`count(*)`.as('count'))
    .where('workspace_id', '=', tx.workspaceId)
    .where('kind', '=', kind)
    .$if(statuses !== undefined, (q) => q.where('status', 'in', statuses!))
    .$if(pattern !== undefined, (q) => q.where('name', 'ilike', pattern!))
    .executeTakeFirstOrThrow();
  const rows = await selectCampaigns(tx, kind)
    .$if(statuses !== undefined, (q) => q.where('campaigns.status', 'in', statuses!))
    .$if(pattern !== undefined, (q) => q.where('campaigns.name', 'ilike', pattern!))
    .orderBy('campaigns.created_at', query.order)
    .orderBy('campaigns.id', query.order)
    .limit(pageRows(query).limit)
    .offset(pageRows(query).offset)
    .execute();
  return { rows, totalCount: counted.count };
}

/** The uploads that hold a campaign's contacts, in the order in which they are read. */
export async function contactUploads(tx: WorkspaceTx, campaignId: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select u.id from campaign_lists cl
    join contact_list_uploads u on u.workspace_id = cl.workspace_id and u.list_id = cl.list_id
    where cl.workspace_id = ${tx.workspaceId} and cl.campaign_id = ${campaignId} and cl.role = 'contacts'
      and u.status = 'processed'
    order by cl.position, u.processed_at, u.id`.execute(tx.db);
  return rows.map((row) => row.id);
}
