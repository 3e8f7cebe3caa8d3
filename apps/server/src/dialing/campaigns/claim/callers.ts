import { sql } from 'kysely';
import type { EngineTx } from '../../../foundation/database/database.ts';
import type { Candidate } from '../../../lines/number-pools/assign-numbers.ts';
import { chooseNumbers, openPool } from '../../../lines/number-pools/choose-numbers.ts';
import { outlooksFor, poolFreeAt, poolSlotAt } from '../../../lines/number-pools/free-at.ts';
import { countryOfNumber } from '../../../lines/phone-numbers/numbering-plan.ts';
import { lockTrunkRooms, startsWithin, type TrunkRoom } from '../../../lines/trunks/trunk-room.ts';
import { callerOf, type IsSimulated } from '../../calls/may-dial.ts';
import type { Caller } from '../../calls/queue-calls.ts';
import type { ClaimedCampaign } from './claim-limits.ts';
import { lastStart, nextSlotClaim } from './pace.ts';
import type { PickedContact } from './pick-contacts.ts';

/** When a campaign whose number or pool can't call is looked at again, and a contact who got no number. */
const NO_CALLER_ID_MS = 10_000;
/** When a campaign whose pool is busy is looked at again, if none of its calls ends before. */
const BUSY_MS = 1000;

/** Why a contact got no number: none of them may call its country, it is the only one itself, none can until then, or those that can would ring. */
export type NoCaller = { skip: 'country_not_allowed' | 'invalid_number' } | { until: Date } | { wouldRing: true };

/** The numbers of one claim. */
export interface Callers {
  /** How many calls they can take now. */
  room: number;
  /** When to look again, where that is none. */
  restUntil(): Promise<Date>;
  /** Whether for calls of any of them no telephone rings. */
  simulated: boolean;
  /** The trunks of its numbers, held, by their UUIDs. */
  trunks: ReadonlyMap<string, TrunkRoom>;
  /**
   * A number for each contact, in their order.
   * @param mayRing whether a telephone may ring for a contact now
   */
  choose(contacts: PickedContact[], mayRing: (contact: PickedContact) => boolean): Promise<(Caller | NoCaller)[]>;
}

interface CallerTerms {
  now: Date;
  leadMs: number;
  isSimulated: IsSimulated;
}

const after = (now: Date, milliseconds: number) => new Date(now.getTime() + milliseconds);

/** The numbers that a locked campaign may place so many calls from. A pool is locked with it. */
export async function openCallers(
  tx: EngineTx,
  campaign: ClaimedCampaign,
  calls: number,
  terms: CallerTerms,
): Promise<Callers> {
  return campaign.number_pool_id === null
    ? oneNumber(tx, campaign, terms)
    : poolOf(tx, campaign, campaign.number_pool_id, calls, terms);
}

async function oneNumber(
  tx: EngineTx,
  campaign: ClaimedCampaign,
  { now, leadMs, isSimulated }: CallerTerms,
): Promise<Callers> {
  const caller = callerOf(campaign, isSimulated);
  const trunks = await lockTrunkRooms(tx, campaign.workspace_id, caller?.trunkId ? [caller.trunkId] : []);
  const [trunk] = trunks;
  const starts = trunk ? startsWithin(trunk, after(now, leadMs), lastStart(now, leadMs)) : Number.POSITIVE_INFINITY;
  return {
    room: caller ? starts : 0,
    trunks: new Map(trunks.map((each) => [each.id, each])),
    restUntil: async () => (trunk?.isActive ? trunkFreeAt(trunk, now, leadMs) : after(now, NO_CALLER_ID_MS)),
    simulated: caller?.simulated ?? false,
    choose: async (contacts, mayRing) =>
      contacts.flatMap((contact) =>
        caller && !caller.simulated && !mayRing(contact) ? { wouldRing: true } : (caller ?? []),
      ),
  };
}

/** When a trunk without room is looked at again: for its next slot, or for a call that ends. */
function trunkFreeAt({ channels, nextStartAt }: TrunkRoom, now: Date, leadMs: number): Date {
  const slot = nextSlotClaim(nextStartAt, leadMs);
  return channels > 0 && slot > now ? slot : after(now, BUSY_MS);
}

async function poolOf(
  tx: EngineTx,
  campaign: ClaimedCampaign,
  poolId: string,
  calls: number,
  terms: CallerTerms,
): Promise<Callers> {
  const { now, leadMs } = terms;
  const starts = { firstStart: after(now, leadMs), lastStart: lastStart(now, leadMs) };
  const pool = await openPool(tx, { workspaceId: campaign.workspace_id, poolId, ...terms, ...starts }, calls);
  const simulated = ({ provider }: Candidate) => terms.isSimulated(provider) === true;
  return {
    room: pool.room,
    simulated: pool.candidates.some(simulated),
    trunks: pool.trunks,
    restUntil: async () => {
      const freeAt = await poolFreeAt(tx, pool.query);
      const rest = after(now, freeAt && freeAt <= now ? BUSY_MS : NO_CALLER_ID_MS);
      const slotAt = await poolSlotAt(tx, pool.query);
      const slot = slotAt && nextSlotClaim(slotAt, leadMs);
      return slot && slot > now && slot < rest ? slot : rest;
    },
    choose: async (contacts, mayRing) => {
      const last = await lastNumbers(tx, campaign.workspace_id, contacts);
      const callees = contacts.map((contact) => ({
        toNumber: contact.toNumber,
        country: countryOfNumber(contact.toNumber),
        avoid: last.get(contact.id),
        ...(!mayRing(contact) && { only: simulated }),
      }));
      const chosen = await chooseNumbers(tx, pool, callees);
      const without = callees.filter((_, at) => !chosen[at]);
      const found = without.length > 0 ? await outlooksFor(tx, pool.query, without) : [];
      const outlooks = new Map(without.map((callee, at) => [callee, found[at]!]));
      return chosen.map((candidate, at): Caller | NoCaller => {
        if (candidate) return { ...candidate, simulated: terms.isSimulated(candidate.provider)!, pooled: true };
        const { refusal, freeAt = now } = outlooks.get(callees[at]!)!;
        if (refusal) return { skip: refusal };
        if (callees[at]!.only) return { wouldRing: true };
        return { until: new Date(Math.max(freeAt.getTime(), now.getTime() + NO_CALLER_ID_MS)) };
      });
    },
  };
}

/** The numbers that contacts were called from last, by contact. */
async function lastNumbers(tx: EngineTx, workspaceId: string, contacts: PickedContact[]): Promise<Map<string, string>> {
  const retried = contacts.filter((contact) => contact.attempt > 0);
  if (retried.length === 0) return new Map();
  const { rows } = await sql<{ contact_id: string; phone_number_id: string }>`
    select c.owner_id as contact_id, c.phone_number_id
    from unnest(${retried.map((contact) => contact.id)}::uuid[], ${retried.map((contact) => contact.attempt)}::smallint[])
      as x (id, attempt)
    join calls c on c.workspace_id = ${workspaceId} and c.owner_id = x.id and c.attempt = x.attempt`.execute(tx.db);
  return new Map(rows.map((row) => [row.contact_id, row.phone_number_id]));
}
