import { sql } from 'kysely';
import pg from 'pg';
import type { Database, EngineTx } from '../../../foundation/database/database.ts';
import type { CampaignKey } from '../campaign.ts';
import type { Claim } from './claim-contacts.ts';

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
export async function claimOneByOne(
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
