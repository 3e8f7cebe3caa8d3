import { sql } from 'kysely';
import type { EngineTx, Tx } from '../../foundation/database/database.ts';
import type { Row } from '../../foundation/database/schema.ts';
import { type CallingHours, neverOpenTogether, nextCallingWindow } from '../calls/calling-hours.ts';
import { closedHours, type QuietHoursRow, withoutDefault } from '../calls/quiet-hours.ts';
import { areReadable, type ContactZones, zonesKey } from '../calls/zones-of-contact.ts';
import type { CampaignKey } from './campaign.ts';

/** The current or next window of a lane. */
export interface LaneWindow {
  opensAt: Date;
  closesAt: Date;
  /** Why its contacts are left out, as in a window: its zones are never open together, or no zones. */
  leftOut: 'no_common_hour' | 'invalid_time_zone' | undefined;
}

/** A set of time zones of a campaign's contacts, with its window. */
export interface Lane extends LaneWindow {
  lane: number;
  /** Where its contacts may be: IANA names, at least one. */
  timezones: readonly string[];
  /** The window of calls that are free of quiet hours that nobody has set. */
  free: LaneWindow;
}

/** Whether calls may be placed in a window at a time. */
export const isOpen = ({ opensAt, closesAt }: LaneWindow, now: Date): boolean => opensAt <= now && closesAt > now;

/** The hours of a campaign, as its row holds them. */
export type ScheduleRow = Pick<
  Row<'campaigns'>,
  'schedule_start' | 'schedule_end' | 'schedule_days' | 'calling_windows' | 'holidays'
>;

/** When a campaign's contacts may be called. */
export function callingHours(campaign: ScheduleRow, workspace: QuietHoursRow): CallingHours {
  const { schedule_start: start, schedule_end: end, schedule_days: days } = campaign;
  return {
    windows: campaign.calling_windows ?? [{ days, start: start ?? 0, end: end ?? 1440 }],
    ...closedHours(workspace, campaign.holidays),
  };
}

/** A lane as it stands in the database, with the quiet hours of its workspace where its window is over. */
export type LaneRow = QuietHoursRow &
  Pick<
    Row<'campaign_lanes'>,
    | ('lane' | 'timezones' | 'opens_at' | 'closes_at' | 'has_common_hour')
    | ('free_opens_at' | 'free_closes_at' | 'free_has_common_hour')
  >;

/**
 * Reads a campaign's lanes, of which `currentLanes` makes what they are now. The caller holds the campaign's row, or has
 * asked for it in the same write. The quiet hours are read with the lanes: those of an earlier statement may be older than
 * the change that had these windows forgotten. 8 buffers for three lanes.
 */
export async function readLanes(tx: EngineTx, { workspaceId, campaignId }: CampaignKey, now: Date): Promise<LaneRow[]> {
  const isOver = sql`least(l.closes_at, l.free_closes_at) <= ${now}`;
  const { rows } = await sql<LaneRow>`
    select l.lane, l.timezones, l.opens_at, l.closes_at, l.has_common_hour, l.free_opens_at, l.free_closes_at,
      l.free_has_common_hour, w.quiet_hours_start, w.quiet_hours_end, w.quiet_hours_are_default,
      case when ${isOver} then w.quiet_windows end as quiet_windows, case when ${isOver} then w.holidays end as holidays
    from campaign_lanes l join workspaces w on w.id = l.workspace_id
    where l.workspace_id = ${workspaceId} and l.campaign_id = ${campaignId} order by l.lane`.execute(tx.db);
  return rows;
}

/** The windows of a lane as they stand in its row, while neither is over. */
function windowsOf(row: LaneRow, now: Date): (LaneWindow & { free: LaneWindow }) | undefined {
  const leftOut = (hasCommonHour: boolean) => (hasCommonHour ? undefined : 'no_common_hour');
  const { opens_at: opensAt, closes_at: closesAt, free_opens_at, free_closes_at } = row;
  if (closesAt <= now || (free_closes_at && free_closes_at <= now)) return undefined;
  const window: LaneWindow = { opensAt, closesAt, leftOut: leftOut(row.has_common_hour) };
  if (!free_opens_at || !free_closes_at) return { ...window, free: window };
  const ofFree = leftOut(row.free_has_common_hour ?? true);
  return { ...window, free: { opensAt: free_opens_at, closesAt: free_closes_at, leftOut: ofFree } };
}

/** The window of some hours that is open now, or the next one. */
function windowAt(hours: CallingHours, timezones: readonly string[], now: Date): LaneWindow {
  const window = nextCallingWindow(hours, timezones, now);
  if (!neverOpenTogether(hours, timezones, window, now)) return { ...window, leftOut: undefined };
  return { ...window, opensAt: now, leftOut: 'no_common_hour' };
}

/** Writes windows into the rows of their lanes. */
async function keepWindows(tx: EngineTx, { workspaceId, campaignId }: CampaignKey, lanes: readonly Lane[]) {
  const free = lanes.map((lane) => (lane.free.closesAt === lane.closesAt ? undefined : lane.free));
  await sql`
    update campaign_lanes l set opens_at = x.opens_at, closes_at = x.closes_at, has_common_hour = x.has_common_hour,
      free_opens_at = x.free_opens_at, free_closes_at = x.free_closes_at, free_has_common_hour = x.free_has_common_hour
    from unnest(${lanes.map((lane) => lane.lane)}::smallint[], ${lanes.map((lane) => lane.opensAt)}::timestamptz[],
      ${lanes.map((lane) => lane.closesAt)}::timestamptz[], ${lanes.map((lane) => !lane.leftOut)}::boolean[],
      ${free.map((each) => each?.opensAt ?? null)}::timestamptz[],
      ${free.map((each) => each?.closesAt ?? null)}::timestamptz[], ${free.map((each) => (each ? !each.leftOut : null))}::boolean[])
      as x (lane, opens_at, closes_at, has_common_hour, free_opens_at, free_closes_at, free_has_common_hour)
    where l.workspace_id = ${workspaceId} and l.campaign_id = ${campaignId} and l.lane = x.lane`.execute(tx.db);
}

/** When a lane whose contacts are left out is looked at again. */
const laterBy = (now: Date) => new Date(now.getTime() + 8 * 24 * 3600 * 1000);

/** The lanes of a campaign whose row the caller holds; windows that are over are computed anew. */
export async function currentLanes(
  tx: EngineTx,
  campaign: ScheduleRow & { workspace_id: string; id: string; timezone: string },
  rows: readonly LaneRow[],
  now: Date,
): Promise<Lane[]> {
  const { workspace_id: workspaceId, id: campaignId } = campaign;
  const known = rows.map((row) => windowsOf(row, now));
  const lanes = rows.map((row, at): Lane => {
    const timezones = row.timezones.length > 0 ? row.timezones : [campaign.timezone];
    const lane = { lane: row.lane, timezones };
    if (!areReadable(timezones)) {
      const window: LaneWindow = { opensAt: now, closesAt: laterBy(now), leftOut: 'invalid_time_zone' };
      return { ...lane, ...window, free: window };
    }
    if (known[at]) return { ...lane, ...known[at] };
    const window = windowAt(callingHours(campaign, row), timezones, now);
    if (!row.quiet_hours_are_default) return { ...lane, ...window, free: window };
    return { ...lane, ...window, free: windowAt(callingHours(campaign, withoutDefault(row)), timezones, now) };
  });
  const renewed = lanes.filter(({ leftOut }, at) => !known[at] || (rows[at]!.has_common_hour && leftOut));
  if (renewed.length > 0) await keepWindows(tx, { workspaceId, campaignId }, renewed);
  return lanes;
}

/** The lane numbers of some contacts' time zones, by `zonesKey`; those that are new to the campaign get one. */
export async function lanesOf(
  tx: Tx,
  campaign: { workspaceId: string; campaignId: string },
  contacts: readonly ContactZones[],
): Promise<Map<string, number>> {
  const { workspaceId, campaignId } = campaign;
  const wanted = [...new Map(contacts.map((zones) => [zonesKey(zones), zones])).values()];
  await sql`
    insert into campaign_lanes (workspace_id, campaign_id, lane, timezones, is_own, opens_at, closes_at)
    select ${workspaceId}, ${campaignId}, highest.lane + row_number() over (), x.timezones, x."isOwn", 'epoch', 'epoch'
    from json_to_recordset(${JSON.stringify(wanted)}) as x (timezones text[], "isOwn" boolean),
      (select coalesce(max(lane), 0) as lane from campaign_lanes
        where workspace_id = ${workspaceId} and campaign_id = ${campaignId}) as highest
    where not exists (select from campaign_lanes l where l.workspace_id = ${workspaceId}
      and l.campaign_id = ${campaignId} and l.timezones = x.timezones and l.is_own = x."isOwn")`.execute(tx.db);
  const { rows } = await sql<ContactZones & { lane: number }>`
    select lane, timezones, is_own as "isOwn" from campaign_lanes
    where workspace_id = ${workspaceId} and campaign_id = ${campaignId}`.execute(tx.db);
  return new Map(rows.map((row) => [zonesKey(row), row.lane]));
}
