import { Temporal } from 'temporal-polyfill';

/** Minutes since local midnight, `[start, end)`. */
export interface MinuteSpan {
  start: number;
  end: number;
}

/** When calls may be placed, in the callee's local time. */
export interface CallingHours {
  /** The campaign's hours; without them, the whole day. */
  schedule?: MinuteSpan;
  /** ISO weekdays, Monday is 1. */
  days: readonly number[];
  /** The workspace's quiet hours: no call in them. */
  quiet?: MinuteSpan;
}

/** A stretch of time, `[opensAt, closesAt)`. */
export interface CallingWindow {
  opensAt: Date;
  closesAt: Date;
}

/** Why no call may be placed at an instant. */
export type ClosedReason = 'outside_window' | 'quiet_hours';

/** How far ahead windows are looked for. A window that is open for longer is computed again when it ends. */
const HORIZON_DAYS = 8;

const within = (minute: number, { start, end }: MinuteSpan) => minute >= start && minute < end;

/**
 * Why calls are closed at an instant, or undefined where they are open. It goes from the instant to the local
 * clock, so that a repeated hour counts twice and a skipped one not at all (engine.md, "Time").
 */
export function closedReason(hours: CallingHours, timezone: string, at: Date): ClosedReason | undefined {
  return closedAt(hours, Temporal.Instant.fromEpochMilliseconds(at.getTime()).toZonedDateTimeISO(timezone));
}

function closedAt({ schedule, days, quiet }: CallingHours, local: Temporal.ZonedDateTime): ClosedReason | undefined {
  const minute = local.hour * 60 + local.minute;
  if (!days.includes(local.dayOfWeek)) return 'outside_window';
  if (schedule && !within(minute, schedule)) return 'outside_window';
  if (quiet && within(minute, quiet)) return 'quiet_hours';
  return undefined;
}

/** The instants after `now`, within the horizon, at which calls may open or close, in order. */
function boundaries({ schedule, quiet }: CallingHours, now: Temporal.ZonedDateTime): Temporal.ZonedDateTime[] {
  const found = new Map<number, Temporal.ZonedDateTime>();
  const add = (at: Temporal.ZonedDateTime) => found.set(at.epochMilliseconds, at);
  const minutes = new Set([0, schedule?.start, schedule?.end, quiet?.start, quiet?.end]);
  for (let day = 0; day <= HORIZON_DAYS; day++) {
    const date = now.toPlainDate().add({ days: day });
    for (const minute of minutes) {
      if (minute === undefined || minute >= 1440) continue;
      const wall = date.toPlainDateTime({ hour: Math.floor(minute / 60), minute: minute % 60 });
      for (const disambiguation of ['earlier', 'later'] as const) {
        add(wall.toZonedDateTime(now.timeZoneId, { disambiguation }));
      }
    }
  }
  const change = now.getTimeZoneTransition('next');
  if (change) add(change);
  return [...found.values()]
    .filter((at) => at.epochMilliseconds > now.epochMilliseconds)
    .sort((a, b) => a.epochMilliseconds - b.epochMilliseconds);
}

/**
 * The window that is open at `now`, or the next one. Where none opens within the horizon, an empty window at its
 * end, to be computed again then.
 */
export function nextCallingWindow(hours: CallingHours, timezone: string, now: Date): CallingWindow {
  const local = Temporal.Instant.fromEpochMilliseconds(now.getTime()).toZonedDateTimeISO(timezone);
  const end = local.add({ days: HORIZON_DAYS });
  const ahead = [...boundaries(hours, local).filter((at) => Temporal.ZonedDateTime.compare(at, end) < 0), end];
  const isOpen = (at: Temporal.ZonedDateTime) => closedAt(hours, at) === undefined;

  const opens = isOpen(local) ? local : (ahead.find(isOpen) ?? end);
  const closes = ahead.find((at) => Temporal.ZonedDateTime.compare(at, opens) > 0 && !isOpen(at)) ?? end;
  return { opensAt: new Date(opens.epochMilliseconds), closesAt: new Date(closes.epochMilliseconds) };
}
