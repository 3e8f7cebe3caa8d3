import { sql } from 'kysely';
import { type CalleeTimeZone, zonesKey, zonesOfContact } from '../calls/zones-of-contact.ts';
import type { EngineTx } from '../database/database.ts';
import type { CampaignKey } from './campaign.ts';
import { lanesOf } from './lanes.ts';

/** Contacts that one transaction moves, under the campaign's lock. */
const CHUNK_SIZE = 5000;
/** Below the ID of every contact. */
export const FIRST_CONTACT = '00000000-0000-0000-0000-000000000000';

/**
 * Moves the next chunk of a campaign's open contacts to the lanes that its new `calleeTimeZone` gives them: those above
 * `after` without a time zone of their own. No claim runs until all are moved.
 */
export async function relaneContacts(
  tx: EngineTx,
  { workspaceId, campaignId }: CampaignKey,
  rule: CalleeTimeZone,
  after: string,
): Promise<void> {
  await sql`select from campaigns where workspace_id = ${workspaceId} and id = ${campaignId} for no key update`.execute(
    tx.db,
  );
  const { rows } = await sql<{ id: string; phone_number: number }>`
    select c.id, c.phone_number from campaign_contacts c
    join campaign_lanes l on l.workspace_id = c.workspace_id and l.campaign_id = c.campaign_id and l.lane = c.lane
    where c.workspace_id = ${workspaceId} and c.campaign_id = ${campaignId} and c.id > ${after} and not l.is_own
      and c.state in ('pending', 'waiting', 'dialing')
    order by c.id limit ${sql.lit(CHUNK_SIZE)}`.execute(tx.db);
  const zones = rows.map((row) => zonesOfContact(rule, null, row.phone_number));
  const laneOf = await lanesOf(tx, { workspaceId, campaignId }, zones);
  await sql`
    update campaign_contacts c set lane = x.lane
    from unnest(${rows.map(({ id }) => id)}::uuid[], ${zones.map((each) => laneOf.get(zonesKey(each))!)}::smallint[]) as x (id, lane)
    where c.workspace_id = ${workspaceId} and c.campaign_id = ${campaignId} and c.id = x.id`.execute(tx.db);
  await sql`
    update campaigns set relaning_after = ${rows.length < CHUNK_SIZE ? null : rows.at(-1)!.id}, next_claim_at = 'epoch'
    where workspace_id = ${workspaceId} and id = ${campaignId}`.execute(tx.db);
}
