import { sql } from 'kysely';
import { fromE164 } from '../calls/call.ts';
import type { CampaignKey } from '../calls/call-owner.ts';
import { nextUtcDay, numbersAtDailyLimit } from '../calls/daily-attempts.ts';
import { type CallToPlace, callRequest } from '../calls/place-calls.ts';
import { type QueuedCall, queueCalls } from '../calls/queue-calls.ts';
import { utcDay } from '../clock.ts';
import type { Database, EngineTx } from '../database/database.ts';
import { newUuid } from '../ids.ts';
import { CLAIM_SIZE } from './campaign.ts';
import { type ClaimedCampaign, lockForClaim, roomForCalls } from './claim-limits.ts';
import { finishIfDone } from './finish-campaign.ts';
import { currentLanes, type Lane } from './lanes.ts';
import { nextSlotClaim, takeSlots } from './pace.ts';
import { type PickedContact, pickContacts } from './pick-contacts.ts';

/** When a contact who is on another call is looked at again, and a campaign whose number can't call. */
const BUSY_ELSEWHERE_MS = 30_000;
const NO_CALLER_ID_MS = 10_000;
/** When a campaign at its limit is looked at again, if none of its calls ends before. */
const FULL_MS = 1000;
/** The longest that a campaign with nothing due is left alone. */
const LONGEST_REST_MS = 60_000;

export interface ClaimTerms {
  serverId: string;
  /** How many more calls this process can hold. */
  free: number;
  now: Date;
  /** Whether no telephone rings for numbers of a provider; undefined for one that isn't configured here. */
  isSimulated: (provider: string) => boolean | undefined;
}

export interface Claim {
  calls: CallToPlace[];
  /** Whether the campaign may have more to claim at once. */
  more: boolean;
}

const nothing: Claim = { calls: [], more: false };

/**
 * Claims the contacts of one campaign that are to be called now: at most `free`, and at most one batch. One short
 * transaction (engine.md, "Claims"): it locks the campaign, picks contacts, gives each its start, and commits the
 * calls as `queued` before anything is placed. A campaign that another server is claiming is passed over.
 */
export async function claimContacts(
  database: Database,
  key: CampaignKey,
  { serverId, free, now, isSimulated }: ClaimTerms,
  onFinished: (tx: EngineTx, campaign: CampaignKey) => Promise<void>,
): Promise<Claim> {
  const finishOrRest = async (tx: EngineTx, until: () => Date | Promise<Date>): Promise<Claim> => {
    if (await finishIfDone(tx, key, now)) await onFinished(tx, key);
    else await putOff(tx, key, await until());
    return nothing;
  };
  return database.inEngine(async (tx) => {
    const campaign = await lockForClaim(tx, key, serverId, now);
    if (!campaign) return nothing;
    const simulated = campaign.provider === null ? undefined : isSimulated(campaign.provider);
    if (campaign.from_number === null || simulated === undefined) {
      await putOff(tx, key, new Date(now.getTime() + NO_CALLER_ID_MS));
      return nothing;
    }
    const room = await roomForCalls(tx, campaign, Math.min(free, CLAIM_SIZE), now);
    const pace = takeSlots(campaign.calls_per_second, campaign.next_start_at, now, room);
    if (pace.slots.length === 0) {
      return finishOrRest(tx, () =>
        room > 0 ? nextSlotClaim(campaign.next_start_at) : new Date(now.getTime() + FULL_MS),
      );
    }

    const lanes = await currentLanes(tx, campaign, now);
    const open = lanes.filter((lane) => lane.opensAt <= now && lane.closesAt > now);
    const picked = await pickContacts(tx, campaign, open, pace.slots.length, now);
    if (picked.length === 0) return finishOrRest(tx, () => nextDue(tx, key, lanes, now));
    const numbers = picked.map((contact) => contact.phone_number);
    const atLimit = await numbersAtDailyLimit(tx, campaign, numbers, now);
    const calls = await queuePicked(tx, campaign, picked, atLimit, lanes, { serverId, now, simulated });
    return { calls, more: picked.length === pace.slots.length };
  });
}

/** Writes what becomes of each picked contact, and counts it on the campaign's row. */
async function queuePicked(
  tx: EngineTx,
  campaign: ClaimedCampaign,
  picked: PickedContact[],
  atLimit: Set<number>,
  lanes: Lane[],
  { serverId, now, simulated }: { serverId: string; now: Date; simulated: boolean },
): Promise<CallToPlace[]> {
  const { workspace_id: workspaceId, id: campaignId } = campaign;
  const closesAt = new Map(lanes.map((lane) => [lane.lane, lane.closesAt]));
  const allowed = picked.filter((contact) => contact.skip === null);
  const callable = allowed.filter((contact) => !atLimit.has(contact.phone_number));
  const { slots, nextStartAt } = takeSlots(campaign.calls_per_second, campaign.next_start_at, now, callable.length);
  const wanted = callable.slice(0, slots.length).map((contact, at): QueuedCall => {
    const { startAt, placeBefore } = slots[at]!;
    const closes = closesAt.get(contact.lane)!;
    return {
      roomId: newUuid(),
      contactId: contact.id,
      to: contact.phone_number,
      attempt: contact.attempt + 1,
      startAt,
      placeBefore: placeBefore < closes ? placeBefore : closes,
    };
  });
  const from = fromE164(campaign.from_number!);
  const queued = await queueCalls(
    tx,
    {
      workspaceId,
      campaignId,
      serverId,
      from,
      now,
      agentId: campaign.agent_id,
      phoneNumberId: campaign.phone_number_id!,
      simulated,
      ringTimeoutSeconds: campaign.ring_timeout_seconds,
      maxCallSeconds: campaign.max_call_seconds,
    },
    wanted,
  );

  const dialing = picked.filter((contact) => queued.has(contact.id));
  const busyUntil = new Date(now.getTime() + BUSY_ELSEWHERE_MS);
  const later = [
    ...wanted
      .filter((call) => !queued.has(call.contactId))
      .map((call) => ({ id: call.contactId, reason: 'already_on_a_call', until: busyUntil })),
    ...allowed
      .filter((contact) => atLimit.has(contact.phone_number))
      .map((contact) => ({ id: contact.id, reason: 'limit_reached', until: nextUtcDay(now) })),
  ];
  const skipped = picked.filter((contact) => contact.skip !== null);
  const idsOf = (contacts: { id: string }[]) => contacts.map((contact) => contact.id);
  const inCampaign = sql`workspace_id = ${workspaceId} and campaign_id = ${campaignId}`;
  await sql`
    update campaign_contacts set state = 'dialing', attempt = attempt + 1, reason = null
    where ${inCampaign} and id = any(${idsOf(dialing)}::uuid[])`.execute(tx.db);
  if (later.length > 0) {
    await sql`
      update campaign_contacts c set state = 'waiting', reason = x.reason, next_attempt_at = x.until
      from unnest(${idsOf(later)}::uuid[], ${later.map((contact) => contact.reason)}::text[],
        ${later.map((contact) => contact.until)}::timestamptz[]) as x (id, reason, until)
      where c.workspace_id = ${workspaceId} and c.campaign_id = ${campaignId} and c.id = x.id`.execute(tx.db);
  }
  if (skipped.length > 0) {
    await sql`
      update campaign_contacts c set state = 'skipped', reason = x.reason
      from unnest(${idsOf(skipped)}::uuid[], ${skipped.map((contact) => contact.skip)}::text[]) as x (id, reason)
      where c.workspace_id = ${workspaceId} and c.campaign_id = ${campaignId} and c.id = x.id`.execute(tx.db);
  }
  const handled = new Set([...queued, ...idsOf(later), ...idsOf(skipped)]);
  const wasPending = picked.filter((contact) => handled.has(contact.id) && contact.state === 'pending').length;
  const wasWaiting = handled.size - wasPending;
  await sql`
    update campaigns set in_flight = in_flight + ${dialing.length}, attempts = attempts + ${dialing.length},
      pending = pending - ${wasPending}, waiting = waiting - ${wasWaiting} + ${later.length},
      skipped = skipped + ${skipped.length}, next_start_at = ${nextStartAt}, next_claim_at = ${now}, revision = revision + 1
    where workspace_id = ${workspaceId} and id = ${campaignId}`.execute(tx.db);
  await sql`
    insert into workspace_usage (workspace_id, day, calls) values (${workspaceId}, ${utcDay(now)}, ${dialing.length})
    on conflict (workspace_id, day) do update set calls = workspace_usage.calls + excluded.calls`.execute(tx.db);

  const contactOf = new Map(picked.map((contact) => [contact.id, contact]));
  return wanted
    .filter((call) => queued.has(call.contactId))
    .map((call): CallToPlace => {
      const held = { ...call, workspaceId, campaignId, from, provider: campaign.provider! };
      const request = callRequest(held, {
        agentId: campaign.agent_id,
        variables: contactOf.get(call.contactId)!.variables,
        ringTimeoutSeconds: campaign.ring_timeout_seconds,
        maxCallSeconds: campaign.max_call_seconds,
      });
      return { ...held, request };
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
  const times = lanes.map(({ lane, opensAt, closesAt }) => {
    if (opensAt > now) return opensAt.getTime();
    const due = rows.filter((row) => row.lane === lane).map((row) => row.next_attempt_at.getTime());
    return Math.min(closesAt.getTime(), ...due);
  });
  return new Date(Math.min(now.getTime() + LONGEST_REST_MS, ...times));
}
