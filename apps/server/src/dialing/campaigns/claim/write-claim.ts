import { sql } from 'kysely';
import type { EngineTx } from '../../../foundation/database/database.ts';
import { together } from '../../../foundation/database/together.ts';
import { moveStarts, type TrunkRoom } from '../../../lines/trunks/trunk-room.ts';
import { callSeconds } from '../../../voices/agents/agent-room.ts';
import type { CallToPlace } from '../../calls/place-calls.ts';
import { type Caller, countQueued, queueCalls, type WantedCall } from '../../calls/queue-calls.ts';
import { isFreeOfDefault } from '../../calls/quiet-hours.ts';
import { CONTACT } from '../end-contacts.ts';
import { isOpen, type Lane, type LaneWindow } from '../lanes.ts';
import type { Callers } from './callers.ts';
import type { ClaimedCampaign } from './claim-limits.ts';
import { takeSlots, takeSlotsOver } from './pace.ts';
import type { PickedContact } from './pick-contacts.ts';

/** When a contact who is on another call is looked at again. */
const BUSY_ELSEWHERE_MS = 30_000;

/** What a claim has found, under the locks of its transaction. */
export interface FoundForClaim {
  campaign: ClaimedCampaign;
  picked: PickedContact[];
  /** The numbers of those who were called often enough, and until when. */
  atLimit: ReadonlyMap<number, Date>;
  lanes: Lane[];
  callers: Callers;
}

/** Who writes a claim, and when. */
interface WritingServer {
  serverId: string;
  now: Date;
  leadMs: number;
}

/** A contact who is to be called, and from which number. */
interface WithCaller {
  contact: PickedContact;
  caller: Caller;
}

/** What becomes of contacts who are not called now. */
interface NotCalled {
  later: { contact: PickedContact; reason: string; until: Date }[];
  skipped: { contact: PickedContact; reason: string }[];
}

/** Writes what becomes of each picked contact, and counts it on the campaign's row. Answers with the calls to place. */
export async function writeClaim(tx: EngineTx, found: FoundForClaim, by: WritingServer): Promise<CallToPlace[]> {
  const notCalled: NotCalled = { later: [], skipped: [] };
  const callable = leaveOut(found, notCalled);
  const { slots } = slotsFor(found, callable.length, by);
  const chosen = await chooseCallers(found, callable.slice(0, slots.length), notCalled, by.now);
  const { wanted, nextStartAt } = giveStarts(found, chosen, by);
  const calls = await queueCalls(tx, sharedBy(found.campaign, by), wanted);
  const dialing = leaveOutBusy(chosen, calls, notCalled, by.now);
  const contacts = dialing.map(({ contact }) => contact);
  const callers = dialing.map(({ caller }) => caller);
  tx.tell(found.campaign.id);
  await together(tx, [
    ...moveContacts(contacts, notCalled),
    countClaim(found.campaign, contacts, notCalled, { nextStartAt, now: by.now }),
    () => countQueued(tx, found.campaign.workspace_id, callers, by.now),
    () => moveStarts(tx, found.campaign.workspace_id, usedTrunks(found, callers)),
  ]);
  return calls;
}

/** The trunks of numbers that calls were queued from. */
function usedTrunks({ callers: { trunks } }: FoundForClaim, callers: Caller[]): TrunkRoom[] {
  const ids = new Set(callers.flatMap(({ trunkId }) => trunkId ?? []));
  return [...ids].flatMap((id) => trunks.get(id) ?? []);
}

/** Those who may be called, of all that were picked. The others are noted. */
function leaveOut({ picked, atLimit }: FoundForClaim, { later, skipped }: NotCalled): PickedContact[] {
  const callable: PickedContact[] = [];
  for (const contact of picked) {
    const until = atLimit.get(contact.toNumber);
    if (contact.refusal) skipped.push({ contact, reason: contact.refusal });
    else if (until) later.push({ contact, reason: 'limit_reached', until });
    else callable.push(contact);
  }
  return callable;
}

const slotsFor = ({ campaign }: FoundForClaim, calls: number, { now, leadMs }: WritingServer) =>
  takeSlots(campaign.calls_per_second, campaign.next_start_at, now, calls, leadMs);

/** The contacts with a number to be called from. Those who get none are noted. */
async function chooseCallers(
  { campaign, callers, lanes }: FoundForClaim,
  contacts: PickedContact[],
  { later, skipped }: NotCalled,
  now: Date,
): Promise<WithCaller[]> {
  const laneOf = new Map(lanes.map((lane) => [lane.lane, lane]));
  const ringing = ({ lane, toNumber }: PickedContact): LaneWindow =>
    isFreeOfDefault(campaign, toNumber, false) ? laneOf.get(lane)!.free : laneOf.get(lane)!;
  const mayRing = (contact: PickedContact) => isOpen(ringing(contact), now) && !ringing(contact).leftOut;
  const chosen = await callers.choose(contacts, mayRing);
  return contacts.flatMap((contact, at) => {
    const caller = chosen[at]!;
    if ('id' in caller) return [{ contact, caller }];
    if ('skip' in caller) skipped.push({ contact, reason: caller.skip });
    else if ('wouldRing' in caller) later.push({ contact, ...whenMayRing(ringing(contact)) });
    else later.push({ contact, reason: 'no_caller_id', until: caller.until });
    return [];
  });
}

/** When a phone may ring in a lane in which only hours that nobody has set are in the way. */
const whenMayRing = ({ opensAt, closesAt, leftOut }: LaneWindow) =>
  leftOut ? { reason: leftOut, until: closesAt } : { reason: 'quiet_hours', until: opensAt };

/** A start for each, within the campaign's pace and before its lane closes. */
function giveStarts(
  found: FoundForClaim,
  chosen: WithCaller[],
  by: WritingServer,
): { wanted: WantedCall[]; nextStartAt: Date } {
  const { calls_per_second, next_start_at } = found.campaign;
  const trunks = chosen.map(({ caller }) =>
    caller.trunkId === null ? undefined : found.callers.trunks.get(caller.trunkId),
  );
  const { slots, nextStartAt } = takeSlotsOver(calls_per_second, next_start_at, trunks, by.now, by.leadMs);
  const laneOf = new Map(found.lanes.map((lane) => [lane.lane, lane]));
  const wanted = chosen.map(({ contact, caller }, at): WantedCall => {
    const { startAt, placeBefore } = slots[at]!;
    const lane = laneOf.get(contact.lane)!;
    const isFree = isFreeOfDefault(found.campaign, contact.toNumber, caller.simulated);
    const { closesAt: closes } = isFree ? lane.free : lane;
    return {
      ownerId: contact.id,
      toNumber: contact.toNumber,
      caller,
      attempt: contact.attempt + 1,
      startAt,
      placeBefore: placeBefore < closes ? placeBefore : closes,
      variables: contact.variables,
      metadata: { ...found.campaign.metadata, ...contact.metadata },
      externalId: contact.externalId,
    };
  });
  return { wanted, nextStartAt };
}

const sharedBy = (campaign: ClaimedCampaign, { serverId, now }: WritingServer) => ({
  workspaceId: campaign.workspace_id,
  ownerKind: CONTACT,
  campaignId: campaign.id,
  areVariablesKept: true as const,
  serverId,
  agentId: campaign.agent_id,
  limitedAgentId: campaign.limited_agent_id,
  doNotCallRevision: campaign.do_not_call_revision,
  ringTimeoutSeconds: campaign.ring_timeout_seconds,
  maxCallSeconds: callSeconds(campaign.max_call_seconds, campaign),
  recording: campaign.recording,
  voicemail: campaign.voicemail_terms ?? undefined,
  tags: campaign.tags.length > 0 ? campaign.tags : null,
  now,
});

/** Those whose call was queued. The others are on another call, and noted. */
function leaveOutBusy(chosen: WithCaller[], calls: CallToPlace[], { later }: NotCalled, now: Date): WithCaller[] {
  const called = new Set(calls.map((call) => call.owner.id));
  const until = new Date(now.getTime() + BUSY_ELSEWHERE_MS);
  return chosen.filter(({ contact }) => {
    if (called.has(contact.id)) return true;
    later.push({ contact, reason: 'already_on_a_call', until });
    return false;
  });
}

const contactsOf = (some: { contact: PickedContact }[]) => some.map(({ contact }) => contact);
const placesOf = (contacts: PickedContact[]) => sql`${contacts.map(({ place }) => place)}::tid[]`;

/**
 * The statements that move picked contacts, which the caller holds: by their places, so that they read no others. 450
 * buffers for a batch of 50 at 10⁴ contacts, 553 at 10⁶.
 */
function moveContacts(dialing: PickedContact[], { later, skipped }: NotCalled) {
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
  return moves;
}

/** The statement that counts the moves on the campaign's row: 5 buffers. */
function countClaim(
  { workspace_id: workspaceId, id }: ClaimedCampaign,
  dialing: PickedContact[],
  { later, skipped }: NotCalled,
  { nextStartAt, now }: { nextStartAt: Date; now: Date },
) {
  const handled = [...dialing, ...contactsOf(later), ...contactsOf(skipped)];
  const wasPending = handled.filter(({ state }) => state === 'pending').length;
  const wasWaiting = handled.length - wasPending;
  return sql`
    update campaigns set in_flight = in_flight + ${dialing.length}, attempts = attempts + ${dialing.length},
      pending = pending - ${wasPending}, waiting = waiting - ${wasWaiting} + ${later.length},
      skipped = skipped + ${skipped.length}, next_start_at = ${nextStartAt}, next_claim_at = ${now}, revision = revision + 1
    where workspace_id = ${workspaceId} and id = ${id}`;
}
