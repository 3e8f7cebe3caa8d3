import { type RawBuilder, sql } from 'kysely';
import type { CallDetails } from '../../dialing/calls/store.ts';
import type { WorkspaceTx } from '../../foundation/database/database.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { toId } from '../../foundation/values/ids.ts';
import { rate } from '../../foundation/values/rate.ts';
import { usageNames } from '../../lines/media/realtime/model-usage.ts';
import type { CallOutcome } from '../../lines/telephony/call-outcome.ts';

type Grouping = components['schemas']['CallStatsGrouping'];
type Figures = components['schemas']['CallFigures'];
type Usage = components['schemas']['CallUsage'];
type Item = components['schemas']['CallStatsItem'];

/** Which calls are counted, and by what. IDs are UUIDs, but those of agents. */
export interface FiguresQuery {
  from: Date;
  to: Date;
  groupBy: Grouping;
  /** Where days or hours begin and end; empty for other groups. */
  bounds: readonly Date[];
  direction: 'inbound' | 'outbound' | undefined;
  agentId: string | undefined;
  phoneNumberId: string | undefined;
  campaignId: string | undefined;
  batchId: string | undefined;
}
/** Null of what no call has. */
type UsageSums = { [Name in keyof Required<Usage>]: number | null };

/**
 * The calls of a group that have one outcome, or none yet, and cost in one currency, or nothing that is known. A group without
 * a key is that of all calls.
 */
interface FigureRow extends UsageSums {
  key: string | null;
  phone_number: string | null;
  is_batch: boolean;
  outcome: CallOutcome | null;
  calls: number;
  ended: number;
  talk_ms: number;
  conversions: number;
  currency: string | null;
  /** Of all calls of the group in that currency, whatever their outcome: decimals that only the database adds up exactly. */
  cost: string | null;
}

const MOST_GROUPS = 1000;

/** The columns of `UsageSums`. @param of what is added up for each */
const usageSums = (of: (name: string) => RawBuilder<unknown>) =>
  sql.join(usageNames.map((name) => sql`sum(${of(name)})::bigint as ${sql.ref(name)}`));

/** What calls are grouped by, as text; empty where a call has none. */
const keys: Record<Grouping, (query: FiguresQuery) => RawBuilder<unknown>> = {
  day: ({ bounds }) => sql`width_bucket(queued_at, ${bounds}::timestamptz[])::text`,
  hour: ({ bounds }) => sql`width_bucket(queued_at, ${bounds}::timestamptz[])::text`,
  agent: () => sql`coalesce(agent_id, '')`,
  phone_number: () => sql`phone_number_id::text`,
  campaign: () => sql`coalesce(campaign_id::text, '')`,
};

/**
 * Counts the calls that were taken up in a time, along their index by that time; the groups with the most calls, and all
 * calls together.
 */
export async function readFigures(
  tx: WorkspaceTx,
  query: FiguresQuery,
  isBatch: CallDetails['isBatch'],
): Promise<{ items: Item[]; total: Figures }> {
  const { rows } = await sql<FigureRow>`
    with figure as materialized (
      select ${keys[query.groupBy](query)} as key, outcome, count(*) as calls, count(ended_at) as ended,
        coalesce(sum(greatest(extract(epoch from ended_at - answered_at), 0)) * 1000, 0)::bigint as talk_ms,
        count(*) filter (where result -> 'converted' = 'true') as conversions,
        result #>> '{cost,currency}' as currency, sum((result #>> '{cost,amount}')::numeric) as cost,
        ${usageSums((name) => sql`(usage ->> ${sql.lit(name)})::bigint`)}
      from calls where ${sql.join(conditions(tx, query, isBatch), sql` and `)}
      group by key, outcome, currency),
    most as (select key, sum(calls) as calls from figure group by key order by calls desc, key limit ${sql.lit(MOST_GROUPS)})
    select f.key, n.phone_number, b.id is not null as is_batch, f.outcome, f.calls, f.ended, f.talk_ms, f.conversions,
      f.currency, sum(f.cost) over (partition by f.key, f.currency) as cost,
      ${sql.join(usageNames.map((name) => sql.ref(`f.${name}`)))}
    from most m join figure f on f.key = m.key
    left join phone_numbers n on ${query.groupBy === 'phone_number'} and n.workspace_id = ${tx.workspaceId}
      and n.id::text = f.key and n.status <> 'released'
    left join batches b on ${query.groupBy === 'campaign'} and b.workspace_id = ${tx.workspaceId} and b.id::text = f.key
    union all
    select null, null, false, outcome, sum(calls)::bigint, sum(ended)::bigint, sum(talk_ms)::bigint, sum(conversions)::bigint,
      currency, sum(sum(cost)) over (partition by currency),
      ${usageSums((name) => sql.ref(name))}
    from figure group by outcome, currency`.execute(tx.db);
  const groups = new Map<string | null, FigureRow[]>();
  for (const row of rows) groups.set(row.key, [...(groups.get(row.key) ?? []), row]);
  const total = figuresOf(groups.get(null) ?? []);
  groups.delete(null);
  const items = [...groups.values()].map((group) => ({ ...aboutOf(group[0]!, query), figures: figuresOf(group) }));
  return { items: items.sort(orderOf(query.groupBy)), total };
}

function conditions(tx: WorkspaceTx, query: FiguresQuery, isBatch: CallDetails['isBatch']): RawBuilder<unknown>[] {
  const { direction, agentId, phoneNumberId, campaignId, batchId } = query;
  return [
    sql`workspace_id = ${tx.workspaceId} and queued_at >= ${query.from} and queued_at < ${query.to}`,
    direction && sql`direction = ${direction}`,
    agentId && sql`agent_id = ${agentId}`,
    phoneNumberId && sql`phone_number_id = ${phoneNumberId}`,
    campaignId && sql`campaign_id = ${campaignId} and not ${isBatch(campaignId)}`,
    batchId && sql`campaign_id = ${batchId} and ${isBatch(batchId)}`,
  ].flatMap((each) => each || []);
}

function aboutOf({ key, phone_number, is_batch }: FigureRow, { groupBy, bounds }: FiguresQuery): Omit<Item, 'figures'> {
  if (!key) return {};
  if (groupBy === 'agent') return { agentId: key };
  if (groupBy === 'phone_number')
    return { phoneNumberId: toId('pn', key), ...(phone_number && { phoneNumber: phone_number }) };
  if (groupBy === 'campaign') return is_batch ? { batchId: toId('bat', key) } : { campaignId: toId('cmp', key) };
  const [startsAt, endsAt] = [bounds[Number(key) - 1]!, bounds[Number(key)]!];
  return { startsAt: startsAt.toISOString(), endsAt: endsAt.toISOString() };
}

function figuresOf(rows: readonly FigureRow[]): Figures {
  const sum = (of: (row: FigureRow) => number) => rows.reduce((all, row) => all + of(row), 0);
  const outcomes: Figures['outcomes'] = {};
  for (const { outcome, calls } of rows) if (outcome) outcomes[outcome] = (outcomes[outcome] ?? 0) + calls;
  const costs = new Map(rows.flatMap(({ currency, cost }) => (currency === null ? [] : [[currency, Number(cost)]])));
  const ended = sum((row) => row.ended);
  return {
    calls: sum((row) => row.calls),
    ended,
    outcomes,
    ...(ended > 0 && { answerRate: rate(outcomes['answered'] ?? 0, ended) }),
    talkSeconds: sum((row) => row.talk_ms) / 1000,
    conversions: sum((row) => row.conversions),
    costs: [...costs].sort(([a], [b]) => (a < b ? -1 : 1)).map(([currency, amount]) => ({ amount, currency })),
    ...usageOf(rows),
  };
}

function usageOf(rows: readonly FigureRow[]): Pick<Figures, 'usage'> {
  const sums = new Map<keyof Usage, number>();
  for (const row of rows)
    for (const name of usageNames) if (row[name] !== null) sums.set(name, (sums.get(name) ?? 0) + row[name]);
  return sums.size === 0 ? {} : { usage: { inputTokens: 0, outputTokens: 0, ...Object.fromEntries(sums) } };
}

const orderOf =
  (groupBy: Grouping) =>
  (a: Item, b: Item): number =>
    groupBy === 'day' || groupBy === 'hour'
      ? Date.parse(a.startsAt!) - Date.parse(b.startsAt!)
      : b.figures.calls - a.figures.calls;
