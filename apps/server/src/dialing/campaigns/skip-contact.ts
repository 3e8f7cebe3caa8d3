import { sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import type { ContactState } from '../../foundation/database/schema.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { existing, notFound } from '../../foundation/values/service-error.ts';
import { type AuditEntry, audit } from '../../platform/journal/record.ts';
import type { CampaignDeps } from './deps.ts';
import { CONTACT } from './end-contacts.ts';
import { SKIPPED_BY_USER } from './explain-contact.ts';
import { contactPage } from './list-contacts.ts';
import { findCampaign, lockCampaign } from './store.ts';

type CampaignContact = components['schemas']['CampaignContact'];

/**
 * Has a campaign dial a contact no more. Who is on a call is noted, and skipped at its end; a call that waits to be placed is
 * withdrawn. Claims hold the campaign's row too, so that none comes between. Throws `not_found`.
 */
export async function skipContact(
  deps: CampaignDeps,
  workspaceId: string,
  { campaignId, contactId }: { campaignId: string; contactId: string },
  auditEntry: AuditEntry,
): Promise<CampaignContact> {
  const { database, clock, nudge } = deps;
  const now = clock.now();
  const contact = await database.inWorkspace(workspaceId, async (tx) => {
    // A redial may hold the contact for seconds: it is waited for without the campaign's row.
    await sql`select pg_advisory_xact_lock(hashtextextended(${campaignId}, 0))`.execute(tx.db);
    await existing(lockCampaign(tx, campaignId));
    const { rows } = await sql<{ state: ContactState }>`
      with old as materialized (
        select ctid as place, state from campaign_contacts
        where workspace_id = ${workspaceId} and campaign_id = ${campaignId} and id = ${contactId} for update)
      update campaign_contacts c set reason = ${SKIPPED_BY_USER},
        state = case when old.state = 'dialing' then old.state else 'skipped' end
      from old where c.ctid = old.place returning old.state`.execute(tx.db);
    if (!rows[0]) throw notFound();
    const { state } = rows[0];
    const was = (of: ContactState) => Number(state === of);
    if (state === 'dialing') await withdrawQueued(tx, contactId, now);
    await sql`
      update campaigns set pending = pending - ${was('pending')}, waiting = waiting - ${was('waiting')},
        done = done - ${was('done')}, skipped = skipped + ${1 - was('skipped') - was('dialing')},
        next_claim_at = 'epoch', revision = revision + 1
      where workspace_id = ${workspaceId} and id = ${campaignId}`.execute(tx.db);
    tx.tell(campaignId);
    await audit(tx, auditEntry, now);
    const campaign = (await findCampaign(tx, campaignId))!;
    const one = {
      page: 1,
      perPage: 1,
      order: 'asc',
      searchText: undefined,
      states: undefined,
      reason: undefined,
    } as const;
    const { rows: found } = await contactPage(tx, campaign, { ...one, ids: [contactId] }, { ...deps, now });
    return found[0]!;
  });
  nudge();
  return contact;
}

/** Ends the call of a contact that no provider has heard of. */
async function withdrawQueued({ db, workspaceId }: WorkspaceTx, contactId: string, now: Date): Promise<void> {
  await sql`
    update calls set end_requested_at = coalesce(end_requested_at, ${now})
    where workspace_id = ${workspaceId} and owner_id = ${contactId} and owner_kind = ${CONTACT} and status = 'queued'
      and ended_at is null`.execute(db);
}
