import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { EngineTx } from '../../foundation/database/database.ts';
import { from } from '../../foundation/database/moves.ts';
import type { Row } from '../../foundation/database/schema.ts';
import type { DueTime } from '../../platform/jobs/quiet.ts';
import type { CampaignKey } from './campaign.ts';
import { campaignTransitions } from './campaign.ts';

/** Far longer than a campaign is put off for, but for the pause between its calls. */
const LONGEST_PUT_OFF_MS = 600_000;

type KeyRow = Pick<Row<'campaigns'>, 'workspace_id' | 'id'>;

const toKey = (row: KeyRow): CampaignKey => ({ workspaceId: row.workspace_id, campaignId: row.id });

/** When a campaign is worth the next claim. */
export const firstToClaim: DueTime = sql`
  select min(c.next_claim_at) from campaigns c join workspaces w on w.id = c.workspace_id
  where c.status = 'running' and w.dialing_paused_at is null`;

/** While there is a campaign to be filled. */
export const anyToFill: DueTime = sql`
  select 'epoch'::timestamptz from campaigns where status in ('running', 'paused') and not contacts_added limit 1`;

/** When the first campaign starts or ends. */
export const firstMove: DueTime = sql`least(
  (select min(coalesce(greatest(start_date, scheduled_at), 'epoch')) from campaigns where status = 'scheduled'),
  (select min(end_date) from campaigns where status in ${from(campaignTransitions, 'completed')}))`;

/**
 * Campaigns that may have something to claim: workspaces by turns, so that a large one does not hold up the others, and
 * who has waited longest first, so that none takes every place that comes free.
 */
export async function claimableCampaigns(tx: EngineTx, now: Date): Promise<CampaignKey[]> {
  const { rows } = await sql<KeyRow>`
    select c.workspace_id, c.id from campaigns c join workspaces w on w.id = c.workspace_id
    where c.status = 'running' and c.next_claim_at <= ${now} and w.dialing_paused_at is null
    order by row_number() over (partition by c.workspace_id order by c.next_claim_at, c.id), c.next_claim_at, c.id
    limit 100`.execute(tx.db);
  return rows.map(toKey);
}

/** Of each workspace one of its started campaigns whose contacts are not all added yet: whichever, as one may fail. */
export async function campaignsToFill(tx: EngineTx): Promise<CampaignKey[]> {
  const { rows } = await sql<KeyRow>`
    select distinct on (workspace_id) workspace_id, id from campaigns
    where status in ('running', 'paused') and not contacts_added order by workspace_id, random()`.execute(tx.db);
  return rows.map(toKey);
}

/** Scheduled campaigns whose time has come, of each workspace one in turn. */
export async function campaignsToStart(tx: EngineTx, now: Date): Promise<CampaignKey[]> {
  const { rows } = await sql<KeyRow>`
    select workspace_id, id from campaigns
    where status = 'scheduled' and coalesce(greatest(start_date, scheduled_at), 'epoch') <= ${now}
    order by row_number() over (partition by workspace_id order by random()), random() limit 100`.execute(tx.db);
  return rows.map(toKey);
}

/** Completes active campaigns that are past their `endDate`; calls that are up finish. */
export async function endDueCampaigns(tx: EngineTx, now: Date): Promise<CampaignKey[]> {
  const { rows } = await sql<KeyRow>`
    with due as (select workspace_id, id from campaigns
      where status in ${from(campaignTransitions, 'completed')} and end_date <= ${now}
      order by workspace_id, id for no key update)
    update campaigns c set status = 'completed', ended_at = ${now}, updated_at = ${now}, revision = revision + 1
    from due
    where c.workspace_id = due.workspace_id and c.id = due.id and c.status in ${from(campaignTransitions, 'completed')}
    returning c.workspace_id, c.id`.execute(tx.db);
  return rows.map(toKey);
}

/**
 * Counts the calls that are up for a campaign, under its lock, and mends `in_flight` where it differs. Answers with
 * the difference: anything but 0 is a fault of ours.
 */
export async function recountInFlight(tx: EngineTx, { workspaceId, campaignId }: CampaignKey): Promise<number> {
  const locked = await sql<{ in_flight: number }>`
    select in_flight from campaigns where workspace_id = ${workspaceId} and id = ${campaignId} for no key update skip locked`.execute(
    tx.db,
  );
  const inFlight = locked.rows[0]?.in_flight;
  if (inFlight === undefined) return 0;
  // The workspace's live calls are few and have an index of their own; the campaign's calls may be a million.
  const counted = await sql<{ live: number }>`
    select count(*) as live from (
      select campaign_id from calls where workspace_id = ${workspaceId} and ended_at is null offset 0) as c
    where campaign_id = ${campaignId}`.execute(tx.db);
  const difference = counted.rows[0]!.live - inFlight;
  if (difference !== 0) {
    await sql`
      update campaigns set in_flight = in_flight + ${difference}, next_claim_at = 'epoch'
      where workspace_id = ${workspaceId} and id = ${campaignId}`.execute(tx.db);
  }
  return difference;
}

/**
 * Has running campaigns looked at that were put off for longer than anything puts them off: a server whose clock was wrong
 * wrote that.
 */
export async function takeUpPutOff(tx: EngineTx, now: Date, log: Logger): Promise<void> {
  const latest = new Date(now.getTime() + LONGEST_PUT_OFF_MS);
  const latestStart = sql`${latest}::timestamptz + make_interval(secs => coalesce(1 / calls_per_second, 0)::float8)`;
  const { numAffectedRows = 0n } = await sql`
    update campaigns set next_claim_at = 'epoch',
      next_start_at = case when next_start_at > ${latestStart} then ${now} else next_start_at end
    where status = 'running' and (next_claim_at > ${latestStart} or next_start_at > ${latestStart})`.execute(tx.db);
  await sql`
    update trunks set next_start_at = ${now} where next_start_at > ${latestStart}`.execute(tx.db);
  const campaigns = Number(numAffectedRows);
  if (campaigns > 0) log.warn({ campaigns }, 'campaigns were put off by a clock that was wrong; they go on');
}

/** Active campaigns that count calls which are up. */
export async function campaignsInFlight(tx: EngineTx): Promise<CampaignKey[]> {
  const { rows } = await sql<KeyRow>`
    select workspace_id, id from campaigns where status in ('scheduled', 'running', 'paused') and in_flight <> 0
    order by id limit 100`.execute(tx.db);
  return rows.map(toKey);
}
