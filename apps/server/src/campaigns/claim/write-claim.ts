import { sql } from 'kysely';
import { type CallToPlace, callRequest } from '../../calls/place-calls.ts';
import { type QueuedCall, queueCalls } from '../../calls/queue-calls.ts';
import { nextUtcDay } from '../../clock.ts';
import type { EngineTx } from '../../database/database.ts';
import { newUuid } from '../../ids.ts';
import { countUses } from '../../number-pools/count-uses.ts';
import { countCalls } from '../../workspace/limits.ts';
import type { Lane } from '../lanes.ts';
import type { Caller, Callers } from './callers.ts';
import type { ClaimedCampaign } from './claim-limits.ts';
import { takeSlots } from './pace.ts';
import type { PickedContact } from './pick-contacts.ts';

/** When a contact who is on another call is looked at again. */
const BUSY_ELSEWHERE_MS = 30_000;

/** What a claim has found, under the locks of its transaction. */
export interface FoundForClaim {
  campaign: ClaimedCampaign;
  picked: PickedContact[];
  /** The numbers of those who were called often enough today. */
  atLimit: Set<number>;
  lanes: Lane[];
  callers: Callers;
}

/** Who writes a claim, and when. */
interface WritingServer {
  serverId: string;
  now: Date;
  isSimulated: (provider: string) => boolean | undefined;
  leadMs: number;
}

/** What becomes of contacts who are not called now. */
interface NotCalled {
  later: { contact: PickedContact; reason: string; until: Date }[];
  skipped: { contact: PickedContact; reason: string }[];
}

/** Writes what becomes of each picked contact, and counts it on the campaign's row. */
export async function writeClaim(
  tx: EngineTx,
  found: FoundForClaim,
  { serverId, now, isSimulated, leadMs }: WritingServer,
): Promise<CallToPlace[]> {
  const { campaign, picked, atLimit, lanes } = found;
  const { workspace_id: workspaceId, id: campaignId } = campaign;
  const notCalled: NotCalled = { later: [], skipped: [] };
  const callable: PickedContact[] = [];
  for (const contact of picked) {
    if (contact.skip !== null) notCalled.skipped.push({ contact, reason: contact.skip });
    else if (!atLimit.has(contact.phone_number)) callable.push(contact);
    else notCalled.later.push({ contact, reason: 'limit_reached', until: nextUtcDay(now) });
  }
  const slotsOf = (calls: number) => takeSlots(campaign.calls_per_second, campaign.next_start_at, now, calls, leadMs);
  const placed = await withCallers(found, callable.slice(0, slotsOf(callable.length).slots.length), notCalled);
  const { slots, nextStartAt } = slotsOf(placed.length);
  const closesAt = new Map(lanes.map((lane) => [lane.lane, lane.closesAt]));
  const wanted = placed.map(({ contact, caller }, at): QueuedCall => {
    const { startAt, placeBefore } = slots[at]!;
    const closes = closesAt.get(contact.lane)!;
    return {
      roomId: newUuid(),
      contactId: contact.id,
      toNumber: contact.phone_number,
      fromNumber: caller.fromNumber,
      phoneNumberId: caller.id,
      provider: caller.provider,
      simulated: isSimulated(caller.provider)!,
      pooled: caller.pooled,
      attempt: contact.attempt + 1,
      metadata: { ...campaign.metadata, ...contact.metadata },
      startAt,
      placeBefore: placeBefore < closes ? placeBefore : closes,
    };
  });
  const shared = {
    agentId: campaign.agent_id,
    ringTimeoutSeconds: campaign.ring_timeout_seconds,
    maxCallSeconds: campaign.max_call_seconds,
  };
  const queued = await queueCalls(tx, { workspaceId, campaignId, serverId, now, ...shared }, wanted);

  const busyUntil = new Date(now.getTime() + BUSY_ELSEWHERE_MS);
  const dialing: PickedContact[] = [];
  for (const { contact } of placed) {
    if (queued.has(contact.id)) dialing.push(contact);
    else notCalled.later.push({ contact, reason: 'already_on_a_call', until: busyUntil });
  }
  const { later, skipped } = notCalled;
  const handled = [...dialing, ...contactsOf(later), ...contactsOf(skipped)];
  const wasPending = handled.filter(({ state }) => state === 'pending').length;
  const wasWaiting = handled.length - wasPending;
  const used = wanted.filter((call) => call.pooled && queued.has(call.contactId)).map((call) => call.phoneNumberId);
  tx.tell(campaignId);
  // Asked together, they go out together.
  await Promise.all([
    ...moveContacts(tx, dialing, notCalled),
    sql`
      update campaigns set in_flight = in_flight + ${queued.size}, attempts = attempts + ${queued.size},
        pending = pending - ${wasPending}, waiting = waiting - ${wasWaiting} + ${later.length},
        skipped = skipped + ${skipped.length}, next_start_at = ${nextStartAt}, next_claim_at = ${now}, revision = revision + 1
      where workspace_id = ${workspaceId} and id = ${campaignId}`.execute(tx.db),
    countUses(tx, workspaceId, used, now),
    countCalls(tx, workspaceId, queued.size, now),
  ]);

  const contactOf = new Map(picked.map((contact) => [contact.id, contact]));
  return wanted
    .filter((call) => queued.has(call.contactId))
    .map((call): CallToPlace => {
      const held = { ...call, workspaceId, campaignId, workflowRunId: null };
      const { variables } = contactOf.get(call.contactId)!;
      const request = callRequest(held, { ...shared, variables, metadata: call.metadata });
      return { ...held, request };
    });
}

/** The contacts that can be called now, each with its number. Those who get none are noted. */
async function withCallers(
  { callers }: FoundForClaim,
  contacts: PickedContact[],
  { later, skipped }: NotCalled,
): Promise<{ contact: PickedContact; caller: Caller }[]> {
  const chosen = await callers.choose(contacts);
  return contacts.flatMap((contact, at) => {
    const caller = chosen[at]!;
    if ('id' in caller) return [{ contact, caller }];
    if ('skip' in caller) skipped.push({ contact, reason: caller.skip });
    else later.push({ contact, reason: 'no_caller_id', until: caller.until });
    return [];
  });
}

const contactsOf = (some: { contact: PickedContact }[]) => some.map(({ contact }) => contact);
const placesOf = (contacts: PickedContact[]) => sql`${contacts.map(({ place }) => place)}::tid[]`;

/** The statements that move picked contacts, which the caller holds: by their places, so that they read no others. */
function moveContacts(tx: EngineTx, dialing: PickedContact[], { later, skipped }: NotCalled): Promise<unknown>[] {
  const moves = [
    sql`
      update campaign_contacts set state = 'dialing', attempt = attempt + 1, reason = null
      where ctid = any(${placesOf(dialing)})`,
  ];
  if (later.length > 0) {
    moves.push(sql`
      update campaign_contacts c set state = 'waiting', reason = x.reason, next_attempt_at = x.until
      from unnest(${placesOf(contactsOf(later))}, ${later.map(({ reason }) => reason)}::text[],
        ${later.map(({ until }) => until)}::timestamptz[]) as x (place, reason, until)
      where c.ctid = x.place`);
  }
  if (skipped.length > 0) {
    moves.push(sql`
      update campaign_contacts c set state = 'skipped', reason = x.reason
      from unnest(${placesOf(contactsOf(skipped))}, ${skipped.map(({ reason }) => reason)}::text[]) as x (place, reason)
      where c.ctid = x.place`);
  }
  return moves.map((move) => move.execute(tx.db));
}
