import { type RawBuilder, sql } from 'kysely';
import type { Tx } from '../../foundation/database/database.ts';
import type { Row } from '../../foundation/database/schema.ts';
import { utcDay } from '../../foundation/values/clock.ts';
import type { OperatorLimits } from './operator-limits.ts';

/** How often one person may be called, as a workspace's row has it. */
export type AttemptLimits = Pick<Row<'workspaces'>, 'max_attempts_per_person_per_day' | 'max_attempts_per_person'>;

/** The limits that hold for a workspace's calls, as its row has them, where null is none, and those of whoever runs the server. */
export type CallLimits = Pick<Row<'workspaces'>, 'max_concurrent_calls' | 'max_calls_per_day'> &
  AttemptLimits & { operator: OperatorLimits };

/** Whether anything of what a workspace calls has to be counted first. */
export const hasLimits = (of: CallLimits): boolean =>
  of.max_concurrent_calls !== null ||
  of.max_calls_per_day !== null ||
  of.max_attempts_per_person_per_day !== null ||
  of.max_attempts_per_person !== null ||
  of.operator.maxCallsPerDay !== undefined;

/**
 * Locks a workspace that has limits, before all else that a claim or a run's call locks (dialing.md, "Locks"), so that
 * what later statements count can't change before the commit. Answers whether it has any.
 */
export async function lockLimits(tx: Tx, workspaceId: string, operator: OperatorLimits): Promise<boolean> {
  const { rows } = await sql`
    select from workspaces where id = ${workspaceId} and (max_concurrent_calls is not null
      or max_calls_per_day is not null or max_attempts_per_person_per_day is not null or max_attempts_per_person is not null
      or ${operator.maxCallsPerDay !== undefined})
    for no key update`.execute(tx.db);
  return rows.length > 0;
}

/** SQL for how many calls of a workspace are being placed or up. */
export const liveCalls = (workspaceId: RawBuilder<unknown>) => sql<number>`
  (select count(*) from calls where workspace_id = ${workspaceId} and ended_at is null)`;

/** Those that wait for the next day are due later: what waits for room is looked at within so many milliseconds. */
const LONGEST_WAIT_FOR_ROOM_MS = 660_000;

/** SQL for whether a workflow run is blocked because its workspace has as many calls up as it may. */
export const waitsForRoom = (now: Date) => sql`
  (blocked_since is not null and server_id is null and error ->> 'code' = 'limit_reached'
    and due_at <= ${new Date(now.getTime() + LONGEST_WAIT_FOR_ROOM_MS)})`;

/** The same of a call that was asked for by itself. */
export const intentWaitsForRoom = (now: Date) => sql`
  (next_attempt_at is not null and reason = 'limit_reached'
    and next_attempt_at <= ${new Date(now.getTime() + LONGEST_WAIT_FOR_ROOM_MS)})`;

/** SQL for how many runs and calls by themselves wait for room in a workspace, each counted up to `most`. */
export const waitingForRoom = (workspaceId: RawBuilder<unknown>, now: Date, most: number) => sql<number>`
  (select count(*) from (
    (select from workflow_runs where workspace_id = ${workspaceId} and ${waitsForRoom(now)} limit ${sql.lit(most)})
    union all
    (select from call_intents where workspace_id = ${workspaceId} and ${intentWaitsForRoom(now)}
      limit ${sql.lit(most)})) as w)`;

/** What a workspace has used of its limits. */
export interface UsedOfLimits {
  /** Calls that are being placed or up. */
  live: number;
  /** Calls of the UTC day. */
  today: number;
}

/** SQL for the columns of `UsedOfLimits`, of the row `w` of `workspaces`: only what is limited is counted. */
export const usedOfLimits = (now: Date, operator: OperatorLimits) => sql`
  case when w.max_concurrent_calls is null then 0 else ${liveCalls(sql`w.id`)} end as live,
  case when w.max_calls_per_day is null and ${operator.maxCallsPerDay === undefined} then 0 else (select coalesce(sum(calls), 0)::bigint from workspace_usage
    where workspace_id = w.id and day = ${utcDay(now)}) end as today`;

/** What is left of a workspace's limits. */
export interface LeftOfLimits {
  /** How many more calls it may have up now. */
  now: number;
  /** How many more it may place today. */
  today: number;
  /** What calls are told that are too many today. */
  reasonOfDay: 'limit_reached' | 'operator_limit';
}

/** What a workspace, and whoever runs the server, still let it place. */
export function leftOfLimits(of: CallLimits, used: UsedOfLimits): LeftOfLimits {
  const most = of.max_calls_per_day ?? Number.POSITIVE_INFINITY;
  const mostOfOperator = of.operator.maxCallsPerDay ?? Number.POSITIVE_INFINITY;
  return {
    now: (of.max_concurrent_calls ?? Number.POSITIVE_INFINITY) - used.live,
    today: Math.min(most, mostOfOperator) - used.today,
    reasonOfDay: mostOfOperator <= used.today ? 'operator_limit' : 'limit_reached',
  };
}

/** Counts calls on the day on which they were queued: 5 buffers. */
export async function countCalls(tx: Tx, workspaceId: string, calls: number, now: Date): Promise<void> {
  await sql`
    insert into workspace_usage (workspace_id, day, calls) values (${workspaceId}, ${utcDay(now)}, ${calls})
    on conflict (workspace_id, day) do update set calls = workspace_usage.calls + excluded.calls`.execute(tx.db);
}
