import { setTimeout as sleep } from 'node:timers/promises';
import { sql } from 'kysely';
import { INTENT } from '../../dialing/call-intents/intent.ts';
import type { PlacedCall } from '../../dialing/calls/call.ts';
import type { CallOwners } from '../../dialing/calls/call-owner.ts';
import { type OwnedRow, ownedColumns, toOwned } from '../../dialing/calls/call-row.ts';
import { recallCalls } from '../../dialing/calls/recall-calls.ts';
import { addContacts } from '../../dialing/campaigns/add-contacts.ts';
import type { CampaignKey } from '../../dialing/campaigns/campaign.ts';
import type { Database } from '../../foundation/database/database.ts';
import { numberDigest } from '../../foundation/database/number-digest.ts';
import type { WitnessedCall } from '../../platform/installation/witness.ts';

/** A call that was placed after the backup. */
export interface LostCall extends PlacedCall {
  /** HMAC of the number called, in hex, where a witness has told of it. */
  digest: string | undefined;
}

/**
 * What the database knows of such a call:
 * - `known`: that it has ended;
 * - `lost`: not that, but whom it was made for: it is marked;
 * - `adding`: its campaign, which still has to take contacts from its lists, and may find its contact then;
 * - `gone`: nothing.
 */
export type Verdict = 'known' | 'lost' | 'adding' | 'gone';

export interface JudgedCall {
  call: LostCall;
  verdict: Verdict;
}

/** What witnesses of 0.1.0 call who owns a call by itself. */
const FORMER_INTENT = 'call';

/** A witness's word of a call. */
export function lostCall({ ownerKind, ownerId, campaignId, to, at, ...call }: WitnessedCall): LostCall {
  return {
    workspaceId: call.workspaceId,
    roomId: call.roomId,
    attempt: call.attempt,
    at: new Date(at),
    owner: { kind: ownerKind === FORMER_INTENT ? INTENT : ownerKind, id: ownerId },
    campaignId: campaignId ?? null,
    digest: to,
  };
}

/** SQL for live calls `c` of which no provider has heard, as far as the database knows. */
export const isUnheard = sql`
  c.ended_at is null and c.direction = 'outbound' and c.status in ('queued', 'dialing')
    and not exists (select from sip_calls s where s.room_id = c.id)
    and not exists (select from simulator_calls s where s.room_id = c.id)`;

/** Calls that were on their way when the backup was made, and may have been placed. */
export async function readUnheard(database: Database, now: Date): Promise<LostCall[]> {
  const { rows } = await database.inEngine(({ db }) =>
    sql<OwnedRow & { attempt: number }>`select ${ownedColumns}, c.attempt from calls c where ${isUnheard}`.execute(db),
  );
  return rows.map((row) => ({ ...toOwned(row), attempt: row.attempt, at: now, digest: undefined }));
}

/** How many calls are read or marked at once. */
const SET = 500;

/** Says of each of some calls what the database knows of it. Contacts that were added anew are found by their numbers. */
export async function judgeCalls(database: Database, calls: readonly LostCall[]): Promise<JudgedCall[]> {
  const judged = await judge(database, calls);
  const orphans = judged.filter(
    ({ call, verdict }) => call.campaignId !== null && verdict !== 'known' && verdict !== 'lost',
  );
  if (orphans.length === 0) return judged;
  const contactOf = await findByNumber(
    database,
    orphans.map(({ call }) => call),
  );
  const found = orphans.flatMap(({ call }) => {
    const contactId = contactOf.get(call.roomId);
    return contactId === undefined ? [] : [{ ...call, owner: { ...call.owner, id: contactId } }];
  });
  const again = new Map((await judge(database, found)).map((each) => [each.call.roomId, each]));
  return judged.map((each) => again.get(each.call.roomId) ?? each);
}

async function judge(database: Database, calls: readonly LostCall[]): Promise<JudgedCall[]> {
  const judged: JudgedCall[] = [];
  for (let at = 0; at < calls.length; at += SET) {
    const set = calls.slice(at, at + SET);
    const { rows } = await database.inEngine(({ db }) =>
      sql<{ verdict: Verdict }>`
        select case
          when c.ended_at is not null or exists (select from calls a where a.workspace_id = x.workspace_id
            and a.owner_id = x.owner_id and a.attempt = x.attempt and a.ended_at is not null) then 'known'
          when c.id is not null or k.id is not null or r.id is not null or i.id is not null then 'lost'
          when not p.contacts_added and p.status in ('running', 'paused') then 'adding'
          else 'gone' end as verdict
        from unnest(${set.map((call) => call.workspaceId)}::uuid[], ${set.map((call) => call.roomId)}::uuid[],
          ${set.map((call) => call.campaignId)}::uuid[], ${set.map((call) => call.owner.id)}::uuid[],
          ${set.map((call) => call.attempt)}::smallint[])
          with ordinality as x (workspace_id, id, campaign_id, owner_id, attempt, place)
        left join calls c on c.workspace_id = x.workspace_id and c.id = x.id
        left join campaigns p on p.workspace_id = x.workspace_id and p.id = x.campaign_id
        left join campaign_contacts k
          on k.workspace_id = x.workspace_id and k.campaign_id = x.campaign_id and k.id = x.owner_id
        left join workflow_runs r on r.workspace_id = x.workspace_id and r.id = x.owner_id and r.ended_at is null
        left join call_intents i on i.workspace_id = x.workspace_id and i.id = x.id
        order by x.place`.execute(db),
    );
    judged.push(...set.map((call, place) => ({ call, verdict: rows[place]!.verdict })));
  }
  return judged;
}

/** The contacts of calls by their rooms, in the calls' campaigns. Each campaign is read once, whole. */
async function findByNumber(database: Database, calls: readonly LostCall[]): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const campaignId of new Set(calls.map((call) => call.campaignId))) {
    const own = calls.filter((call) => call.campaignId === campaignId);
    const { workspaceId } = own[0]!;
    const { rows } = await database.inEngine(({ db }) =>
      sql<{ room_id: string; contact_id: string }>`
        select x.room_id, k.id as contact_id
        from unnest(${own.map((call) => call.roomId)}::uuid[], ${own.map((call) => call.digest ?? null)}::text[])
          as x (room_id, digest)
        join (select id, encode(${numberDigest(sql`phone_number`, sql`workspace_id`)}, 'hex') as digest
          from campaign_contacts where workspace_id = ${workspaceId} and campaign_id = ${campaignId}) as k
          on k.digest = x.digest`.execute(db),
    );
    for (const row of rows) found.set(row.room_id, row.contact_id);
  }
  return found;
}

/** Marks calls as placed, a set at a time, so that it may end at any time and be begun again. */
export async function markCalls(
  database: Database,
  owners: CallOwners,
  calls: readonly LostCall[],
  now: Date,
): Promise<void> {
  for (const set of setsOf(calls)) await database.inEngine((tx) => recallCalls(tx, owners, set, now));
}

/** Sets of calls, none of them with two of an owner. */
function* setsOf(calls: readonly LostCall[]): Generator<LostCall[]> {
  let set = new Map<string, LostCall>();
  for (const call of calls) {
    const owner = call.owner.id;
    if (set.has(owner) || set.size === SET) {
      yield [...set.values()];
      set = new Map();
    }
    set.set(owner, call);
  }
  yield [...set.values()];
}

const WAIT_MS = 200;

/** Has a campaign take the rest of its contacts from its lists, beside servers that may be at it. */
export async function addAllContacts(database: Database, key: CampaignKey, now: Date): Promise<void> {
  for (;;) {
    if (await addContacts(database, key, now)) continue;
    if (!(await isAdding(database, key))) return;
    await sleep(WAIT_MS);
  }
}

async function isAdding(database: Database, { workspaceId, campaignId }: CampaignKey): Promise<boolean> {
  const { rows } = await database.inEngine(({ db }) =>
    sql`
      select from campaigns where workspace_id = ${workspaceId} and id = ${campaignId} and not contacts_added
        and status in ('running', 'paused')`.execute(db),
  );
  return rows.length > 0;
}
