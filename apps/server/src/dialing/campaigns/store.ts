import { type RawBuilder, sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { isOneOf, type Page, type PageQuery, readPage } from '../../foundation/database/page.ts';
import type { CampaignKind, CampaignStatus } from '../../foundation/database/schema.ts';
import type { CampaignRow } from './shape-campaign.ts';

/** A batch is a campaign that the operations of campaigns don't see. */
type WantedKind = CampaignKind | 'any';

/** Campaigns with their caller ID and their lists, in the order in which these were given. */
const columns = sql`campaigns.*, n.phone_number as from_number,
  (select coalesce(json_agg(json_build_object('id', cl.list_id, 'role', cl.role) order by cl.position), '[]')
    from campaign_lists cl
    where cl.workspace_id = campaigns.workspace_id and cl.campaign_id = campaigns.id) as lists`;
const from = sql`campaigns
  left join phone_numbers n on n.workspace_id = campaigns.workspace_id and n.id = campaigns.phone_number_id`;
const wanted = ({ workspaceId }: WorkspaceTx, kind: WantedKind) => sql`campaigns.workspace_id = ${workspaceId}
  and ${kind === 'any' ? sql`true` : sql`campaigns.kind = ${sql.lit(kind)}`}`;

async function selectCampaign(tx: WorkspaceTx, id: string, kind: WantedKind, lock: RawBuilder<unknown>) {
  const { rows } = await sql<CampaignRow>`
    select ${columns} from ${from} where ${wanted(tx, kind)} and campaigns.id = ${id} ${lock}`.execute(tx.db);
  return rows[0];
}

/** One campaign, as it is now. */
export const findCampaign = (
  tx: WorkspaceTx,
  id: string,
  kind: WantedKind = 'campaign',
): Promise<CampaignRow | undefined> => selectCampaign(tx, id, kind, sql``);

/** The same, its row locked until the transaction ends. */
export const lockCampaign = (
  tx: WorkspaceTx,
  id: string,
  kind: WantedKind = 'campaign',
): Promise<CampaignRow | undefined> => selectCampaign(tx, id, kind, sql`for update of campaigns`);

/** Which campaigns are listed. */
export interface CampaignQuery extends PageQuery {
  kind: CampaignKind;
  /** Those in one of these. */
  statuses: readonly CampaignStatus[] | undefined;
  /** Those that use this list. */
  listId?: string | undefined;
  tag?: string | undefined;
}

export const campaignPage = (
  tx: WorkspaceTx,
  { kind, statuses, listId, tag, ...page }: CampaignQuery,
): Promise<Page<CampaignRow>> =>
  readPage(tx, page, {
    columns,
    from,
    where: [
      wanted(tx, kind),
      statuses !== undefined && isOneOf('campaigns.status', statuses),
      tag !== undefined && sql`${tag} = any(campaigns.tags)`,
      listId !== undefined &&
        sql`campaigns.id in (
          select campaign_id from campaign_lists where workspace_id = ${tx.workspaceId} and list_id = ${listId})`,
    ],
    search: ['campaigns.name'],
    order: ['campaigns.created_at', 'campaigns.id'],
  });

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
