import { sql } from 'kysely';
import { Temporal } from 'temporal-polyfill';
import type { EngineTx, Tx } from '../../foundation/database/database.ts';
import type { AttemptLimits } from '../../platform/workspace/limits.ts';
import { areReadable } from './zones-of-contact.ts';

/** At most so many attempts to one number since a time, and when it is different if there were more. */
interface Cap {
  since: Date;
  most: number;
  /** @param nth the attempt that is one too many, counted from the newest; absent if none is allowed */
  freeAt: (nth: Date | null) => Date;
}

/** Somebody who is to be called. */
export interface Person {
  /** E.164 without the plus. */
  toNumber: number;
  /** IANA names of the zones in which this person may be. */
  timezones: readonly string[];
}

const HOUR_MS = 3_600_000;

/** What holds for one person: the day begins by the clock of each zone, so the one in which it began first counts. */
function capsOf(limits: AttemptLimits, timezones: readonly string[], now: Date): Cap[] {
  const caps = (limits.max_attempts_per_person ?? []).map(
    ({ attempts, hours }): Cap => ({
      since: new Date(now.getTime() - hours * HOUR_MS),
      most: attempts,
      freeAt: (nth) => new Date((nth ?? now).getTime() + hours * HOUR_MS),
    }),
  );
  if (limits.max_attempts_per_person_per_day !== null) {
    // Of zones that nobody can read nothing is known; whoever calls says so elsewhere.
    const { from, until } = dayOf(areReadable(timezones) ? timezones : ['UTC'], now);
    caps.push({ since: from, most: limits.max_attempts_per_person_per_day, freeAt: () => until });
  }
  return caps;
}

/** The day that began first of those in some zones, and the next one there. */
export function dayOf(timezones: readonly string[], now: Date): { from: Date; until: Date } {
  const [first] = timezones
    .map((timezone) => Temporal.Instant.fromEpochMilliseconds(now.getTime()).toZonedDateTimeISO(timezone).startOfDay())
    .sort(Temporal.ZonedDateTime.compare);
  const next = first!.add({ days: 1 }).startOfDay();
  return { from: new Date(first!.epochMilliseconds), until: new Date(next.epochMilliseconds) };
}

/**
 * Which of some people the workspace has called as often as `maxAttemptsPerPersonPerDay` and `maxAttemptsPerPerson` allow, in
 * whichever campaign or run, and until when. A call counts once it is dialled, or while it waits for that: those that no
 * provider has heard of don't. The caller holds the workspace's row. At most 40 buffers for 50 numbers never called.
 * @returns by number, E.164 without the plus
 */
export async function numbersAtLimit(
  tx: EngineTx | Tx,
  workspaceId: string,
  limits: AttemptLimits,
  people: readonly Person[],
  now: Date,
): Promise<Map<number, Date>> {
  const asked = people.flatMap(({ toNumber, timezones }) =>
    capsOf(limits, timezones, now).map((cap) => ({ toNumber, ...cap })),
  );
  if (asked.length === 0) return new Map();
  const { rows } = await sql<{ at: number; nth: Date | null }>`
    select x.at::int as at, (array_agg(c.at order by c.at desc))[x.most] as nth
    from unnest(${asked.map((cap) => cap.toNumber)}::bigint[], ${asked.map((cap) => cap.since)}::timestamptz[],
      ${asked.map((cap) => cap.most)}::int[]) with ordinality as x (to_number, since, most, at)
    left join (
      select to_number, coalesce(dialed_at, start_at) as at from calls
      where workspace_id = ${workspaceId} and to_number = any(${people.map((person) => person.toNumber)}::bigint[])
        and direction = 'outbound' and (status <> 'cancelled' or ended_by <> 'error')
        and (dialed_at is not null or ended_at is null)
    ) as c on c.to_number = x.to_number and c.at >= x.since
    group by x.at, x.most having count(c.at) >= x.most`.execute(tx.db);
  const full = new Map<number, Date>();
  for (const { at, nth } of rows) {
    const { toNumber, freeAt } = asked[at - 1]!;
    const [before, until] = [full.get(toNumber), freeAt(nth)];
    if (!before || before < until) full.set(toNumber, until);
  }
  return full;
}
