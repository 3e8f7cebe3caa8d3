import { type RawBuilder, sql } from 'kysely';
import type { EngineTx } from '../../foundation/database/database.ts';
import { together } from '../../foundation/database/together.ts';
import { utcDay } from '../../foundation/values/clock.ts';
import type { components } from '../../foundation/values/generated/contract.ts';
import { liveCalls } from '../../platform/workspace/limits.ts';

/** So many of a kind are told. */
const MOST_OF_A_KIND = 50;

export type BrakeKind = components['schemas']['OperatorBrake']['kind'];

/** What holds calls or webhooks back. */
export interface BrakeRow {
  kind: BrakeKind;
  workspace_id: string | null;
  /** UUID of the trunk, campaign, batch or endpoint, or an agent's ID. */
  resource: string | null;
  reason: string | null;
  since: Date | null;
  until: Date | null;
  /** Whether a campaign is a batch. */
  is_batch: boolean;
}

/** What each kind of brake is read from: its workspace, resource, reason, since when, until when, whether of a batch. */
const sources = (now: Date, maxCallsPerDay: number | undefined): [BrakeKind, RawBuilder<unknown>][] => [
  [
    'dialing_held',
    sql`select null, null, held_reason, held_at, null, false from installation where held_at is not null`,
  ],
  [
    'kill_switch',
    sql`select id, null, null, dialing_paused_at, null, false from workspaces where dialing_paused_at is not null`,
  ],
  [
    'trunk_paused',
    sql`select workspace_id, id::text, reason, status_since, null, false from trunks where status = 'paused'`,
  ],
  [
    'trunk_slowed',
    sql`select h.workspace_id, h.trunk_id::text, null, h.slowed_since, h.slowed_until, false
      from trunk_health h join trunks t on t.workspace_id = h.workspace_id and t.id = h.trunk_id
      where h.slowed_until > ${now} and t.status = 'active'`,
  ],
  // What an agent has said of its failure may be about people.
  [
    'agent_failing',
    sql`select workspace_id, agent_id, null, failing_since, null, false from agent_health where failing_since is not null`,
  ],
  [
    'agent_limited',
    sql`select workspace_id, agent_id, null, null, limited_until, false from agent_health where limited_until > ${now}`,
  ],
  [
    'campaign_paused',
    sql`select workspace_id, id::text, pause_reason, paused_at, null, kind = 'batch' from campaigns
      where status = 'paused' and pause_reason is not null`,
  ],
  [
    'calls_per_day',
    sql`select w.id, null, null, null, null, false from workspaces w
      where least(w.max_calls_per_day, ${maxCallsPerDay ?? null}::integer) <= (select calls from workspace_usage
        where workspace_id = w.id and day = ${utcDay(now)})`,
  ],
  [
    'concurrent_calls',
    sql`select w.id, null, null, null, null, false from workspaces w
      where w.max_concurrent_calls is not null and w.max_concurrent_calls <= ${liveCalls(sql`w.id`)}`,
  ],
  [
    'webhook_disabled',
    sql`select workspace_id, id::text, disabled_reason, updated_at, null, false from webhooks
      where disabled_reason = 'gone' and deleted_at is null`,
  ],
  [
    'webhook_resting',
    sql`select workspace_id, id::text, null, null, resting_until, false from webhooks
      where resting_until > ${now} and deleted_at is null`,
  ],
];

/** All that holds calls or webhooks back, in every workspace, and whether there is more of a kind than is told. */
export async function readBrakes(
  tx: EngineTx,
  now: Date,
  maxCallsPerDay: number | undefined,
): Promise<{ brakes: BrakeRow[]; hasMore: boolean }> {
  const found = await together(
    tx,
    sources(now, maxCallsPerDay).map(
      ([kind, source]) => sql<BrakeRow>`
        select ${sql.lit(kind)} as kind, b.* from (${source} limit ${sql.lit(MOST_OF_A_KIND + 1)})
          as b (workspace_id, resource, reason, since, until, is_batch)`,
    ),
  );
  return {
    brakes: found.flatMap(({ rows }) => rows.slice(0, MOST_OF_A_KIND)),
    hasMore: found.some(({ rows }) => rows.length > MOST_OF_A_KIND),
  };
}
