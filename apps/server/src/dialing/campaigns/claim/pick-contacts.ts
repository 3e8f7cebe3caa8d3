import { type RawBuilder, sql } from 'kysely';
import type { EngineTx } from '../../../foundation/database/database.ts';
import { isDoNotCall } from '../../../platform/do-not-call/do-not-call-numbers.ts';
import { callVariables } from '../../calls/call-variables.ts';
import { callingArea } from '../../calls/may-dial.ts';
import { isFreeOfDefault } from '../../calls/quiet-hours.ts';
import { type ContactRefusal, contactRefusal, hasConsent } from '../contact-refusal.ts';
import { isOpen, type Lane } from '../lanes.ts';
import type { ClaimedCampaign } from './claim-limits.ts';

/** A contact that the claim has locked. */
export interface PickedContact {
  id: string;
  /** Where its row stands, as long as it is locked. */
  place: string;
  /** E.164 without the plus. */
  toNumber: number;
  lane: number;
  state: 'pending' | 'waiting';
  attempt: number;
  variables: Record<string, string>;
  /** What its call carries, beside the metadata of the batch. */
  metadata: Record<string, string> | null;
  externalId: string | null;
  /** Why it must not be called, if so. */
  refusal: ContactRefusal | Lane['leftOut'];
}

interface Row {
  id: string;
  place: string;
  phone_number: number;
  lane: number;
  state: 'pending' | 'waiting';
  attempt: number;
  name: string | null;
  values: (string | null)[];
  columns: string[];
  metadata: Record<string, string> | null;
  external_id: string | null;
  do_not_call: boolean;
  consented: boolean;
}

/** The lanes that are open for calls from a campaign's numbers, and those that are for trusted numbers alone. */
export interface OpenLanes {
  forAll: Lane[];
  forTrusted: Lane[];
}

/**
 * Which lanes are open: to a campaign without simulated numbers, those in which phones may ring. One that has some takes
 * those too in which only hours that nobody has set are in the way.
 */
export function openLanes(lanes: readonly Lane[], simulated: boolean, now: Date): OpenLanes {
  const forAll = lanes.filter((lane) => isOpen(simulated ? lane.free : lane, now));
  const others = lanes.filter((lane) => !forAll.includes(lane));
  return { forAll, forTrusted: others.filter(({ free }) => isOpen(free, now)) };
}

/**
 * Locks the next contacts of some open lanes, due retries before fresh contacts, and says of each whether it must not
 * be called. Each lane and state is a constant key of the index and the limit stands in the text of the statement, so
 * that it reads the head of the index only, however many contacts wait (dialing.md, "Claims"): 262 buffers for a batch
 * of 50 at 10⁴ contacts, 272 at 10⁶.
 */
export async function pickContacts(
  tx: EngineTx,
  campaign: ClaimedCampaign,
  { forAll, forTrusted }: OpenLanes,
  { most, now, only, simulated }: { most: number; now: Date; only: string | undefined; simulated: boolean },
): Promise<PickedContact[]> {
  const trusted = forTrusted.length === 0 ? [] : campaign.trusted_numbers;
  const found: Row[] = [];
  if (trusted.length > 0)
    found.push(...(await rowsOf(tx, pickTrusted(campaign, forTrusted, { trusted, only, most, now }))));
  if (forAll.length > 0 && found.length < most) {
    const left = most - found.length;
    const statement =
      only === undefined ? pickStatement(campaign, forAll, left, now) : pickOnly(campaign, forAll, only, now);
    found.push(...(await rowsOf(tx, statement)));
  }
  const area = callingArea(campaign, campaign.allowed_outbound_countries, campaign.from_number);
  const laneOf = new Map([...forAll, ...forTrusted].map((lane) => [lane.lane, lane]));
  const windowOf = (row: Row) => {
    const lane = laneOf.get(row.lane)!;
    return isFreeOfDefault(campaign, row.phone_number, simulated) ? lane.free : lane;
  };
  return found.map((row) => ({
    id: row.id,
    place: row.place,
    toNumber: row.phone_number,
    lane: row.lane,
    state: row.state,
    attempt: row.attempt,
    variables: callVariables(row.columns, row.values, row.name),
    metadata: row.metadata,
    externalId: row.external_id,
    refusal: contactRefusal(row, area) ?? windowOf(row).leftOut,
  }));
}

const rowsOf = async (tx: EngineTx, statement: RawBuilder<Row>): Promise<Row[]> =>
  (await statement.execute(tx.db)).rows;

type Picking = Pick<ClaimedCampaign, 'workspace_id' | 'id' | 'do_not_call_uploads' | 'require_consent'>;

const columns = sql.raw(
  'id, ctid as place, phone_number, lane, state, attempt, name, "values", list_id, metadata, external_id',
);

/** The statement of `pickContacts`; a test measures what it reads. */
export function pickStatement(campaign: Picking, open: Lane[], most: number, now: Date): RawBuilder<Row> {
  const { workspace_id: workspaceId, id: campaignId } = campaign;
  const limit = sql.raw(String(most));
  const lanes = open.map((lane) => lane.lane);
  const states = [...lanes.map(() => 'waiting'), ...lanes.map(() => 'pending')];
  return withList(
    campaign,
    sql`
      select c.* from unnest(${[...lanes, ...lanes]}::smallint[], ${states}::text[]) as q (lane, state)
      cross join lateral (
        select ${columns} from campaign_contacts
        where workspace_id = ${workspaceId} and campaign_id = ${campaignId} and lane = q.lane and state = q.state
          and state in ('pending', 'waiting') and next_attempt_at <= ${now}
        order by next_attempt_at, id limit ${limit} for update skip locked) as c
      limit ${limit}`,
  );
}

/** The same for one contact, if it is due in an open lane. */
const pickOnly = (campaign: Picking, open: Lane[], id: string, now: Date): RawBuilder<Row> =>
  withList(
    campaign,
    sql`
      select ${columns} from campaign_contacts
      where workspace_id = ${campaign.workspace_id} and campaign_id = ${campaign.id} and id = ${id}
        and state in ('pending', 'waiting') and next_attempt_at <= ${now}
        and lane = any(${open.map(({ lane }) => lane)}::smallint[])
      for update skip locked`,
  );

/** The same for the few numbers of the workspace's own, by the key of their numbers. */
const pickTrusted = (
  campaign: Picking,
  lanes: Lane[],
  { trusted, only, most, now }: { trusted: readonly number[]; only: string | undefined; most: number; now: Date },
): RawBuilder<Row> =>
  withList(
    campaign,
    sql`
      select ${columns} from campaign_contacts
      where workspace_id = ${campaign.workspace_id} and campaign_id = ${campaign.id}
        and phone_number = any(${trusted}::bigint[]) and (${only ?? null}::uuid is null or id = ${only ?? null}::uuid)
        and state in ('pending', 'waiting') and next_attempt_at <= ${now}
        and lane = any(${lanes.map(({ lane }) => lane)}::smallint[])
      order by next_attempt_at, id limit ${sql.raw(String(most))} for update skip locked`,
  );

const withList = (
  { workspace_id: workspaceId, id, do_not_call_uploads: uploads, require_consent: requires }: Picking,
  picked: RawBuilder<unknown>,
): RawBuilder<Row> => sql<Row>`
  select k.*, l.columns, ${isDoNotCall(sql.ref('k.phone_number'), sql`${workspaceId}`, uploads)} as do_not_call,
    ${requires ? hasConsent(sql.ref('k.phone_number'), sql`${workspaceId}::uuid`, sql`${id}::uuid`) : sql`true`} as consented
  from (${picked}) as k join contact_lists l on l.workspace_id = ${workspaceId} and l.id = k.list_id`;
