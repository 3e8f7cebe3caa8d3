import { sql } from 'kysely';
import type { Database } from '../../src/foundation/database/database.ts';
import { callOutcomes } from '../../src/lines/telephony/call-outcome.ts';
import { type Profile, planCall } from '../../src/lines/telephony/simulator/plan.ts';
import { campaignRow, SEED } from './dialing.ts';

/** One call of a campaign, as we and the provider know it. */
export interface AuditedCall {
  id: string;
  owner_id: string;
  to_number: number;
  status: string;
  outcome: string | null;
  ended_by: string | null;
  attempt: number;
  start_at: Date;
  dialed_at: Date | null;
  ended_at: Date | null;
  placed_at: Date | null;
  placements: number | null;
  ring_timeout_seconds: number;
  max_call_seconds: number;
}

/** Every call of a campaign with what the simulator knows of it, in the order of dialing. */
export async function callsOf(database: Database, campaignId: string): Promise<AuditedCall[]> {
  const { rows } = await database.inEngine(({ db }) =>
    sql<AuditedCall>`
      select c.id, c.owner_id, c.to_number, c.status, c.outcome, c.ended_by, c.attempt, c.start_at, c.dialed_at, c.ended_at,
        s.placed_at, s.placements, c.ring_timeout_seconds, c.max_call_seconds
      from calls c left join simulator_calls s on s.room_id = c.id
      where c.campaign_id = ${campaignId} order by c.dialed_at, c.id`.execute(db),
  );
  return rows;
}

/** What the campaign's counters say, and what a count of its rows says. They must be equal. */
export async function countersOf(database: Database, campaignId: string) {
  const row = await campaignRow(database, campaignId);
  const calls = await callsOf(database, campaignId);
  const { rows: states } = await database.inEngine(({ db }) =>
    sql<{ state: string; n: number }>`
      select state, count(*) as n from campaign_contacts where campaign_id = ${campaignId} group by 1`.execute(db),
  );
  const inState = (state: string) => states.find((one) => one.state === state)?.n ?? 0;
  const wasPlaced = (call: AuditedCall) => !(call.status === 'cancelled' && call.ended_by === 'error');
  const counted: Record<string, number> = {
    total_contacts: states.reduce((sum, { n }) => sum + n, 0),
    in_flight: calls.filter((call) => call.ended_at === null).length,
    attempts: calls.filter(wasPlaced).length,
  };
  for (const state of ['pending', 'waiting', 'done', 'skipped']) counted[state] = inState(state);
  for (const outcome of callOutcomes) {
    counted[outcome] = calls.filter((call) => call.outcome === outcome && wasPlaced(call)).length;
  }
  const kept = Object.fromEntries(Object.keys(counted).map((name) => [name, row[name as 'attempts']]));
  return { kept, counted };
}

/** Faults of the kind that must never happen, each as a line of text. */
export async function dialedWrongly(database: Database): Promise<string[]> {
  const { rows } = await database.inEngine(({ db }) =>
    sql<{ fault: string }>`
      select 'placed twice: ' || room_id as fault from simulator_calls where placements > 1
      union all
      select 'placed, but taken back: ' || s.room_id from simulator_calls s left join calls c on c.id = s.room_id
        where c.id is null or c.status = 'queued' or (c.status = 'cancelled' and c.ended_by = 'error')
      union all
      select 'dialled ' || count(*) || ' times: ' || p.id || ' ' || c.owner_id
        from simulator_calls s join calls c on c.id = s.room_id
        join campaigns p on p.workspace_id = c.workspace_id and p.id = c.campaign_id
        group by p.id, c.owner_id, p.retry_policy having count(*) > 1 + cardinality(p.retry_policy)`.execute(db),
  );
  return rows.map((row) => row.fault);
}

/** The most intervals that overlap at any instant; one that ends where another begins does not. */
export function peak(intervals: { from: number; to: number }[]): number {
  const steps = intervals.flatMap(({ from, to }) => [
    { at: from, by: 1 },
    { at: to, by: -1 },
  ]);
  steps.sort((a, b) => a.at - b.at || a.by - b.by);
  let up = 0;
  let most = 0;
  for (const { by } of steps) {
    up += by;
    most = Math.max(most, up);
  }
  return most;
}

/** The most calls that were up at once, by our records. */
export const recordedPeak = (calls: Pick<AuditedCall, 'dialed_at' | 'ended_at'>[]): number =>
  peak(
    calls
      .filter((call) => call.dialed_at !== null)
      .map((call) => ({ from: call.dialed_at!.getTime(), to: call.ended_at?.getTime() ?? Number.POSITIVE_INFINITY })),
  );

/** The most calls that were up at once at the provider, by when they were placed and what was planned for them. */
export const providerPeak = (calls: AuditedCall[], profile: Profile, speed: number): number =>
  peak(
    calls
      .filter((call) => call.placed_at !== null)
      .map((call) => {
        const plan = planCall(
          SEED,
          {
            to: `+${call.to_number}`,
            attempt: call.attempt,
            ringTimeoutSeconds: call.ring_timeout_seconds,
            maxCallSeconds: call.max_call_seconds,
          },
          profile,
        );
        const from = call.placed_at!.getTime();
        return { from, to: Math.floor(from + plan.endedAfter / speed) };
      }),
  );

/** The most recorded placements in any stretch of 1,000 ms, `[t, t + 1000)`. */
export function mostInASecond(calls: Pick<AuditedCall, 'dialed_at'>[]): number {
  const times = calls.flatMap((call) => call.dialed_at?.getTime() ?? []).sort((a, b) => a - b);
  let first = 0;
  let most = 0;
  for (const [at, time] of times.entries()) {
    while (times[first]! <= time - 1000) first += 1;
    most = Math.max(most, at - first + 1);
  }
  return most;
}
