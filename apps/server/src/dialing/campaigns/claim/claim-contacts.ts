import { sql } from 'kysely';
import type { Database, EngineTx } from '../../../foundation/database/database.ts';
import { together } from '../../../foundation/database/together.ts';
import type { OperatorLimits } from '../../../platform/workspace/operator-limits.ts';
import { numbersAtLimit } from '../../calls/attempt-limits.ts';
import type { IsSimulated } from '../../calls/may-dial.ts';
import type { CallToPlace } from '../../calls/place-calls.ts';
import { type CampaignKey, CLAIM_SIZE } from '../campaign.ts';
import { finishIfDone } from '../finish-campaign.ts';
import { currentLanes, type Lane, readLanes } from '../lanes.ts';
import { pauseItself } from '../pause-itself.ts';
import { leftOfBudget, mayPauseForBudget } from './budget.ts';
import { openCallers } from './callers.ts';
import { lockForClaim, mayRing, roomForCalls } from './claim-limits.ts';
import { LEAD_MS, nextSlotClaim, takeSlots } from './pace.ts';
import { openLanes, pickContacts } from './pick-contacts.ts';
import { writeClaim } from './write-claim.ts';

/** When a campaign at its limit is looked at again, if none of its calls ends before. */
const FULL_MS = 1000;
/** The longest that a campaign with nothing due is left alone. */
const LONGEST_REST_MS = 60_000;

export interface ClaimTerms {
  serverId: string;
  /** How many more calls this process can hold. */
  free: number;
  now: Date;
  isSimulated: IsSimulated;
  operator: OperatorLimits;
  /** How far ahead the first start of a paced campaign is at least, in milliseconds; by default as where claims are quick. */
  leadMs?: number;
  /** Claims this contact and no other, by its UUID. */
  only?: string;
  /** Told whom a claim has picked, before anything is written of them. */
  onPicked?: (contactIds: string[]) => void;
}

export interface Claim {
  calls: CallToPlace[];
  /** Whether the campaign may have more to claim at once. */
  more: boolean;
  /** The UUIDs of contacts that it has left out as `invalid_time_zone`. */
  unreadable: string[];
}

const nothing: Claim = { calls: [], more: false, unreadable: [] };

/**
 * Claims the contacts of one campaign that are to be called now: at most `free`, and at most one batch. One short
 * transaction (dialing.md, "Claims"): it locks the campaign, picks contacts, gives each its start, and commits the
 * calls as `queued` before anything is placed. A campaign that another server is claiming is passed over. Others wait
 * for its row meanwhile, so what can be asked together goes out together.
 */
export async function claimContacts(
  database: Database,
  key: CampaignKey,
  { serverId, free, now, isSimulated, operator, leadMs = LEAD_MS, only, onPicked }: ClaimTerms,
  onFinished: (tx: EngineTx, campaign: CampaignKey) => Promise<void>,
  onPaused: (tx: EngineTx, campaign: CampaignKey) => Promise<void> = async () => {},
): Promise<Claim> {
  const finishOrRest = async (tx: EngineTx, until: () => Date | Promise<Date>): Promise<Claim> => {
    if (await finishIfDone(tx, key, now)) await onFinished(tx, key);
    else await putOff(tx, key, await until());
    return nothing;
  };
  return database.inHotLoop(async (tx) => {
    const [campaign, laneRows] = await together(tx, [
      () => lockForClaim(tx, key, { serverId, now, operator }),
      () => readLanes(tx, key, now),
    ]);
    if (!campaign) return nothing;
    if (campaign.agent_failing && (await mayRing(tx, campaign, isSimulated))) {
      if (await pauseItself(tx, key, 'agent_failing', now)) await onPaused(tx, key);
      return nothing;
    }
    const left = await leftOfBudget(tx, campaign, now);
    if (left === 0 && (await mayPauseForBudget(tx, campaign))) {
      if (await pauseItself(tx, key, 'budget_reached', now)) await onPaused(tx, key);
      return nothing;
    }
    const room = await roomForCalls(tx, campaign, { most: Math.min(free, CLAIM_SIZE, left), now, isSimulated });
    const { slots } = takeSlots(campaign.calls_per_second, campaign.next_start_at, now, room, leadMs);
    if (slots.length === 0) {
      return finishOrRest(tx, () =>
        room > 0 ? nextSlotClaim(campaign.next_start_at, leadMs) : new Date(now.getTime() + FULL_MS),
      );
    }
    const [callers, lanes] = await together(tx, [
      () => openCallers(tx, campaign, slots.length, { now, leadMs, isSimulated }),
      () => currentLanes(tx, campaign, laneRows, now),
    ]);
    if (callers.room === 0) return finishOrRest(tx, callers.restUntil);
    const most = Math.min(slots.length, callers.room);
    const { simulated } = callers;
    const open = openLanes(lanes, simulated, now);
    const picked = await pickContacts(tx, campaign, open, { most, now, only, simulated });
    if (picked.length === 0) return finishOrRest(tx, () => nextDue(tx, key, lanes, simulated, now));
    onPicked?.(picked.map(({ id }) => id));
    const zonesOf = new Map(lanes.map(({ lane, timezones }) => [lane, timezones]));
    const people = picked.flatMap(({ refusal, toNumber, lane }) =>
      refusal ? [] : { toNumber, timezones: zonesOf.get(lane)! },
    );
    const atLimit = await numbersAtLimit(tx, campaign.workspace_id, campaign, people, now);
    const calls = await writeClaim(tx, { campaign, picked, atLimit, lanes, callers }, { serverId, now, leadMs });
    const unreadable = picked.filter(({ refusal }) => refusal === 'invalid_time_zone').map(({ id }) => id);
    return { calls, more: picked.length === most, unreadable };
  });
}

/** Leaves a campaign alone until a time, unless something about it changes before. */
export async function putOff(tx: EngineTx, { workspaceId, campaignId }: CampaignKey, until: Date): Promise<void> {
  await sql`update campaigns set next_claim_at = ${until}
    where workspace_id = ${workspaceId} and id = ${campaignId}`.execute(tx.db);
}

/**
 * When a campaign with nothing to call now may have something: the next contact that is due, or the next window. A fresh
 * contact can be due later than `now` too: it was added, or given back, while this claim waited for the campaign.
 */
async function nextDue(
  tx: EngineTx,
  { workspaceId, campaignId }: CampaignKey,
  lanes: Lane[],
  simulated: boolean,
  now: Date,
): Promise<Date> {
  const numbers = lanes.map((lane) => lane.lane);
  const states = [...lanes.map(() => 'waiting'), ...lanes.map(() => 'pending')];
  const { rows } = await sql<{ lane: number; next_attempt_at: Date }>`
    select q.lane, c.next_attempt_at
    from unnest(${[...numbers, ...numbers]}::smallint[], ${states}::text[]) as q (lane, state)
    cross join lateral (select next_attempt_at from campaign_contacts c
      where c.workspace_id = ${workspaceId} and c.campaign_id = ${campaignId} and c.lane = q.lane and c.state = q.state
        and c.state in ('pending', 'waiting')
      order by next_attempt_at limit 1) as c`.execute(tx.db);
  const times = lanes.map(({ lane, free, ...ringing }) => {
    const { opensAt, closesAt } = simulated ? free : ringing;
    if (opensAt > now) return opensAt.getTime();
    const due = rows.filter((row) => row.lane === lane).map((row) => row.next_attempt_at.getTime());
    return Math.min(closesAt.getTime(), ...due);
  });
  return new Date(Math.min(now.getTime() + LONGEST_REST_MS, ...times));
}
