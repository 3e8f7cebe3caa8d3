import { sql } from 'kysely';
import { startOfUtcDay } from '../clock.ts';
import type { EngineTx } from '../database/database.ts';

/** SQL for whether a call counts as one of today's attempts (UTC): those that no provider has heard of don't. */
export const isAttemptOfDay = (now: Date) => sql<boolean>`(direction = 'outbound'
  and queued_at >= ${startOfUtcDay(now)} and (status <> 'cancelled' or ended_by <> 'error'))`;

/**
 * Which of some numbers the workspace has called as often today (UTC) as its `maxAttemptsPerPersonPerDay` allows, in
 * whichever campaign or run. The caller holds the workspace's row.
 */
export async function numbersAtDailyLimit(
  tx: EngineTx,
  workspace: { workspace_id: string; max_attempts_per_person_per_day: number | null },
  numbers: number[],
  now: Date,
): Promise<Set<number>> {
  const most = workspace.max_attempts_per_person_per_day;
  if (most === null || numbers.length === 0) return new Set();
  const { rows } = await sql<{ to_number: number }>`
    select to_number from calls
    where workspace_id = ${workspace.workspace_id} and to_number = any(${numbers}::bigint[])
      and ${isAttemptOfDay(now)}
    group by to_number having count(*) >= ${most}`.execute(tx.db);
  return new Set(rows.map((row) => row.to_number));
}
