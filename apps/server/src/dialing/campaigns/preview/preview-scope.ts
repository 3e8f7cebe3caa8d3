import type { WorkspaceTx } from '../../../foundation/database/database.ts';
import type { Candidate } from '../../../lines/number-pools/assign-numbers.ts';
import type { CallingArea } from '../../../lines/phone-numbers/may-call.ts';
import { type DoNotCallUploads, readDoNotCallUploads } from '../../../platform/do-not-call/do-not-call-numbers.ts';
import { callingArea } from '../../calls/may-dial.ts';
import { type ContactReason, campaignReason, hasEnded } from '../explain-contact.ts';
import type { CampaignRow } from '../shape-campaign.ts';
import { type Situation, type SituationTerms, situationOf } from '../situation.ts';
import { contactUploads } from '../store.ts';
import { previewCallers } from './preview-callers.ts';

/** What a dry run looks at. */
export interface PreviewScope {
  campaign: CampaignRow;
  situation: Situation;
  /** The uploads that would be read; undefined once the campaign has contacts of its own. */
  uploads: string[] | undefined;
  doNotCallUploads: DoNotCallUploads;
  /** The uploads that say who has agreed to be called; undefined where that isn't asked. */
  consentUploads: string[] | undefined;
  /** The numbers that would call. */
  callers: Candidate[];
  /** Where the workspace and the numbers may call. */
  area: CallingArea;
  /** Why nobody would be called at all. */
  nobody: ContactReason | undefined;
  /** The time from which on it would call. */
  at: Date;
}

/** Numbers of which each stands for all: they begin alike, and have the same time zone of their own. */
export interface NumberGroup {
  example: number;
  count: number;
  timezone: string | null;
}

/** What a dry run of a campaign looks at now; before its start, at the time of that. */
export async function previewScope(
  tx: WorkspaceTx,
  campaign: CampaignRow,
  sampleSize: number,
  { now, ...terms }: SituationTerms & { now: Date },
): Promise<PreviewScope> {
  const isBeforeStart = campaign.status === 'draft' || campaign.status === 'scheduled';
  const startsAt = Math.max(now.getTime(), campaign.scheduled_at?.getTime() ?? 0, campaign.start_date?.getTime() ?? 0);
  const at = isBeforeStart ? new Date(startsAt) : now;
  const situation = await situationOf(tx, campaign, at, terms);
  const { providers } = terms;
  const { candidates, countries, canStart } = await previewCallers(tx, campaign, { most: sampleSize, at, providers });
  const hasContacts = !isBeforeStart || campaign.redial_of !== null;
  const uploads = !hasContacts || campaign.require_consent ? await contactUploads(tx, campaign.id) : undefined;
  return {
    campaign,
    situation,
    uploads: hasContacts ? undefined : uploads,
    consentUploads: campaign.require_consent ? uploads : undefined,
    doNotCallUploads: await readDoNotCallUploads(tx, campaign.id),
    callers: candidates,
    area: callingArea(situation.workspace, countries, campaign.from_number),
    nobody: nobodyReason(situation, isBeforeStart, canStart),
    at,
  };
}

/** A campaign that was started waits for its number; one that wasn't would be refused. */
function nobodyReason(situation: Situation, isBeforeStart: boolean, canCall: boolean): ContactReason | undefined {
  if (hasEnded(situation.status)) return campaignReason(situation);
  return isBeforeStart && !canCall ? 'no_caller_id' : undefined;
}
