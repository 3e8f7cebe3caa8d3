import { sql } from 'kysely';
import type { WorkspaceTx } from '../../../foundation/database/database.ts';
import { doNotCallNumbers, isErasedDoNotCall } from '../../../platform/do-not-call/do-not-call-numbers.ts';
import { zonesOfContact } from '../../calls/zones-of-contact.ts';
import { consentOfEntries, contactRefusal } from '../contact-refusal.ts';
import { type ContactReason, whyClosed } from '../explain-contact.ts';
import { type LocalHours, localHours } from './local-hours.ts';
import type { NumberGroup, PreviewScope } from './preview-scope.ts';
import { type SharedHours, sharedHours } from './shared-hours.ts';

/** How many numbers of each kind of left-out contacts are named, to be shown. */
const EXAMPLES = 25;

/** Who is left to call. */
export interface LeftCounts {
  callable: number;
  leftOut: Partial<Record<ContactReason, number>>;
  /** What it costs to call those whose numbers may be in several time zones only while hours are open in all. */
  sharedHours: SharedHours[];
  /** At which hours of their own clocks those who would be called could ring. */
  localHours: LocalHours;
  /** Some of the numbers that are left out. */
  examples: number[];
}

/** Counts the contacts who would be called, and those who wouldn't by reason. */
export async function countWhoIsLeft(tx: WorkspaceTx, scope: PreviewScope): Promise<LeftCounts> {
  const leftOut: LeftCounts['leftOut'] = scope.uploads ? {} : await skippedByReason(tx, scope);
  const add = (reason: ContactReason, count: number) => {
    if (count > 0) leftOut[reason] = (leftOut[reason] ?? 0) + count;
  };
  if (scope.nobody && !scope.uploads) {
    add(scope.nobody, scope.campaign.pending + scope.campaign.waiting);
    return { callable: 0, leftOut, sharedHours: [], localHours: localHours([], scope), examples: [] };
  }
  const { total, blocked, examples } = await countBlocked(tx, scope);
  const groups = await groupsLeft(tx, scope);
  const refused = refusedOf(groups, scope);
  const callable = refused.reduce((left, { count }) => left - count, total - blocked);
  add('do_not_call', blocked);
  for (const { reason, count } of refused) add(reason, count);
  if (scope.nobody) add(scope.nobody, callable);
  const others = refused.slice(0, EXAMPLES).map(({ example }) => example);
  const called = scope.nobody ? [] : calledOf(groups, refused);
  return {
    callable: scope.nobody ? 0 : callable,
    leftOut,
    sharedHours: sharedHours(called, scope),
    localHours: localHours(called, scope),
    examples: [...examples, ...others],
  };
}

function calledOf(groups: readonly NumberGroup[], refused: readonly NumberGroup[]): NumberGroup[] {
  const notCalled = new Set(refused.map(({ example }) => example));
  return groups.filter(({ example }) => !notCalled.has(example));
}

/** At which hours of their own clocks those could ring whom a campaign would call. */
export async function readLocalHours(tx: WorkspaceTx, scope: PreviewScope): Promise<LocalHours> {
  const groups = scope.nobody ? [] : await groupsLeft(tx, scope);
  return localHours(calledOf(groups, refusedOf(groups, scope)), scope);
}

/** The numbers of a campaign that are to be called, each once. */
function numbersLeft(tx: WorkspaceTx, { campaign, uploads }: PreviewScope) {
  if (!uploads) {
    return sql`select c.phone_number, case when l.is_own then l.timezones[1] end as timezone from campaign_contacts c
      join campaign_lanes l on l.workspace_id = c.workspace_id and l.campaign_id = c.campaign_id and l.lane = c.lane
      where c.workspace_id = ${tx.workspaceId} and c.campaign_id = ${campaign.id} and c.state in ('pending', 'waiting')`;
  }
  const entries = sql`from contact_list_entries
    where workspace_id = ${tx.workspaceId} and upload_id = any(${uploads}::uuid[])`;
  return uploads.length > 1
    ? sql`select phone_number, max(timezone) as timezone ${entries} group by phone_number`
    : sql`select phone_number, timezone ${entries}`;
}

/** SQL for the numbers of a campaign that are not to be called. */
export const blockedNumbers = (tx: WorkspaceTx, scope: PreviewScope) => sql`
  select distinct phone_number from (
    ${doNotCallNumbers(sql`${tx.workspaceId}`, scope.doNotCallUploads)}
    union all
    select phone_number from (${numbersLeft(tx, scope)}) as n
    where ${isErasedDoNotCall(sql.ref('n.phone_number'), sql`${tx.workspaceId}::uuid`)}) as d`;

async function countBlocked(tx: WorkspaceTx, scope: PreviewScope) {
  const { rows } = await sql<{ total: number; blocked: number; examples: number[] | null }>`
    select count(*) as total, count(b.phone_number) as blocked,
      (array_agg(b.phone_number) filter (where b.phone_number is not null))[1:${sql.lit(EXAMPLES)}] as examples
    from (${numbersLeft(tx, scope)}) as n left join (${blockedNumbers(tx, scope)}) as b using (phone_number)`.execute(
    tx.db,
  );
  const { total, blocked, examples } = rows[0]!;
  return { total, blocked, examples: examples ?? [] };
}

interface JudgedGroup extends NumberGroup {
  /** Whether they have agreed to be called; true where that isn't asked. */
  consented: boolean;
}

/** SQL for the numbers of which the lists of a campaign say that they have agreed to be called. */
const consentingNumbers = (tx: WorkspaceTx, uploads: readonly string[]) => sql`
  select said.phone_number, true as consented from contact_list_entries said
  where said.workspace_id = ${tx.workspaceId} and said.upload_id = any(${uploads}::uuid[]) and said.consent is not null
  group by said.phone_number having ${consentOfEntries}`;

/**
 * The numbers that are on no do-not-call list, in groups. A number's first digits decide whether it is refused, and in which
 * time zones it may be: the area code in North America, six digits elsewhere; so only one number of each such group is looked
 * up. The number that calls is a group of its own, and so are trusted numbers. (A list holds no number that no plan has.)
 */
async function groupsLeft(tx: WorkspaceTx, scope: PreviewScope): Promise<JudgedGroup[]> {
  const asked = scope.consentUploads;
  const consented = asked ? sql`coalesce(k.consented, false)` : sql`true`;
  const { rows } = await sql<JudgedGroup>`
    select min(n.phone_number) as example, count(*) as count, n.timezone, ${consented} as consented
    from (${numbersLeft(tx, scope)}) as n left join (${blockedNumbers(tx, scope)}) as b using (phone_number)
      ${asked ? sql`left join (${consentingNumbers(tx, asked)}) as k using (phone_number)` : sql``}
    where b.phone_number is null
    group by n.timezone, ${asked ? sql`k.consented,` : sql``} n.phone_number = any(${scope.situation.trusted}::bigint[]), n.phone_number is not distinct from ${scope.area.caller ?? null}::bigint, left(n.phone_number::text, case when n.phone_number::text like '1%' then 4 else 6 end)`.execute(
    tx.db,
  );
  return rows;
}

/** Those groups whose numbers are refused, or whose time zones no hour is common to or nobody can read. */
function refusedOf(groups: readonly JudgedGroup[], { campaign, situation, area, at }: PreviewScope) {
  const known = new Map<string, ContactReason | undefined>();
  return groups.flatMap((group) => {
    const zones = zonesOfContact(campaign.callee_time_zone, group.timezone, group.example).timezones;
    const timezones = zones.length > 0 ? zones : [campaign.timezone];
    const isTrusted = situation.trusted.includes(group.example);
    const key = `${isTrusted} ${timezones.join()}`;
    const hours = isTrusted ? situation.freeHours : situation.hours;
    if (!known.has(key)) known.set(key, leftOutBy(whyClosed(hours, timezones, at)));
    const contact = { phone_number: group.example, do_not_call: false, consented: group.consented };
    const reason = contactRefusal(contact, area) ?? known.get(key);
    return reason ? [{ ...group, reason }] : [];
  });
}

const leftOutBy = (why: ContactReason | undefined): ContactReason | undefined =>
  why === 'no_common_hour' || why === 'invalid_time_zone' ? why : undefined;

async function skippedByReason(tx: WorkspaceTx, { campaign }: PreviewScope): Promise<LeftCounts['leftOut']> {
  if (campaign.skipped === 0) return {};
  const { rows } = await sql<{ reason: ContactReason; count: number }>`
    select reason, count(*) as count from campaign_contacts
    where workspace_id = ${tx.workspaceId} and campaign_id = ${campaign.id} and state = 'skipped' and reason is not null
    group by reason`.execute(tx.db);
  return Object.fromEntries(rows.map(({ reason, count }) => [reason, count]));
}
