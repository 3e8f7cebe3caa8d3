import { sql } from 'kysely';
import { dialRefusal } from '../../calls/may-dial.ts';
import { zonesOfContact } from '../../calls/zones-of-contact.ts';
import type { WorkspaceTx } from '../../database/database.ts';
import { doNotCallNumbers, isErasedDoNotCall } from '../../do-not-call/do-not-call-numbers.ts';
import { type ContactReason, whyClosed } from '../explain-contact.ts';
import type { PreviewScope } from './preview-scope.ts';

/** How many numbers of each kind of left-out contacts are named, to be shown. */
const EXAMPLES = 25;

/** Who is left to call. */
export interface LeftCounts {
  callable: number;
  leftOut: Partial<Record<ContactReason, number>>;
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
    return { callable: 0, leftOut, examples: [] };
  }
  const { total, blocked, examples } = await countBlocked(tx, scope);
  const refused = await countRefused(tx, scope);
  const callable = refused.reduce((left, { count }) => left - count, total - blocked);
  add('do_not_call', blocked);
  for (const { reason, count } of refused) add(reason, count);
  if (scope.nobody) add(scope.nobody, callable);
  const others = refused.slice(0, EXAMPLES).map(({ example }) => example);
  return { callable: scope.nobody ? 0 : callable, leftOut, examples: [...examples, ...others] };
}

/** The numbers of a campaign that are to be called, each once. */
function numbersLeft(tx: WorkspaceTx, { campaign, uploads }: PreviewScope) {
  if (!uploads) {
    return sql`select c.phone_number, l.is_own as has_zone from campaign_contacts c
      join campaign_lanes l on l.workspace_id = c.workspace_id and l.campaign_id = c.campaign_id and l.lane = c.lane
      where c.workspace_id = ${tx.workspaceId} and c.campaign_id = ${campaign.id} and c.state in ('pending', 'waiting')`;
  }
  const entries = sql`from contact_list_entries
    where workspace_id = ${tx.workspaceId} and upload_id = any(${uploads}::uuid[])`;
  return uploads.length > 1
    ? sql`select phone_number, bool_or(timezone is not null) as has_zone ${entries} group by phone_number`
    : sql`select phone_number, timezone is not null as has_zone ${entries}`;
}

const blockedNumbers = (tx: WorkspaceTx, scope: PreviewScope) => sql`
  select distinct phone_number from (
    ${doNotCallNumbers(sql`${tx.workspaceId}`, sql`${scope.doNotCallUploads}`)}
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

/**
 * Counts the numbers that are refused, though they are on no do-not-call list, or may be in time zones that no hour is
 * common to. A number's first digits decide it: the area code in North America, six digits elsewhere; so only one number of
 * each such group is looked up. The number that calls is a group of its own. (A list holds no number that no plan has.)
 */
async function countRefused(tx: WorkspaceTx, scope: PreviewScope) {
  const { rows } = await sql<{ example: number; count: number; has_zone: boolean }>`
    select min(n.phone_number) as example, count(*) as count, n.has_zone
    from (${numbersLeft(tx, scope)}) as n left join (${blockedNumbers(tx, scope)}) as b using (phone_number)
    where b.phone_number is null
    group by n.has_zone, n.phone_number is not distinct from ${scope.area.caller ?? null}::bigint, left(n.phone_number::text, case when n.phone_number::text like '1%' then 4 else 6 end)`.execute(
    tx.db,
  );
  const known = new Map<string, boolean>();
  return rows.flatMap(({ example, count, has_zone }) => {
    const reason =
      dialRefusal(example, false, scope.area) ?? (has_zone ? undefined : noCommonHour(scope, example, known));
    return reason ? [{ reason, example, count }] : [];
  });
}

/** `known` keeps the answer of each set of time zones. */
function noCommonHour({ campaign, situation, at }: PreviewScope, number: number, known: Map<string, boolean>) {
  const { timezones } = zonesOfContact(campaign.callee_time_zone, null, number);
  const key = timezones.join();
  if (!known.has(key)) known.set(key, whyClosed(situation.hours, timezones, at) === 'no_common_hour');
  return known.get(key) ? ('no_common_hour' as const) : undefined;
}

async function skippedByReason(tx: WorkspaceTx, { campaign }: PreviewScope): Promise<LeftCounts['leftOut']> {
  if (campaign.skipped === 0) return {};
  const { rows } = await sql<{ reason: ContactReason; count: number }>`
    select reason, count(*) as count from campaign_contacts
    where workspace_id = ${tx.workspaceId} and campaign_id = ${campaign.id} and state = 'skipped' and reason is not null
    group by reason`.execute(tx.db);
  return Object.fromEntries(rows.map(({ reason, count }) => [reason, count]));
}
