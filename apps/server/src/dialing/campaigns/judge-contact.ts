import { sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { isDoNotCall } from '../../platform/do-not-call/do-not-call-numbers.ts';
import type { AttemptLimits } from '../../platform/workspace/limits.ts';
import { numbersAtLimit } from '../calls/attempt-limits.ts';
import { fromE164 } from '../calls/call.ts';
import { contactRefusal, hasConsent } from './contact-refusal.ts';
import { type ContactReason, hasEnded } from './explain-contact.ts';
import { contactPage, laneZones } from './list-contacts.ts';
import { previewScope } from './preview/preview-scope.ts';
import type { CampaignRow } from './shape-campaign.ts';
import type { SituationTerms } from './situation.ts';

type CampaignContact = components['schemas']['CampaignContact'];

/** Whether a campaign can call a contact now, and why not. */
export interface ContactVerdict {
  contact: CampaignContact;
  callableNow: boolean;
  reason?: ContactReason;
  /** When it can be at the earliest. */
  nextAttemptAt?: string;
}

const ONE = { page: 1, perPage: 1, order: 'asc', searchText: undefined, states: undefined, reason: undefined } as const;

/**
 * Judges one contact as a claim would now: beside what the contact shows, who is not to be called, who has not agreed, where
 * nobody may be called, the caps per person, and who is on another call.
 */
export async function judgeContact(
  tx: WorkspaceTx,
  campaign: CampaignRow,
  { id, lane }: { id: string; lane: number },
  terms: SituationTerms & { now: Date },
): Promise<ContactVerdict> {
  const [contact] = (await contactPage(tx, campaign, { ...ONE, ids: [id] }, terms)).rows;
  const { state, reason, nextAttemptAt } = contact!;
  const shown = { contact: contact!, ...(reason && { reason }), ...(nextAttemptAt && { nextAttemptAt }) };
  const isLeft = (state === 'pending' || state === 'waiting') && !hasEnded(campaign.status);
  if (!isLeft) return { ...shown, callableNow: false };
  const number = fromE164(contact!.phoneNumber);
  const refusal = await refusalOf(tx, campaign, number, terms);
  if (refusal) return { contact: contact!, callableNow: false, reason: refusal };
  const timezones = (await laneZones(tx, campaign)).get(lane)!;
  const until = await freeAt(tx, number, timezones, terms.now);
  if (until && (!nextAttemptAt || until > new Date(nextAttemptAt)))
    return { ...shown, callableNow: false, reason: reason ?? 'limit_reached', nextAttemptAt: until.toISOString() };
  const callableNow = campaign.status === 'running' && reason === undefined;
  if (callableNow && (await isOnACall(tx, number)))
    return { ...shown, callableNow: false, reason: 'already_on_a_call' };
  return { ...shown, callableNow };
}

/** Whether somebody of the workspace calls a number now, whatever for: `calls_live_number` lets nobody else do so. */
async function isOnACall({ db, workspaceId }: WorkspaceTx, number: number): Promise<boolean> {
  const live = await db
    .selectFrom('calls')
    .select('id')
    .where('workspace_id', '=', workspaceId)
    .where('to_number', '=', number)
    .where('direction', '=', 'outbound')
    .where('ended_at', 'is', null)
    .executeTakeFirst();
  return live !== undefined;
}

async function refusalOf(
  tx: WorkspaceTx,
  campaign: CampaignRow,
  number: number,
  terms: SituationTerms & { now: Date },
) {
  const { area, doNotCallUploads } = await previewScope(tx, campaign, 1, terms);
  const [phone, workspace] = [sql`${number}::bigint`, sql`${tx.workspaceId}::uuid`];
  const { rows } = await sql<{ do_not_call: boolean; consented: boolean }>`
    select ${isDoNotCall(phone, workspace, doNotCallUploads)} as do_not_call,
      ${campaign.require_consent ? hasConsent(phone, workspace, sql`${campaign.id}::uuid`) : sql`true`} as consented`.execute(
    tx.db,
  );
  return contactRefusal({ phone_number: number, ...rows[0]! }, area);
}

/** Until when the workspace has called a number as often as it may; nothing if it has not. */
async function freeAt(tx: WorkspaceTx, number: number, timezones: readonly string[], now: Date) {
  const limits: AttemptLimits = await tx.db
    .selectFrom('workspaces')
    .select(['max_attempts_per_person_per_day', 'max_attempts_per_person'])
    .where('id', '=', tx.workspaceId)
    .executeTakeFirstOrThrow();
  return (await numbersAtLimit(tx, tx.workspaceId, limits, [{ toNumber: number, timezones }], now)).get(number);
}
