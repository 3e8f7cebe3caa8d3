import { type RawBuilder, sql } from 'kysely';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import { isOneOf, type Page, type PageQuery, readPage } from '../../foundation/database/page.ts';
import type { ContactState, Row } from '../../foundation/database/schema.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { toId } from '../../foundation/values/ids.ts';
import type { CallOutcome } from '../../lines/telephony/call-outcome.ts';
import { toE164 } from '../calls/call.ts';
import { callVariables } from '../calls/call-variables.ts';
import { type ContactReason, campaignReason, contactExplainer, whyClosed } from './explain-contact.ts';
import type { CampaignRow } from './shape-campaign.ts';
import { type Situation, type SituationTerms, situationOf } from './situation.ts';

type CampaignContact = components['schemas']['CampaignContact'];

/** Which contacts of a campaign are wanted. */
export interface ContactQuery extends PageQuery {
  /** Those in one of these. */
  states: readonly ContactState[] | undefined;
  reason: ContactReason | undefined;
  /** Those of these alone. */
  ids?: readonly string[];
}

type ContactColumn = 'id' | 'phone_number' | 'name' | 'values' | 'state' | 'lane' | 'next_attempt_at' | 'reason';

interface ContactRow extends Pick<Row<'campaign_contacts'>, ContactColumn> {
  columns: string[];
  attempts: number;
  last_outcome: CallOutcome | null;
  rooms: string[];
}

/** Where the campaign's row counts the contacts of a state. */
const counters = {
  pending: 'pending',
  waiting: 'waiting',
  dialing: 'in_flight',
  done: 'done',
  skipped: 'skipped',
} as const satisfies Record<ContactState, keyof CampaignRow>;

const allStates = Object.keys(counters) as ContactState[];

const countOf = (campaign: CampaignRow, states: readonly ContactState[] = allStates): number =>
  [...new Set(states)].reduce((sum, state) => sum + campaign[counters[state]], 0);

/** A page of a campaign's contacts, each with why it is not called where it is not. */
export async function contactPage(
  tx: WorkspaceTx,
  campaign: CampaignRow,
  query: ContactQuery,
  { now, ...terms }: SituationTerms & { now: Date },
): Promise<Page<CampaignContact>> {
  const situation = await situationOf(tx, campaign, now, terms);
  const zones = await laneZones(tx, campaign);
  const { states, reason, ids } = query;
  const direction = sql.raw(query.order);
  const found = await readPage<ContactRow>(tx, query, {
    columns: sql`c.*`,
    from: sql`campaign_contacts c`,
    where: [
      sql`c.workspace_id = ${tx.workspaceId} and c.campaign_id = ${campaign.id}`,
      states !== undefined && isOneOf('c.state', states),
      reason !== undefined && hasReason(reason, situation, zones, now),
      ids !== undefined && sql`c.id = any(${ids}::uuid[])`,
    ],
    search: ['c.name', "'+' || c.phone_number::text"],
    order: ['c.id'],
    around: (contacts) => sql`
      select c.id, c.phone_number, c.name, c."values", l.columns, c.state, c.lane, c.next_attempt_at,
        c.last_outcome, c.reason, k.attempts, k.rooms
      from (${contacts}) as c
      cross join lateral (select coalesce(array_agg(id::text order by attempt), '{}') as rooms,
        count(*) filter (where dialed_at is not null and (status <> 'cancelled' or ended_by <> 'error')) as attempts
        from calls where workspace_id = ${tx.workspaceId} and owner_id = c.id) as k
      join contact_lists l on l.workspace_id = c.workspace_id and l.id = c.list_id
      order by c.id ${direction}`,
    ...(reason === undefined && !query.searchText && { totalCount: countOf(campaign, states) }),
  });
  const explain = contactExplainer(situation, now);
  const contacts = found.rows.map((row): CampaignContact => {
    const { reason: why, nextAttemptAt } = explain({
      state: row.state,
      isTrusted: situation.trusted.includes(row.phone_number),
      timezones: zones.get(row.lane)!,
      nextAttemptAt: row.next_attempt_at,
      reason: row.reason,
    });
    return {
      id: toId('cc', row.id),
      phoneNumber: toE164(row.phone_number),
      ...(row.name !== null && { name: row.name }),
      variables: callVariables(row.columns, row.values, null),
      state: row.state,
      attempts: row.attempts,
      ...(row.last_outcome && { lastOutcome: row.last_outcome }),
      ...(nextAttemptAt && { nextAttemptAt: nextAttemptAt.toISOString() }),
      ...(why && { reason: why }),
      roomIds: row.rooms.map((id) => toId('room', id)),
    };
  });
  return { ...found, rows: contacts };
}

/** The time zones of each lane. */
export async function laneZones(tx: WorkspaceTx, campaign: CampaignRow): Promise<Map<number, string[]>> {
  const lanes = await tx.db
    .selectFrom('campaign_lanes')
    .select(['lane', 'timezones'])
    .where('workspace_id', '=', tx.workspaceId)
    .where('campaign_id', '=', campaign.id)
    .execute();
  return new Map(lanes.map(({ lane, timezones }) => [lane, timezones.length > 0 ? timezones : [campaign.timezone]]));
}

/** The contacts whom `contactExplainer` gives this reason. */
function hasReason(
  reason: ContactReason,
  situation: Situation,
  zones: Map<number, string[]>,
  now: Date,
): RawBuilder<boolean> {
  const isLeft = sql`c.state in ('pending', 'waiting')`;
  const kept = sql`(not ${isLeft} and c.reason = ${reason})`;
  const ofCampaign = campaignReason(situation);
  if (ofCampaign !== undefined) return ofCampaign === reason ? sql`(${kept} or ${isLeft})` : kept.$castTo<boolean>();
  const isIn = (why: string | undefined) => {
    const [lanes, ofTrusted] = [situation.hours, situation.freeHours].map((hours) =>
      [...zones].filter(([, zone]) => whyClosed(hours, zone, now) === why).map(([lane]) => lane),
    );
    return sql`c.lane = any(case when c.phone_number = any(${situation.trusted}::bigint[])
      then ${ofTrusted}::smallint[] else ${lanes}::smallint[] end)`;
  };
  const ofAll: ContactReason | false = situation.limited?.reason ?? (situation.trunkBusy && 'trunk_busy');
  const held = ofAll ? sql.lit(ofAll) : sql`c.reason`;
  const isDue = sql`c.next_attempt_at <= ${now}`;
  return sql`(${kept} or (${isLeft} and case
    when not ${isDue} and not ${isIn('invalid_time_zone')} then coalesce(c.reason, 'retry_later') = ${reason}
    when ${isIn(reason)} then true
    else ${isIn(undefined)} and ${held} = ${reason} end))`;
}
