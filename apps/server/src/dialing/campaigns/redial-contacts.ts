import { sql } from 'kysely';
import { NIL } from 'uuid';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import type { Made } from '../../foundation/database/idempotency-keys.ts';
import { answerOnce } from '../../foundation/database/kept-answers.ts';
import type { Secrets } from '../../foundation/database/secrets.ts';
import { digestAsSent } from '../../foundation/values/as-sent.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { fromId, newUuid, toId } from '../../foundation/values/ids.ts';
import { existing, ServiceError } from '../../foundation/values/service-error.ts';
import { type AuditEntry, audit } from '../../platform/journal/record.ts';
import type { CampaignDeps } from './deps.ts';
import { recordCampaignStatus } from './record-campaign.ts';
import { type CampaignRow, shapeCampaign } from './shape-campaign.ts';
import { findCampaign, lockCampaign } from './store.ts';

type Redial = components['schemas']['CampaignRedial'];
type RedialInput = components['schemas']['RedialContacts'];
type Wanted = Required<RedialInput>;
type Counts = Pick<Redial, 'contacts' | 'outcomes'>;

/** How the last calls of those ended who are redialled if nothing is said. */
const notReached = ['no_answer', 'busy', 'voicemail'] as const;
const SUFFIX = ' (redial)';
const LONGEST_NAME = 255;

/** Who asks for a redial, and how. */
interface Asking {
  idempotencyKey: string | undefined;
  /** The audit entry of the key, given the campaign that calls. */
  auditEntryOf: (campaignId: string) => AuditEntry;
}

/**
 * Has a campaign call those again whom it has not reached: they wait again, or of an ended campaign become those of a new
 * draft. Redials of a campaign come one after another, so that nobody is taken twice, however often it is asked. Its row is
 * locked only at the end: 100,000 contacts take seconds, for which claims and ends of calls would wait. Throws `not_found`,
 * `invalid_state` for a campaign that has called nobody yet, `idempotency_key_reused`, and `unavailable` if the campaign has
 * ended meanwhile, or somebody of it was erased.
 */
export async function redialContacts(
  deps: CampaignDeps & { secrets: Secrets },
  workspaceId: string,
  campaignId: string,
  input: RedialInput,
  { idempotencyKey, auditEntryOf }: Asking,
): Promise<Made<Redial>> {
  const { database, clock, secrets, nudge } = deps;
  const now = clock.now();
  const wanted = { outcomes: input.outcomes ?? [...notReached], dryRun: input.dryRun ?? false };
  const request = { campaignId, body: digestAsSent(input) };
  const named =
    idempotencyKey && !wanted.dryRun
      ? { operation: 'redialCampaignContacts', key: idempotencyKey, request, resourceId: newUuid(), now, secrets }
      : undefined;
  const made = await database.inWorkspace(
    workspaceId,
    (tx) =>
      answerOnce<Redial, Counts & { campaignId?: string }>(
        tx,
        named,
        async () => {
          if (wanted.dryRun) return countChosen(tx, await existing(findCampaign(tx, campaignId)), wanted);
          // Contacts are added, and a campaign is deleted, under this lock too.
          await sql`select pg_advisory_xact_lock(hashtextextended(${campaignId}, 0))`.execute(tx.db);
          const campaign = await existing(findCampaign(tx, campaignId));
          const redial = isActive(campaign) ? waitAgain : makeDraft;
          return redial(tx, campaign, wanted, { now, auditEntryOf });
        },
        ({ contacts, outcomes, campaign }) => ({ contacts, outcomes, ...(campaign && { campaignId: campaign.id }) }),
        async ({ campaignId: calling, ...counts }) => {
          const campaign = calling && (await findCampaign(tx, fromId(calling)));
          return { ...counts, ...(campaign && { campaign: shapeCampaign(campaign) }) };
        },
      ),
    { mayTakeLong: true },
  );
  nudge();
  return made;
}

function isActive({ status }: CampaignRow): boolean {
  if (status === 'running' || status === 'paused') return true;
  if (status === 'completed' || status === 'stopped') return false;
  const is = status === 'draft' ? 'a draft' : status;
  throw new ServiceError('invalid_state', `Only who was called can be redialled; this campaign is ${is}.`);
}

/**
 * SQL for whether a contact `c` is redialled: whose trunk was at fault is skipped as `no_caller_id`. Who is in a redial of the
 * campaign that calls, or was called by one that has ended, is not.
 */
const isChosen = (tx: WorkspaceTx, campaign: CampaignRow, { outcomes }: Wanted) => sql`
  c.workspace_id = ${tx.workspaceId} and c.campaign_id = ${campaign.id} and c.state in ('done', 'skipped')
  and c.last_outcome = any(${outcomes}::text[])
  and (c.state = 'done' and c.reason is distinct from 'abandoned' or c.reason = 'no_caller_id')
  and not exists (select from campaigns p
    join campaign_contacts k on k.workspace_id = p.workspace_id and k.campaign_id = p.id and k.phone_number = c.phone_number
    where p.workspace_id = c.workspace_id and p.redial_of = c.campaign_id
      and (p.status in ('draft', 'scheduled', 'running', 'paused') or k.attempt > 0))`;

const countsOf = (rows: readonly { outcome: string; count: number }[]): Counts => {
  const outcomes: Record<string, number> = {};
  for (const { outcome, count } of rows) outcomes[outcome] = (outcomes[outcome] ?? 0) + count;
  return { contacts: rows.reduce((sum, { count }) => sum + count, 0), outcomes };
};

async function countChosen(tx: WorkspaceTx, campaign: CampaignRow, wanted: Wanted): Promise<Counts> {
  isActive(campaign);
  const { rows } = await sql<{ outcome: string; count: number }>`
    select c.last_outcome as outcome, count(*) as count from campaign_contacts c
    where ${isChosen(tx, campaign, wanted)} group by c.last_outcome`.execute(tx.db);
  return countsOf(rows);
}

/** Locks the row of a campaign whose contacts were taken; all is undone if it is no more as it was then. */
async function lockAsFound(tx: WorkspaceTx, found: CampaignRow): Promise<void> {
  const campaign = await existing(lockCampaign(tx, found.id));
  if (isActive(campaign) === isActive(found) && campaign.total_contacts === found.total_contacts) return;
  throw new ServiceError('unavailable', 'The campaign has changed meanwhile. Send the request again.');
}

interface Doing {
  now: Date;
  auditEntryOf: Asking['auditEntryOf'];
}

async function waitAgain(
  tx: WorkspaceTx,
  campaign: CampaignRow,
  wanted: Wanted,
  { now, auditEntryOf }: Doing,
): Promise<Redial> {
  const { workspaceId } = tx;
  const { rows } = await sql<{ state: 'done' | 'skipped'; outcome: string; count: number }>`
    with chosen as materialized (
        select c.ctid as place, c.state, c.last_outcome from campaign_contacts c
        where ${isChosen(tx, campaign, wanted)} for update),
      moved as (
        update campaign_contacts c set state = 'waiting', next_attempt_at = ${now}, reason = null
        from chosen where c.ctid = chosen.place and c.state in ('done', 'skipped')
        returning chosen.state, chosen.last_outcome)
    select state, last_outcome as outcome, count(*) as count from moved group by state, last_outcome`.execute(tx.db);
  const counts = countsOf(rows);
  if (counts.contacts === 0) return counts;
  const skipped = rows.reduce((sum, { state, count }) => sum + (state === 'skipped' ? count : 0), 0);
  // Against the order of locks: who holds the row and waits for one of the contacts is undone, or this is, and done again.
  await lockAsFound(tx, campaign);
  await sql`
    update campaigns set done = done - ${counts.contacts - skipped}, skipped = skipped - ${skipped},
      waiting = waiting + ${counts.contacts}, next_claim_at = 'epoch', revision = revision + 1
    where workspace_id = ${workspaceId} and id = ${campaign.id}`.execute(tx.db);
  tx.tell(campaign.id);
  await audit(tx, auditEntryOf(toId('cmp', campaign.id)), now);
  const after = await existing(findCampaign(tx, campaign.id));
  return { ...counts, campaign: shapeCampaign(after) };
}

async function makeDraft(
  tx: WorkspaceTx,
  campaign: CampaignRow,
  wanted: Wanted,
  { now, auditEntryOf }: Doing,
): Promise<Redial> {
  const { workspaceId } = tx;
  const { rows } = await sql<{ id: string; outcome: string }>`
    select c.id, c.last_outcome as outcome from campaign_contacts c
    where ${isChosen(tx, campaign, wanted)} order by c.id`.execute(tx.db);
  const counts = countsOf(rows.map(({ outcome }) => ({ outcome, count: 1 })));
  if (rows.length === 0) return counts;
  const id = newUuid();
  await copyCampaign(tx, campaign, { id, contacts: rows.length, now });
  await sql`
    insert into campaign_lists (workspace_id, campaign_id, list_id, role, position)
    select workspace_id, ${id}, list_id, role, position from campaign_lists
    where workspace_id = ${workspaceId} and campaign_id = ${campaign.id}`.execute(tx.db);
  // Its hours may be changed before it starts: lanes are made anew then.
  await sql`
    insert into campaign_lanes (workspace_id, campaign_id, lane, timezones, opens_at, closes_at, is_own)
    select workspace_id, ${id}, lane, timezones, 'epoch', 'epoch', is_own from campaign_lanes
    where workspace_id = ${workspaceId} and campaign_id = ${campaign.id}`.execute(tx.db);
  await sql`
    insert into campaign_contacts (workspace_id, campaign_id, id, list_id, phone_number, name, "values", lane, state,
      next_attempt_at, external_id, metadata)
    select c.workspace_id, ${id}, x.id, c.list_id, c.phone_number, c.name, c."values", c.lane, 'pending', ${now},
      c.external_id, c.metadata
    from unnest(${rows.map((row) => row.id)}::uuid[], ${rows.map(newUuid)}::uuid[]) as x (of_id, id)
    join campaign_contacts c on c.workspace_id = ${workspaceId} and c.campaign_id = ${campaign.id} and c.id = x.of_id`.execute(
    tx.db,
  );
  // An erasure has not seen the draft before.
  await lockAsFound(tx, campaign);
  const draft = await recordCampaignStatus(tx, id, now, auditEntryOf(toId('cmp', id)));
  return { ...counts, campaign: shapeCampaign(draft) };
}

/** Makes a draft with the settings of a campaign, but for its times. */
async function copyCampaign(
  { db, workspaceId }: WorkspaceTx,
  campaign: CampaignRow,
  { id, contacts, now }: { id: string; contacts: number; now: Date },
): Promise<void> {
  await db
    .insertInto('campaigns')
    .values({
      workspace_id: workspaceId,
      id,
      redial_of: campaign.id,
      name: `${campaign.name.slice(0, LONGEST_NAME - SUFFIX.length)}${SUFFIX}`,
      status: 'draft',
      total_contacts: contacts,
      pending: contacts,
      relaning_after: NIL,
      description: campaign.description,
      agent_id: campaign.agent_id,
      agent_name: campaign.agent_name,
      direction: campaign.direction,
      phone_number_id: campaign.phone_number_id,
      number_pool_id: campaign.number_pool_id,
      timezone: campaign.timezone,
      schedule_start: campaign.schedule_start,
      schedule_end: campaign.schedule_end,
      schedule_days: campaign.schedule_days,
      calling_windows: campaign.calling_windows && JSON.stringify(campaign.calling_windows),
      callee_time_zone: campaign.callee_time_zone,
      holidays: campaign.holidays,
      max_concurrency: campaign.max_concurrency,
      calls_per_second: campaign.calls_per_second,
      retry_policy: campaign.retry_policy,
      abandoned_retry_hours: campaign.abandoned_retry_hours,
      target_call_count: campaign.target_call_count,
      target_conversion_rate: campaign.target_conversion_rate,
      budget_calls: campaign.budget_calls,
      budget_minutes: campaign.budget_minutes,
      ring_timeout_seconds: campaign.ring_timeout_seconds,
      max_call_seconds: campaign.max_call_seconds,
      recording: campaign.recording,
      voicemail_terms: campaign.voicemail_terms && JSON.stringify(campaign.voicemail_terms),
      voicemail_counts: campaign.voicemail_counts,
      require_consent: campaign.require_consent,
      tags: campaign.tags,
      created_at: now,
      updated_at: now,
    })
    .execute();
}
