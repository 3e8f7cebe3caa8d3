import { Temporal } from 'temporal-polyfill';

/**
 * The beginnings of the local days or hours that a time touches, in order, and the end of the last. A day of a clock change
 * is shorter or longer; an hour that is repeated counts twice, and one that is skipped not at all.
 * @param timezone an IANA name
 */
export function timeBuckets(from: Date, to: Date, unit: 'day' | 'hour', timezone: string): Date[] {
  const end = to.getTime();
  let at = startOf(Temporal.Instant.fromEpochMilliseconds(from.getTime()).toZonedDateTimeISO(timezone), unit);
  const bounds = [new Date(at.epochMilliseconds)];
  while (at.epochMilliseconds < end) {
    at = next(at, unit);
    bounds.push(new Date(at.epochMilliseconds));
  }
  return bounds;
}

const startOf = (at: Temporal.ZonedDateTime, unit: 'day' | 'hour'): Temporal.ZonedDateTime =>
  unit === 'day'
    ? at.startOfDay()
    : at.subtract({ minutes: at.minute, seconds: at.second, milliseconds: at.millisecond });

function next(at: Temporal.ZonedDateTime, unit: 'day' | 'hour'): Temporal.ZonedDateTime {
  if (unit === 'day') return at.toPlainDate().add({ days: 1 }).toZonedDateTime(at.timeZoneId).startOfDay();
  const later = at.add({ hours: 1 });
  // Where clocks change by half an hour, the next hour begins half an hour sooner or later.
  const start = startOf(later, 'hour');
  return Temporal.ZonedDateTime.compare(start, at) > 0 ? start : later;
}
