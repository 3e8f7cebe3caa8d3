import { sql } from 'kysely';
import type { EngineTx, Tx } from '../../foundation/database/database.ts';
import { together } from '../../foundation/database/together.ts';
import type { CallOutcome } from '../../lines/telephony/call-outcome.ts';
import { callOutcomes } from '../../lines/telephony/call-outcome.ts';
import { isDoNotCallNow } from '../../platform/do-not-call/do-not-call-numbers.ts';
import type { CallKey, EndedCall, OwnedCall, ReturnedCall } from '../calls/call.ts';
import { keysOf } from '../calls/call-row.ts';
import { afterOutcome, type ContactNext } from './after-outcome.ts';
import type { CampaignKey } from './campaign.ts';
import { SKIPPED_BY_USER } from './explain-contact.ts';
import { finishIfDone } from './finish-campaign.ts';
import { countable, failTooOften, withEnds } from './recent-ends.ts';

/** Of what kind contacts are as owners of calls. */
export const CONTACT = 'contact';

/** A call of a campaign's contact, who is its owner. */
export type ContactCall<T extends OwnedCall> = T & { campaignId: string };

/**
 * Moves the contacts of ended calls on, counts them on the campaign's row, which the caller holds, and completes it where
 * they were the last. Each is looked up and locked by its key, and then named by its place, so that no plan reads others
 * too. Who claims waits for that row, so all that follows the look goes out together. Answers whether the campaign is
 * finished, and whether so many of its calls have failed lately that it should pause.
 */
export async function endContacts(
  tx: Tx,
  key: CampaignKey,
  calls: ContactCall<EndedCall>[],
  now: Date,
): Promise<{ isFinished: boolean; failTooOften: boolean }> {
  const { workspaceId, campaignId } = key;
  const contacts = await sql<{
    id: string;
    place: string;
    tries: number;
    faults: number;
    agent_faults: number;
    attempt: number;
    reason: string | null;
    campaign: {
      retry_policy: number[];
      abandoned_retry_hours: number | null;
      voicemail_counts: boolean;
      recent_ends: number[];
    };
  }>`
    select c.*, (select jsonb_build_object('retry_policy', retry_policy, 'abandoned_retry_hours', abandoned_retry_hours,
        'voicemail_counts', voicemail_counts, 'recent_ends', recent_ends)
      from campaigns where workspace_id = ${workspaceId} and id = ${campaignId}) as campaign
    from unnest(${calls.map((call) => call.owner.id).toSorted()}::uuid[]) as x (id)
    cross join lateral (
      select id, ctid as place, attempt, tries, faults, agent_faults, reason from campaign_contacts
      where workspace_id = ${workspaceId} and campaign_id = ${campaignId} and id = x.id and state = 'dialing'
      limit 1 for update) as c`.execute(tx.db);
  const callOf = new Map(calls.map((call) => [call.owner.id, call]));
  const cancelled = await readCancelled(tx, key, calls);
  const moved = contacts.rows.map((row) => {
    const call = callOf.get(row.id)!;
    const outcome = forRetries(call);
    const tally = { tries: row.tries, faults: row.faults, agentFaults: row.agent_faults };
    const forbidden = cancelled.get(row.id)?.forbidden;
    const { retry_policy: retryPolicy, abandoned_retry_hours: abandonedRetryHours } = row.campaign;
    // The contact has what it was called for.
    const isDone = row.campaign.voicemail_counts && call.hasLeftMessage === true;
    const next = afterOutcome(
      tally,
      { ...call, attempt: row.attempt, outcome: isDone ? 'answered' : outcome, forbidden },
      { retryPolicy, abandonedRetryHours },
    );
    return { place: row.place, outcome, ...unlessSkipped(row.reason, next) };
  });
  const move = sql`
    update campaign_contacts c set state = x.state, tries = x.tries, faults = x.faults, agent_faults = x.agent_faults,
      next_attempt_at = x.next_attempt_at, last_outcome = x.outcome, reason = x.reason
    from unnest(${moved.map((m) => m.place)}::tid[], ${moved.map((m) => m.state)}::text[],
      ${moved.map((m) => m.tries)}::smallint[], ${moved.map((m) => m.faults)}::smallint[],
      ${moved.map((m) => m.agentFaults)}::smallint[], ${moved.map((m) => m.nextAttemptAt)}::timestamptz[],
      ${moved.map((m) => m.outcome)}::text[], ${moved.map((m) => m.reason)}::text[])
      as x (place, state, tries, faults, agent_faults, next_attempt_at, outcome, reason)
    where c.ctid = x.place`;

  tx.tell(campaignId);
  const inState = (state: string) => moved.filter((m) => m.state === state).length;
  const before = contacts.rows[0]?.campaign.recent_ends ?? [];
  const outcomes = countable(calls).map(({ outcome }) => outcome);
  const recent = outcomes.length > 0 ? withEnds(before, outcomes, now) : before;
  const neverPlaced = calls.filter((call) => call.neverPlaced || cancelled.get(call.owner.id)?.neverSent).length;
  const count = sql`
    update campaigns set in_flight = in_flight - ${calls.length}, attempts = attempts - ${neverPlaced}, waiting = waiting + ${inState('waiting')},
      done = done + ${inState('done')}, skipped = skipped + ${inState('skipped')}, ${countOutcomes(calls)},
      recent_ends = ${recent}::integer[], talk_ms = talk_ms + ${talkMs(calls)},
      next_claim_at = least(next_claim_at, ${now}), revision = revision + 1
    where workspace_id = ${workspaceId} and id = ${campaignId}`;
  const [, , isFinished] = await together(tx, [move, count, () => finishIfDone(tx, key, now)]);
  return { isFinished, failTooOften: failTooOften(recent) };
}

/** Whom somebody had skipped during the call stays so, however it ended: who is done may be called again. */
const unlessSkipped = (reason: string | null, next: ContactNext): ContactNext =>
  reason === SKIPPED_BY_USER ? { ...next, state: 'skipped', reason } : next;

const talkMs = (calls: readonly EndedCall[]) => calls.reduce((sum, call) => sum + (call.talkMs ?? 0), 0);

/** The outcome by which a contact is tried again: a machine that the agent has told of is a voicemail. */
const forRetries = ({ outcome, wasAnswered, answeredBy }: EndedCall): CallOutcome =>
  answeredBy === 'machine' && wasAnswered && (outcome === 'answered' || outcome === 'agent_error')
    ? 'voicemail'
    : outcome;

/**
 * Of the cancelled among some calls, by contact: whether the person is not to be called (any more), and whether no provider
 * has heard of the call. Nothing is read where none was cancelled.
 */
async function readCancelled(tx: Tx, { workspaceId, campaignId }: CampaignKey, calls: ContactCall<EndedCall>[]) {
  const ids = calls.filter(({ outcome }) => outcome === 'cancelled').map(({ roomId }) => roomId);
  if (ids.length === 0) return new Map<string, { forbidden: boolean; neverSent: boolean }>();
  const workspace = sql`${workspaceId}::uuid`;
  const { rows } = await sql<{ contact_id: string; forbidden: boolean; neverSent: boolean }>`
    select c.owner_id as contact_id, c.ended_by = 'error' as "neverSent",
      ${isDoNotCallNow(sql.ref('c.to_number'), workspace, sql`${campaignId}::uuid`)} as forbidden
    from calls c where c.workspace_id = ${workspaceId} and c.id = any(${ids}::uuid[])`.execute(tx.db);
  return new Map(rows.map((row) => [row.contact_id, row]));
}

/** `answered = answered + 3, busy = busy + 1, …`: one statement text, whatever the outcomes. */
function countOutcomes(calls: { outcome: CallOutcome }[]) {
  const counts = callOutcomes.map((outcome) => {
    const count = calls.filter((call) => call.outcome === outcome).length;
    return sql`${sql.ref(outcome)} = ${sql.ref(outcome)} + ${count}`;
  });
  return sql.join(counts);
}

const isSkipped = sql`c.reason is not distinct from ${SKIPPED_BY_USER}`;

/** Puts the contacts of calls that were never placed back to where they were, found and named as in `endContacts`. */
export async function returnContacts(
  tx: EngineTx,
  key: CampaignKey,
  calls: ContactCall<ReturnedCall>[],
  now: Date,
): Promise<void> {
  const { workspaceId, campaignId } = key;
  const found = await sql<{ place: string; taken_back: number }>`
    select c.place, x.taken_back
    from unnest(${calls.map((call) => call.owner.id)}::uuid[],
      ${calls.map((call) => Number(call.attemptTakenBack))}::smallint[]) as x (id, taken_back)
    cross join lateral (
      select ctid as place from campaign_contacts
      where workspace_id = ${workspaceId} and campaign_id = ${campaignId} and id = x.id and state = 'dialing'
      limit 1 for update) as c`.execute(tx.db);
  const { rows } = await sql<{ state: string }>`
    update campaign_contacts c set attempt = c.attempt - x.taken_back, next_attempt_at = ${now},
      reason = case when ${isSkipped} then c.reason end,
      state = case when ${isSkipped} then 'skipped' when c.attempt - x.taken_back = 0 then 'pending' else 'waiting' end
    from unnest(${found.rows.map((row) => row.place)}::tid[], ${found.rows.map((row) => row.taken_back)}::smallint[])
      as x (place, taken_back)
    where c.ctid = x.place
    returning c.state`.execute(tx.db);
  tx.tell(campaignId);
  const inState = (state: string) => rows.filter((row) => row.state === state).length;
  const [pending, skipped] = [inState('pending'), inState('skipped')];
  await sql`
    update campaigns set in_flight = in_flight - ${calls.length}, attempts = attempts - ${calls.length},
      pending = pending + ${pending}, waiting = waiting + ${rows.length - pending - skipped},
      skipped = skipped + ${skipped}, next_claim_at = least(next_claim_at, ${now}), revision = revision + 1
    where workspace_id = ${workspaceId} and id = ${campaignId}`.execute(tx.db);
}

/**
 * Has contacts wait again whose calls have ended in what was not their doing, as if they had not been called; where their
 * campaign has ended, or another call has been placed since, it stays at that.
 */
export async function setContactsAside(tx: Tx, calls: readonly CallKey[], now: Date): Promise<void> {
  const { rows } = await sql<{ workspace_id: string; campaign_id: string; contact_id: string; attempt: number }>`
    select c.workspace_id, c.campaign_id, c.owner_id as contact_id, c.attempt
    from ${keysOf(calls)} join calls c on c.workspace_id = x.workspace_id and c.id = x.id
    where c.owner_kind = ${CONTACT}`.execute(tx.db);
  for (const campaignId of new Set(rows.map((row) => row.campaign_id).toSorted())) {
    const own = rows.filter((row) => row.campaign_id === campaignId);
    const workspaceId = own[0]!.workspace_id;
    const campaign = await sql`
      select from campaigns where workspace_id = ${workspaceId} and id = ${campaignId}
        and status in ('running', 'paused') for no key update`.execute(tx.db);
    if (campaign.rows.length === 0) continue;
    const set = await sql<{ was: string }>`
      update campaign_contacts c set state = 'waiting', tries = greatest(0, c.tries - 1), next_attempt_at = ${now},
        reason = 'trunk_paused'
      from unnest(${own.map((row) => row.contact_id)}::uuid[], ${own.map((row) => row.attempt)}::smallint[]) as x (id, attempt)
      where c.workspace_id = ${workspaceId} and c.campaign_id = ${campaignId} and c.id = x.id and c.attempt = x.attempt
        and c.state = 'done'
      returning c.id as was`.execute(tx.db);
    tx.tell(campaignId);
    await sql`
      update campaigns set done = done - ${set.rows.length}, waiting = waiting + ${set.rows.length}, revision = revision + 1
      where workspace_id = ${workspaceId} and id = ${campaignId}`.execute(tx.db);
  }
}
