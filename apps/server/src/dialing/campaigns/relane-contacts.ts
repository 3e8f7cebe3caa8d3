import { sql } from 'kysely';
import type { EngineTx } from '../../foundation/database/database.ts';
import { type CalleeTimeZone, zonesKey, zonesOfContact } from '../calls/zones-of-contact.ts';
import type { CampaignKey } from './campaign.ts';
import { lanesOf } from './lanes.ts';

/** Contacts that one transaction moves, under the campaign's lock. */
const CHUNK_SIZE = 5000;

/** SQL for whether a contact is left out only for the hours that held so far. */
const leftOutByHours = sql`(c.state = 'skipped' and c.reason in ('no_common_hour', 'invalid_time_zone'))`;

/**
 * Moves the next chunk of a campaign's open contacts to the lanes that its `calleeTimeZone` gives them: those above `after`
 * without a time zone of their own. Who was left out as `no_common_hour`, or for the campaign's time zone, is open again; a claim judges that anew.
 */
export async function relaneContacts(
  tx: EngineTx,
  { workspaceId, campaignId }: CampaignKey,
  { rule, after, now }: { rule: CalleeTimeZone; after: string; now: Date },
): Promise<void> {
  const ofCampaign = sql`c.workspace_id = ${workspaceId} and c.campaign_id = ${campaignId}`;
  await sql`select from campaigns where workspace_id = ${workspaceId} and id = ${campaignId} for no key update`.execute(
    tx.db,
  );
  const { rows } = await sql<{ id: string; phone_number: number; state: string; attempt: number }>`
    select c.id, c.phone_number, c.state, c.attempt from campaign_contacts c
    join campaign_lanes l on l.workspace_id = c.workspace_id and l.campaign_id = c.campaign_id and l.lane = c.lane
    where ${ofCampaign} and c.id > ${after} and not l.is_own
      and (c.state in ('pending', 'waiting', 'dialing') or ${leftOutByHours})
    order by c.id limit ${sql.lit(CHUNK_SIZE)}`.execute(tx.db);
  const zones = rows.map((row) => zonesOfContact(rule, null, row.phone_number));
  const laneOf = await lanesOf(tx, { workspaceId, campaignId }, zones);
  await sql`
    update campaign_contacts c set lane = x.lane,
      state = case when not ${leftOutByHours} then c.state when c.attempt = 0 then 'pending' else 'waiting' end,
      next_attempt_at = case when ${leftOutByHours} then ${now} else c.next_attempt_at end,
      reason = case when ${leftOutByHours} then null else c.reason end
    from unnest(${rows.map(({ id }) => id)}::uuid[], ${zones.map((each) => laneOf.get(zonesKey(each))!)}::smallint[]) as x (id, lane)
    where ${ofCampaign} and c.id = x.id`.execute(tx.db);
  const open = rows.filter(({ state }) => state === 'skipped');
  const pending = open.filter(({ attempt }) => attempt === 0).length;
  if (open.length > 0) tx.tell(campaignId);
  await sql`
    update campaigns set relaning_after = ${rows.length < CHUNK_SIZE ? null : rows.at(-1)!.id}, next_claim_at = 'epoch',
      skipped = skipped - ${open.length}, pending = pending + ${pending}, waiting = waiting + ${open.length - pending},
      revision = revision + ${Math.sign(open.length)}
    where workspace_id = ${workspaceId} and id = ${campaignId}`.execute(tx.db);
}
