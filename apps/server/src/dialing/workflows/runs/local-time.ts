import { Temporal } from 'temporal-polyfill';

/** Every weekday comes within so many days, also where one of them is left out of a calendar. */
const HORIZON_DAYS = 15;

/**
 * The next moment, `now` included, at which a time of day has come on all of some clocks, on one day by all of them: the
 * clock that is last to show it counts.
 * @param time minutes since local midnight
 * @param days ISO weekdays
 * @param timezones IANA names, at least one
 */
export function nextLocalTime(
  { time, days }: { time: number; days?: readonly number[] | undefined },
  timezones: readonly string[],
  now: Date,
): Date {
  const today = Temporal.Instant.fromEpochMilliseconds(now.getTime());
  const [first] = timezones
    .map((zone) => today.toZonedDateTimeISO(zone).toPlainDate())
    .sort(Temporal.PlainDate.compare);
  for (let day = 0; day < HORIZON_DAYS; day += 1) {
    const date = first!.add({ days: day });
    if (days && !days.includes(date.dayOfWeek)) continue;
    const at = Math.max(...timezones.map((zone) => momentOf(date, time, zone)));
    if (at >= now.getTime()) return new Date(at);
  }
  throw new Error(`No ${time} on ${days} in ${timezones} after ${now.toISOString()}.`);
}

/** When a clock shows a time for the first time, or has gone past it, in milliseconds. */
function momentOf(date: Temporal.PlainDate, time: number, timezone: string): number {
  const wall = date.toPlainDateTime({ hour: Math.floor(time / 60), minute: time % 60 });
  const shown = wall.toZonedDateTime(timezone, { disambiguation: 'earlier' });
  if (shown.toPlainDateTime().equals(wall)) return shown.epochMilliseconds;
  // The clocks go forward past it; this is shortly before they do.
  return shown.getTimeZoneTransition('next')!.epochMilliseconds;
}
