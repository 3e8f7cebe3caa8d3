import { Temporal } from 'temporal-polyfill';

/** Minutes since local midnight on some ISO weekdays (Monday is 1). One that ends at or before its start ends the next day. */
export interface WeeklyWindow {
  /** The days on which it opens. */
  days: readonly number[];
  /** 0 to 1439. */
  start: number;
  /** 1 to 1440, not included. */
  end: number;
}

/** When calls may be placed, by the callee's own clock. */
export interface CallingHours {
  windows: readonly WeeklyWindow[];
  /** No call in these, whatever the windows say. */
  quiet: readonly WeeklyWindow[];
  /** Local dates, `YYYY-MM-DD`, on which nobody is called from 00:00 to 24:00. */
  holidays: ReadonlySet<string>;
}

/** A stretch of time, `[opensAt, closesAt)`. */
export interface CallingWindow {
  opensAt: Date;
  closesAt: Date;
}

/** Why no call may be placed at an instant. */
export type ClosedReason = 'holiday' | 'quiet_hours' | 'outside_window';

export const EVERY_DAY: readonly number[] = [1, 2, 3, 4, 5, 6, 7];
/** All day, every day. */
export const ALWAYS: readonly WeeklyWindow[] = [{ days: EVERY_DAY, start: 0, end: 1440 }];

const DAY_MINUTES = 1440;
const WEEK_MINUTES = 7 * DAY_MINUTES;
/** The epoch was a Thursday. */
const EPOCH_MINUTE = 3 * DAY_MINUTES;
/** How far ahead windows are looked for. A window that is open for longer is computed again when it ends. */
const HORIZON_DAYS = 8;
export const HORIZON_MS = HORIZON_DAYS * DAY_MINUTES * 60_000;
/** How far ahead clock changes are looked at, to tell whether zones ever have an open minute in common. */
const YEAR_DAYS = 371;

/** Whether a minute of the local week, from Monday 00:00, lies in one of the windows. */
const within = (windows: readonly WeeklyWindow[], minuteOfWeek: number): boolean =>
  windows.some(({ days, start, end }) =>
    days.some((day) => {
      const since = (minuteOfWeek - (day - 1) * DAY_MINUTES - start + WEEK_MINUTES) % WEEK_MINUTES;
      return since < (end > start ? end - start : end - start + DAY_MINUTES);
    }),
  );

const minuteOfWeek = (local: Temporal.ZonedDateTime): number =>
  (local.dayOfWeek - 1) * DAY_MINUTES + local.hour * 60 + local.minute;

const inZone = (at: Date, timezone: string): Temporal.ZonedDateTime =>
  Temporal.Instant.fromEpochMilliseconds(at.getTime()).toZonedDateTimeISO(timezone);

function closedAt({ windows, quiet, holidays }: CallingHours, local: Temporal.ZonedDateTime): ClosedReason | undefined {
  if (holidays.has(local.toPlainDate().toString())) return 'holiday';
  const minute = minuteOfWeek(local);
  if (within(quiet, minute)) return 'quiet_hours';
  return within(windows, minute) ? undefined : 'outside_window';
}

/**
 * Why calls are closed at an instant in one of some time zones, or undefined if they are open in all. It goes from
 * the instant to the local clock, so that a repeated hour counts twice and a skipped one not at all (dialing.md,
 * "Lanes").
 */
export function closedReason(hours: CallingHours, timezones: readonly string[], at: Date): ClosedReason | undefined {
  for (const timezone of timezones) {
    const reason = closedAt(hours, inZone(at, timezone));
    if (reason) return reason;
  }
  return undefined;
}

/** The instants after `now`, within the horizon, at which calls may open or close in a zone, in milliseconds. */
function boundaries({ windows, quiet }: CallingHours, now: Temporal.ZonedDateTime): number[] {
  const minutes = new Set([0, ...[...windows, ...quiet].flatMap(({ start, end }) => [start, end % DAY_MINUTES])]);
  const found: number[] = [];
  for (let day = 0; day <= HORIZON_DAYS; day++) {
    const date = now.toPlainDate().add({ days: day });
    for (const minute of minutes) {
      const wall = date.toPlainDateTime({ hour: Math.floor(minute / 60), minute: minute % 60 });
      for (const disambiguation of ['earlier', 'later'] as const) {
        found.push(wall.toZonedDateTime(now.timeZoneId, { disambiguation }).epochMilliseconds);
      }
    }
  }
  return [...found, ...clockChanges(now, HORIZON_DAYS).map((change) => change.epochMilliseconds)];
}

function clockChanges(from: Temporal.ZonedDateTime, days: number): Temporal.ZonedDateTime[] {
  const end = from.add({ days });
  const changes: Temporal.ZonedDateTime[] = [];
  let change = from.getTimeZoneTransition('next');
  while (change && Temporal.ZonedDateTime.compare(change, end) <= 0) {
    changes.push(change);
    change = change.getTimeZoneTransition('next');
  }
  return changes;
}

/**
 * The window that is open at `now` in all of some time zones, or the next one. Where none opens within the horizon, an
 * empty window at its end, to be computed again then.
 */
export function nextCallingWindow(hours: CallingHours, timezones: readonly string[], now: Date): CallingWindow {
  const end = now.getTime() + HORIZON_MS;
  const ahead = [...new Set(timezones.flatMap((timezone) => boundaries(hours, inZone(now, timezone))))]
    .filter((at) => at > now.getTime() && at < end)
    .sort((a, b) => a - b);
  ahead.push(end);
  const isOpen = (at: number) => closedReason(hours, timezones, new Date(at)) === undefined;
  const opensAt = isOpen(now.getTime()) ? now.getTime() : (ahead.find(isOpen) ?? end);
  const closesAt = ahead.find((at) => at > opensAt && !isOpen(at)) ?? end;
  return { opensAt: new Date(opensAt), closesAt: new Date(closesAt) };
}

/**
 * Whether each of some time zones has open hours, and never all at once: who may be in any of them is called by nobody.
 * `window` is the next one.
 */
export function neverOpenTogether(
  hours: CallingHours,
  timezones: readonly string[],
  window: CallingWindow,
  now: Date,
): boolean {
  if (timezones.length < 2 || window.opensAt < window.closesAt) return false;
  return haveCommonHour(hours, timezones.slice(0, 1), now) && !haveCommonHour(hours, timezones, now);
}

/**
 * Whether calls are ever open in all of some time zones at once, in any week of the year after `from`. Holidays don't
 * count: they pass.
 */
export function haveCommonHour(
  { windows, quiet }: Pick<CallingHours, 'windows' | 'quiet'>,
  timezones: readonly string[],
  from: Date,
): boolean {
  const open = openWeek({ windows, quiet });
  // Between two changes of any of the clocks they show the same against UTC: for half a year, or for an hour.
  const instants = [from, ...timezones.flatMap((zone) => changesOf(zone, from))].sort((a, b) => +a - +b);
  return instants.some((at, index) => {
    const each = timezones.map((zone) => offsetMinutes(zone, at));
    const first = Math.floor(at.getTime() / 60_000) + EPOCH_MINUTE;
    const lasts = ((instants[index + 1]?.getTime() ?? Number.POSITIVE_INFINITY) - at.getTime()) / 60_000;
    for (let minute = 0; minute < Math.min(lasts, WEEK_MINUTES); minute += 1) {
      if (each.every((offset) => open[(first + minute + offset + WEEK_MINUTES) % WEEK_MINUTES])) return true;
    }
    return false;
  });
}

/** Of each minute of the local week whether calls are open, but for holidays. */
const openWeek = ({ windows, quiet }: Pick<CallingHours, 'windows' | 'quiet'>): boolean[] =>
  Array.from({ length: WEEK_MINUTES }, (_, at) => within(windows, at) && !within(quiet, at));

/** Whether any minute of a week is open, holidays apart. */
export const isEverOpen = (hours: Pick<CallingHours, 'windows' | 'quiet'>): boolean => openWeek(hours).includes(true);

/** What a clock shows in each minute from a time on, for a day: the minute of its own day, and whether calls are open by it. */
export interface ClockDay {
  /** 0 to 1439. */
  minutes: number[];
  open: boolean[];
}

/** Reads clocks for the 24 hours after a time, in whole minutes. What time zones share is worked out once. */
export function clockReader(hours: CallingHours, from: Date): (timezone: string) => ClockDay {
  const week = openWeek(hours);
  const first = Math.floor(from.getTime() / 60_000);
  return (timezone) => {
    const changes = clockChanges(inZone(from, timezone), 1).map(({ epochMilliseconds }) => epochMilliseconds / 60_000);
    const starts = [first, ...changes].map((at) => ({ at, offset: offsetMinutes(timezone, new Date(at * 60_000)) }));
    const local = Array.from({ length: DAY_MINUTES }, (_, minute) => {
      const at = first + minute;
      return at + starts.findLast((start) => start.at <= at)!.offset;
    });
    const isHoliday = new Map<number, boolean>();
    for (const day of new Set(local.map((at) => Math.floor(at / DAY_MINUTES)))) {
      isHoliday.set(day, hours.holidays.has(new Date(day * DAY_MINUTES * 60_000).toISOString().slice(0, 10)));
    }
    return {
      minutes: local.map((at) => at % DAY_MINUTES),
      open: local.map(
        (at) => week[(at + EPOCH_MINUTE) % WEEK_MINUTES]! && !isHoliday.get(Math.floor(at / DAY_MINUTES)),
      ),
    };
  };
}

/** How many minutes of the seven days from a time on are open in all of some time zones. */
export function openMinutes(hours: CallingHours, timezones: readonly string[], from: Date): number {
  const end = from.getTime() + WEEK_MINUTES * 60_000;
  let open = 0;
  for (let at = from; at.getTime() < end; ) {
    const { opensAt, closesAt } = nextCallingWindow(hours, timezones, at);
    open += Math.max(0, Math.min(closesAt.getTime(), end) - Math.min(opensAt.getTime(), end));
    at = closesAt;
  }
  return Math.round(open / 60_000);
}

const changesOf = (timezone: string, from: Date): Date[] =>
  clockChanges(inZone(from, timezone), YEAR_DAYS).map((change) => new Date(change.epochMilliseconds));

const offsetMinutes = (timezone: string, at: Date): number =>
  Math.floor(inZone(at, timezone).offsetNanoseconds / 60_000_000_000);
