import { sql } from 'kysely';
import type { Tx } from '../../foundation/database/database.ts';
import type { EndedCall, OwnedCall } from '../calls/call.ts';
import type { CallOwner } from '../calls/call-owner.ts';
import type { CallDetails } from '../calls/store.ts';
import type { CampaignKey } from './campaign.ts';
import { hasConsent } from './contact-refusal.ts';
import { CONTACT, type ContactCall, endContacts, returnContacts, setContactsAside } from './end-contacts.ts';
import { pauseItself } from './pause-itself.ts';
import { recallContacts } from './recall-contacts.ts';

/**
 * Campaigns, as the owners of their calls.
 * @param told tells of a campaign that its last call has completed, or that has paused itself, in the transaction that does it
 * @param simulated the providers whose calls ring nobody, for calls that are recalled
 */
export function campaignCallOwner(
  told: Record<'onFinished' | 'onPaused', (tx: Tx, campaign: CampaignKey) => Promise<void>>,
  nudge: () => void,
  simulated: readonly string[] = [],
): Required<CallOwner> {
  return {
    kind: CONTACT,
    mayBePlaced: (now) => sql`
      exists (select from campaigns p where p.workspace_id = c.workspace_id and p.id = c.campaign_id
        and p.status = 'running' and (p.end_date is null or p.end_date > ${now})
        and (not p.require_consent or ${hasConsent(sql.ref('c.to_number'), sql.ref('c.workspace_id'), sql.ref('c.campaign_id'))}))`,
    isPlacedAgain: sql`false`,
    lock: async (tx, calls) => {
      const keys = byCampaign(calls).map(([key]) => key);
      await sql`
        select from unnest(${keys.map((key) => key.workspaceId)}::uuid[], ${keys.map((key) => key.campaignId)}::uuid[])
          as x (workspace_id, id)
        cross join lateral (select from campaigns where workspace_id = x.workspace_id and id = x.id
          limit 1 for no key update) as c`.execute(tx.db);
    },
    onCallsEnded: async (tx, calls, now) => {
      for (const [key, ended] of byCampaign(calls)) {
        const { isFinished, failTooOften } = await endContacts(tx, key, ended, now);
        if (isFinished) await told.onFinished(tx, key);
        else if (failTooOften && (await pauseItself(tx, key, 'calls_failing', now))) await told.onPaused(tx, key);
      }
    },
    onCallsSetAside: setContactsAside,
    onCallsReturned: async (tx, calls, now) => {
      for (const [key, returned] of byCampaign(calls)) await returnContacts(tx, key, returned, now);
    },
    recall: async (tx, calls, now) => {
      const recalled: EndedCall[] = [];
      for (const [key, placed] of byCampaign(calls))
        recalled.push(...(await recallContacts(tx, key, placed, { now, simulated })));
      return recalled;
    },
    onAgentsFailing: async (tx, agents) => {
      // Their claims pause them, under their locks.
      for (const { workspaceId, agentId } of agents) {
        const { rows } = await sql<{ id: string }>`
          update campaigns set next_claim_at = 'epoch'
          where workspace_id = ${workspaceId} and agent_id = ${agentId} and status = 'running' returning id`.execute(
          tx.db,
        );
        for (const { id } of rows) tx.tell(id);
      }
    },
    nudge,
  };
}

/** Some calls of each campaign, in the order in which the campaigns' rows are locked. */
function byCampaign<T extends OwnedCall>(calls: readonly T[]): [CampaignKey, ContactCall<T>[]][] {
  const found = new Map<string, [CampaignKey, ContactCall<T>[]]>();
  for (const call of calls as readonly ContactCall<T>[]) {
    const { workspaceId, campaignId } = call;
    const own = found.get(campaignId);
    if (own) own[1].push(call);
    else found.set(campaignId, [{ workspaceId, campaignId }, [call]]);
  }
  return [...found.values()].sort(([a], [b]) => (orderOf(a) < orderOf(b) ? -1 : 1));
}

const orderOf = ({ workspaceId, campaignId }: CampaignKey) => workspaceId + campaignId;

/** What a campaign adds to its calls for clients: its kind, and what the contact gives the agent. */
export const campaignCallDetails: CallDetails = {
  columns: sql`k."values" as contact_values, k.name as contact_name, l.columns,
    case when b.id is null then 'campaign' else 'batch' end as campaign_kind`,
  joins: sql`
    left join batches b on b.workspace_id = c.workspace_id and b.id = c.campaign_id
    left join campaign_contacts k
      on k.workspace_id = c.workspace_id and k.campaign_id = c.campaign_id and k.id = c.owner_id
    left join contact_lists l on l.workspace_id = k.workspace_id and l.id = k.list_id`,
  // Calls of what was deleted are still found by its ID: the row of `batches` stays.
  isBatch: (campaignId) => sql`exists (select from batches b
    where b.workspace_id = calls.workspace_id and b.id = ${campaignId})`,
};
