import { sql } from 'kysely';
import pg from 'pg';
import type { Logger } from 'pino';
import type { Database, EngineTx } from '../../../foundation/database/database.ts';
import { isUnavailable } from '../../../foundation/database/errors.ts';
import type { CampaignKey } from '../campaign.ts';
import { type Claim, type ClaimTerms, claimContacts, putOff } from './claim-contacts.ts';

/** When a campaign that could not be claimed from is tried again. */
const FAILED_CLAIM_MS = 10_000;

/** Leaves a campaign that could not be claimed from alone for a while. */
export const rest = (database: Database, campaign: CampaignKey, now: Date): Promise<void> =>
  database.inEngine((tx) => putOff(tx, campaign, new Date(now.getTime() + FAILED_CLAIM_MS)));

interface ClaimDeps {
  database: Database;
  log: Logger;
  onFinished: (tx: EngineTx, campaign: CampaignKey) => Promise<void>;
  onPaused: (tx: EngineTx, campaign: CampaignKey) => Promise<void>;
}

/**
 * Claims a batch of a campaign's contacts; where that fails once they are picked, each of them for itself. Who is left out
 * for what is kept of them is named in the log. Throws what `claimContacts` throws, where nobody could be claimed.
 */
export async function claimOrEach(
  { database, log, onFinished, onPaused }: ClaimDeps,
  campaign: CampaignKey,
  terms: ClaimTerms,
): Promise<Claim> {
  let picked: string[] = [];
  const onPicked = (ids: string[]) => {
    picked = ids;
  };
  const claim = async (more: Partial<ClaimTerms>) => {
    const claimed = await claimContacts(database, campaign, { ...terms, ...more }, onFinished, onPaused);
    const { unreadable: contactIds } = claimed;
    if (contactIds.length > 0)
      log.warn({ ...campaign, contactIds }, 'contacts without a time zone that can be read are left out');
    return claimed;
  };
  try {
    return await claim({ onPicked });
  } catch (error) {
    if (picked.length === 0 || isUnavailable(error)) throw error;
  }
  const found = await claimOneByOne(database, campaign, picked, (only) => claim({ only, free: 1 }));
  for (const { contactId, error } of found.leftOut) {
    log.error({ err: error, ...campaign, contactId }, 'a contact can not be used; it is left out');
  }
  const calls = found.claims.flatMap((each) => each.calls);
  if (found.fault === undefined) return { calls, more: true, unreadable: [] };
  if (calls.length === 0) throw found.fault;
  log.error({ err: found.fault, ...campaign }, 'some contacts could not be claimed; they are tried again');
  await rest(database, campaign, terms.now);
  return { calls, more: false, unreadable: [] };
}

/** A contact that can't be claimed, and what came of the attempt. */
interface FaultyContact {
  contactId: string;
  error: unknown;
}

/** What came of claims of single contacts. */
interface ClaimedOneByOne {
  claims: Claim[];
  /** Those that are left out now, since their rows can't be used. */
  leftOut: FaultyContact[];
  /** What failed otherwise: nobody is left out for that. */
  fault: unknown;
}

/**
 * Claims some contacts of a campaign each for itself, after a claim of all of them has failed, so that a row that can't be
 * used keeps nobody else from being called. Such a row is left out as `invalid_contact`. It is not the row's fault where
 * the fault is of another kind, or where none of several can be claimed. Throws nothing but what leaving out throws.
 * @param claimOnly claims one contact; it answers with no call where that is not to be called now
 */
async function claimOneByOne(
  database: Database,
  campaign: CampaignKey,
  contactIds: readonly string[],
  claimOnly: (contactId: string) => Promise<Claim>,
): Promise<ClaimedOneByOne> {
  const claims: Claim[] = [];
  const faulty: FaultyContact[] = [];
  for (const contactId of contactIds) {
    try {
      claims.push(await claimOnly(contactId));
    } catch (error) {
      faulty.push({ contactId, error });
      if (!isOfData(error)) break;
    }
  }
  const last = faulty.at(-1)?.error;
  if (faulty.length === 0) return { claims, leftOut: [], fault: undefined };
  if (!isOfData(last) || (claims.length === 0 && faulty.length > 1)) return { claims, leftOut: [], fault: last };
  const ids = faulty.map((each) => each.contactId);
  await database.inEngine((tx) => leaveOut(tx, campaign, ids));
  return { claims, leftOut: faulty, fault: undefined };
}

/** Whether a fault comes of a value: in SQL of classes 22 and 23, or in JavaScript. */
const isOfData = (error: unknown): boolean =>
  error instanceof pg.DatabaseError
    ? /^2[23]/.test(error.code ?? '')
    : error instanceof TypeError || error instanceof RangeError;

/** Leaves contacts out for good, and counts that on the campaign's row. */
async function leaveOut(tx: EngineTx, { workspaceId, campaignId }: CampaignKey, ids: string[]): Promise<void> {
  const ofCampaign = sql`workspace_id = ${workspaceId} and campaign_id = ${campaignId}`;
  await sql`select from campaigns where workspace_id = ${workspaceId} and id = ${campaignId} for no key update`.execute(
    tx.db,
  );
  await sql`
    with found as (select id, state from campaign_contacts
        where ${ofCampaign} and id = any(${ids}::uuid[]) and state in ('pending', 'waiting') order by id for update),
      moved as (update campaign_contacts set state = 'skipped', reason = 'invalid_contact'
        where ${ofCampaign} and id in (select id from found) returning id),
      counted as (select count(*) as skipped, count(*) filter (where state = 'pending') as pending from found)
    update campaigns set pending = campaigns.pending - counted.pending, skipped = campaigns.skipped + counted.skipped,
      waiting = waiting - (counted.skipped - counted.pending), next_claim_at = 'epoch', revision = revision + 1
    from counted where workspace_id = ${workspaceId} and campaigns.id = ${campaignId}`.execute(tx.db);
  tx.tell(campaignId);
}
