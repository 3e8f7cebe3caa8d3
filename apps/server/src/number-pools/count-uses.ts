import { sql } from 'kysely';
import { utcDay } from '../clock.ts';
import type { EngineTx } from '../database/database.ts';

/** How often each of some numbers is named, by ascending ID: the order in which their rows are locked. */
function timesNamed(phoneNumberIds: readonly string[]): { ids: string[]; times: number[] } {
  const times = new Map<string, number>();
  for (const id of phoneNumberIds.toSorted()) times.set(id, (times.get(id) ?? 0) + 1);
  return { ids: [...times.keys()], times: [...times.values()] };
}

/**
 * Counts calls that were just inserted as `pooled`: after the calls, since whoever ends one locks it first. A day that has
 * begun by another server's clock goes on.
 * @param phoneNumberIds UUID of each call's number
 */
export async function countUses(
  tx: EngineTx,
  workspaceId: string,
  phoneNumberIds: readonly string[],
  now: Date,
): Promise<void> {
  if (phoneNumberIds.length === 0) return;
  const { ids, times } = timesNamed(phoneNumberIds);
  const today = utcDay(now);
  const soFar = (column: string) => sql`case when u.day >= ${today} then ${sql.ref(`u.${column}`)} else 0 end`;
  await sql`
    update number_usage u set last_used_at = ${now}, day = greatest(u.day, ${today}), attempts = ${soFar('attempts')} + x.times,
      answered = ${soFar('answered')}, failed = ${soFar('failed')}
    from unnest(${ids}::uuid[], ${times}::integer[]) as x (id, times)
    where u.workspace_id = ${workspaceId} and u.phone_number_id = x.id`.execute(tx.db);
}

/** A pooled call that was taken back with its attempt. */
export interface TakenBack {
  workspace_id: string;
  phone_number_id: string;
  queued_at: Date;
}

/** Takes back that calls were counted, if it is still the day on which they were. */
export async function uncountUses(tx: EngineTx, calls: readonly TakenBack[]): Promise<void> {
  if (calls.length === 0) return;
  const sorted = calls.toSorted((a, b) => (a.phone_number_id < b.phone_number_id ? -1 : 1));
  await sql`
    update number_usage u set attempts = greatest(0, u.attempts - x.times)
    from (select workspace_id, id, day, count(*) as times
      from unnest(${sorted.map((call) => call.workspace_id)}::uuid[], ${sorted.map((call) => call.phone_number_id)}::uuid[],
        ${sorted.map((call) => utcDay(call.queued_at))}::date[]) as k (workspace_id, id, day)
      group by workspace_id, id, day) as x
    where u.workspace_id = x.workspace_id and u.phone_number_id = x.id and u.day = x.day`.execute(tx.db);
}
