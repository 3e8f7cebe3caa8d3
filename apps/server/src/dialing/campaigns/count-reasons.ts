import { sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import type { ContactState } from '../../foundation/database/schema.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { contactExplainer, hasEnded } from './explain-contact.ts';
import { laneZones } from './list-contacts.ts';
import type { CampaignRow } from './shape-campaign.ts';
import { type SituationTerms, situationOf } from './situation.ts';

export type CampaignReasons = components['schemas']['CampaignReasons'];
type Terms = SituationTerms & { now: Date };

/** From how many contacts on the counts are kept for a while: 100,000 take some 100 ms of a core. */
const MANY_CONTACTS = 10_000;
/** How long: so many times as long as it took to count them, so that who asks all the time costs 5 % of a core. */
const KEPT_TIMES = 20;
const KEPT_AT_LEAST_MS = 2000;

/** Counts the contacts of campaigns by why they are not called. */
export interface ReasonCounts {
  /** Those of a campaign: of this moment, or of a large one at most some seconds old. */
  read: (tx: WorkspaceTx, campaign: CampaignRow, terms: Terms) => Promise<CampaignReasons>;
}

/** The counts of this process, which keeps those of large campaigns. */
export function openReasonCounts(elapsed: () => number = () => performance.now()): ReasonCounts {
  const kept = new Map<string, { until: number; reasons: Promise<CampaignReasons> }>();
  return {
    read: async (tx, campaign, terms) => {
      if (campaign.total_contacts < MANY_CONTACTS) return countReasons(tx, campaign, terms);
      const begun = elapsed();
      for (const [id, { until }] of kept) if (until <= begun) kept.delete(id);
      const found = kept.get(campaign.id);
      if (found) return found.reasons;
      const entry = { until: Number.POSITIVE_INFINITY, reasons: countReasons(tx, campaign, terms) };
      kept.set(campaign.id, entry);
      try {
        return await entry.reasons;
      } catch (error) {
        kept.delete(campaign.id);
        throw error;
      } finally {
        entry.until = elapsed() + Math.max(KEPT_AT_LEAST_MS, KEPT_TIMES * (elapsed() - begun));
      }
    },
  };
}

interface Group {
  state: ContactState;
  lane: number;
  reason: string | null;
  trusted: boolean;
  next_attempt_at: Date;
  count: number;
}

/** Counts by the reason that `contactPage` shows. Contacts that are the same to it are explained once. */
async function countReasons(tx: WorkspaceTx, campaign: CampaignRow, { now, ...terms }: Terms) {
  const situation = await situationOf(tx, campaign, now, terms);
  const zones = await laneZones(tx, campaign);
  const { rows } = await sql<Group>`
    select state, lane, reason, phone_number = any(${situation.trusted}::bigint[]) as trusted,
      min(next_attempt_at) as next_attempt_at, count(*) as count
    from campaign_contacts
    where workspace_id = ${tx.workspaceId} and campaign_id = ${campaign.id} and (state <> 'dialing' or reason is not null)
    group by state, lane, reason, trusted, next_attempt_at <= ${now}`.execute(tx.db);
  const explain = contactExplainer(situation, now);
  const reasons: CampaignReasons = { notYet: {}, never: {}, countedAt: now.toISOString() };
  for (const { state, lane, reason, trusted, next_attempt_at: nextAttemptAt, count } of rows) {
    const { reason: why } = explain({
      ...{ state, reason, nextAttemptAt },
      isTrusted: trusted,
      timezones: zones.get(lane)!,
    });
    if (!why) continue;
    const isLeft = (state === 'pending' || state === 'waiting') && !hasEnded(campaign.status);
    const counts = isLeft ? reasons.notYet : reasons.never;
    counts[why] = (counts[why] ?? 0) + count;
  }
  return reasons;
}
