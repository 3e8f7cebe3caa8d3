import { sql } from 'kysely';
import type { EngineTx } from '../database/database.ts';

const DAY_MS = 86_400_000;

/** The start of the next UTC day, at which the counts of the day before no longer hold. */
export const nextUtcDay = (at: Date): Date => new Date((Math.floor(at.getTime() / DAY_MS) + 1) * DAY_MS);

/**
 * Which of some numbers the workspace has called as often today (UTC) as its `maxAttemptsPerPersonPerDay` allows, in
 * whichever campaign or run. Calls that no provider has heard of don't count. The caller holds the workspace's row.
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
    where workspace_id = ${workspace.workspace_id} and to_number = any(${numbers}::bigint[]) and direction = 'outbound'
      and queued_at >= ${new Date(nextUtcDay(now).getTime() - DAY_MS)} and (status <> 'cancelled' or ended_by <> 'error')
    group by to_number having count(*) >= ${most}`.execute(tx.db);
  return new Set(rows.map((row) => row.to_number));
}
