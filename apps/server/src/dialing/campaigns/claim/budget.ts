import { sql } from 'kysely';
import type { Tx } from '../../../foundation/database/database.ts';
import type { ClaimedCampaign } from './claim-limits.ts';

/**
 * How many more calls a campaign may place by its budget, under its lock: what it has placed, and what waits to be placed,
 * counts, and so do the minutes of those that are up. Nothing is read of a campaign without minutes.
 */
export async function leftOfBudget(
  tx: Tx,
  campaign: Pick<ClaimedCampaign, 'workspace_id' | 'id' | 'attempts' | 'talk_ms' | 'budget_calls' | 'budget_minutes'>,
  now: Date,
): Promise<number> {
  const { attempts, talk_ms, budget_calls, budget_minutes } = campaign;
  const calls = budget_calls === null ? Number.POSITIVE_INFINITY : Math.max(0, budget_calls - attempts);
  if (budget_minutes === null || calls === 0) return calls;
  const left = budget_minutes * 60_000 - talk_ms;
  return left > 0 && (await talkOfLive(tx, campaign, now)) < left ? calls : 0;
}

/** Milliseconds for which a campaign's calls that are up have talked. The live calls of a workspace have an index of their own. */
async function talkOfLive(
  tx: Tx,
  { workspace_id, id }: Pick<ClaimedCampaign, 'workspace_id' | 'id'>,
  now: Date,
): Promise<number> {
  const { rows } = await sql<{ ms: number }>`
    select coalesce(sum(greatest(extract(epoch from ${now}::timestamptz - answered_at), 0)) * 1000, 0)::bigint as ms
    from (select campaign_id, answered_at from calls where workspace_id = ${workspace_id} and ended_at is null offset 0) as c
    where campaign_id = ${id}`.execute(tx.db);
  return rows[0]!.ms;
}

/**
 * Whether a campaign that has spent its budget has somebody left to call, and all that it has claimed was placed: one that is
 * paused places nothing more, and a call that comes back unplaced leaves room for another.
 */
export async function mayPauseForBudget(
  tx: Tx,
  { workspace_id, id }: Pick<ClaimedCampaign, 'workspace_id' | 'id'>,
): Promise<boolean> {
  const { rows } = await sql`
    select from campaigns c where workspace_id = ${workspace_id} and id = ${id}
      and (pending + waiting > 0 or not contacts_added)
      and not exists (select from (
          select campaign_id from calls where workspace_id = ${workspace_id} and ended_at is null and status in ('queued', 'dialing') offset 0)
        as q where q.campaign_id = c.id)`.execute(tx.db);
  return rows.length > 0;
}
