import { sql } from 'kysely';
import { readTimeZone, timeZoneFault } from '../../audience/contact-lists/reading/time-zone.ts';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import type { Row } from '../../foundation/database/schema.ts';
import { fromId } from '../../foundation/values/ids.ts';
import { type ErrorDetail, notFound, ServiceError } from '../../foundation/values/service-error.ts';
import type { AgentDirectory } from '../../voices/agents/directory.ts';
import type { WeeklyWindow } from '../calls/calling-hours.ts';

/** A contact list and its role, as a request gives them. */
export interface ListInput {
  id: string;
  role: 'contacts' | 'dnd';
}

/** What is checked as a whole, after a change as much as at the creation. */
export type Settings = Pick<
  Row<'campaigns'>,
  'timezone' | 'schedule_start' | 'schedule_end' | 'max_concurrency' | 'scheduled_at' | 'start_date' | 'end_date'
>;

/** When calls are placed, as a request gives it: windows, or the short form of one. */
export interface ScheduleInput {
  callingWindows?: WeeklyWindow[] | null;
  scheduleStart?: number | null;
  scheduleEnd?: number | null;
  scheduleDays?: number[] | null;
}

/** Hours before who answered and found no agent is called again; null for never, and nothing if nothing is said of it. */
export const abandonedRetryHours = (retry: 'none' | { afterHours: number } | undefined): number | null | undefined =>
  typeof retry === 'object' ? retry.afterHours : retry && null;

/** The columns of a budget; nothing if nothing is said of it. */
export const budgetColumns = (budget: { maxCalls?: number; maxMinutes?: number } | null | undefined) =>
  budget !== undefined && { budget_calls: budget?.maxCalls ?? null, budget_minutes: budget?.maxMinutes ?? null };

const isGiven = (value: unknown) => value !== undefined && value !== null;

/** The fault of windows beside their short form. */
export function windowFaults(input: ScheduleInput): ErrorDetail[] {
  const given = (['scheduleStart', 'scheduleEnd', 'scheduleDays'] as const).filter((name) => isGiven(input[name]));
  if (!isGiven(input.callingWindows) || given.length === 0) return [];
  const message = `Set callingWindows or ${given.join(', ')}, not both: say the hours of the latter as a window.`;
  return [{ path: '/body/callingWindows', message }];
}

/** Throws `invalid_request` with every fault. */
export function refuseFaults(faults: ErrorDetail[]): void {
  if (faults.length === 0) return;
  throw new ServiceError('invalid_request', faults[0]!.message, { details: faults });
}

/** What the contract's schema can't say of a campaign's settings. */
export function settingsFaults(settings: Settings, mostConcurrency: number): ErrorDetail[] {
  const faults: ErrorDetail[] = [];
  const { schedule_start: start, schedule_end: end } = settings;
  if ((start === null) !== (end === null)) {
    const missing = start === null ? 'scheduleStart' : 'scheduleEnd';
    faults.push({ path: `/body/${missing}`, message: 'Set both scheduleStart and scheduleEnd, or neither.' });
  } else if (start !== null && end !== null && start >= end) {
    faults.push({
      path: '/body/scheduleEnd',
      message: 'scheduleEnd must be later than scheduleStart. Hours past midnight are said as callingWindows.',
    });
  }
  const { scheduled_at: scheduledAt, start_date: startDate, end_date: endDate } = settings;
  const late =
    endDate &&
    ((startDate && startDate >= endDate && 'startDate') || (scheduledAt && scheduledAt >= endDate && 'scheduledAt'));
  if (late) faults.push({ path: '/body/endDate', message: `endDate must be later than ${late}.` });
  if (readTimeZone(settings.timezone) === undefined) {
    faults.push({ path: '/body/timezone', message: timeZoneFault(settings.timezone) });
  }
  if (settings.max_concurrency > mostConcurrency) {
    faults.push({
      path: '/body/maxConcurrency',
      message: `maxConcurrency can be ${mostConcurrency} at most on this server.`,
    });
  }
  return faults;
}

/** The faults of lists that no database is needed for. */
export function listFaults(lists: readonly ListInput[]): ErrorDetail[] {
  const seen = new Set<string>();
  return lists.flatMap(({ id }, at) => {
    if (!seen.has(id)) {
      seen.add(id);
      return [];
    }
    return [{ path: `/body/lists/${at}/id`, message: 'This list stands in the request twice.' }];
  });
}

/** The agent's name. Throws `invalid_request` for an agent that the directory doesn't know. */
export async function agentName(agents: AgentDirectory, agentId: string, workspaceId: string): Promise<string> {
  const agent = await agents.resolve(agentId, workspaceId);
  if (agent) return agent.name;
  const message = 'There is no such agent.';
  throw new ServiceError('invalid_request', message, { details: [{ path: '/body/agentId', message }] });
}

/** The UUID of one of the workspace's numbers. Throws `not_found`. */
export async function phoneNumberId(tx: WorkspaceTx, phoneNumber: string): Promise<string> {
  const found = await tx.db
    .selectFrom('phone_numbers')
    .select('id')
    .where('workspace_id', '=', tx.workspaceId)
    .where('phone_number', '=', phoneNumber)
    .where(sql<boolean>`status <> 'released'`)
    .forShare()
    .executeTakeFirst();
  if (!found) throw notFound('/body/fromNumber');
  return found.id;
}

/** The UUID of one of the workspace's pools, held until the transaction ends. Throws `not_found`. */
export async function numberPoolId(tx: WorkspaceTx, poolId: string): Promise<string> {
  const found = await tx.db
    .selectFrom('number_pools')
    .select('id')
    .where('workspace_id', '=', tx.workspaceId)
    .where('id', '=', fromId(poolId))
    .forShare()
    .executeTakeFirst();
  if (!found) throw notFound('/body/numberPoolId');
  return found.id;
}

/** Gives a campaign these lists. Throws `not_found` for an unknown list, `invalid_request` for a `dnd` list to be called. */
export async function setLists(tx: WorkspaceTx, campaignId: string, lists: readonly ListInput[]): Promise<void> {
  const rows = await tx.db
    .selectFrom('contact_lists')
    .select(['id', 'type'])
    .where('workspace_id', '=', tx.workspaceId)
    .where(
      'id',
      'in',
      lists.map(({ id }) => fromId(id)),
    )
    .where(sql<boolean>`status <> 'archived'`)
    .orderBy('id')
    .forShare()
    .execute();
  const typeOf = new Map(rows.map((row) => [row.id, row.type]));
  const unknown = lists.findIndex(({ id }) => !typeOf.has(fromId(id)));
  if (unknown !== -1) throw notFound(`/body/lists/${unknown}/id`);
  refuseFaults(
    lists.flatMap(({ id, role }, at) =>
      role === 'contacts' && typeOf.get(fromId(id)) === 'dnd'
        ? [{ path: `/body/lists/${at}/role`, message: 'A list of type dnd can not have the role contacts.' }]
        : [],
    ),
  );
  await tx.db
    .deleteFrom('campaign_lists')
    .where('workspace_id', '=', tx.workspaceId)
    .where('campaign_id', '=', campaignId)
    .execute();
  await tx.db
    .insertInto('campaign_lists')
    .values(
      lists.map(({ id, role }, position) => ({
        workspace_id: tx.workspaceId,
        campaign_id: campaignId,
        list_id: fromId(id),
        role,
        position,
      })),
    )
    .execute();
}
