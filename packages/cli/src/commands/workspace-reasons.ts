import type { components } from '@trunkline/client';
import { count, several } from '../text.ts';

type Workspace = components['schemas']['Workspace'];
type Person = components['schemas']['Person'];

interface Window {
  days: readonly number[];
  start: number;
  end: number;
}

const ALL_DAYS = [1, 2, 3, 4, 5, 6, 7];
const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
const HOUR_MS = 3_600_000;

/** A clock that somebody looks at. */
function localTime(timeZone: string, now: Date) {
  const parts = new Intl.DateTimeFormat('en-CA', {
    timeZone,
    hourCycle: 'h23',
    weekday: 'short',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
  }).formatToParts(now);
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.find((each) => each.type === type)?.value ?? '';
  return {
    clock: `${part('hour')}:${part('minute')}`,
    minute: Number(part('hour')) * 60 + Number(part('minute')),
    weekday: WEEKDAYS.findIndex((day) => part('weekday').startsWith(day)) + 1,
    date: `${part('year')}-${part('month')}-${part('day')}`,
  };
}

/** Whether a window is open. The rest of one that runs past midnight belongs to the day before. */
function isOpen({ days, start, end }: Window, { weekday, minute }: { weekday: number; minute: number }): boolean {
  const dayBefore = ((weekday + 5) % 7) + 1;
  if (end > start) return days.includes(weekday) && minute >= start && minute < end;
  return (days.includes(weekday) && minute >= start) || (days.includes(dayBefore) && minute < end);
}

/** The time zones that count: those that lists know, else those that the number may be in. */
const zonesOf = ({ lists, timezones }: Person): string[] => {
  const known = new Set(lists.flatMap(({ entry }) => entry.timezones ?? []));
  return known.size > 0 ? [...known] : timezones;
};

function hours(
  { quietHours, quietHoursAreDefault, quietWindows = [], holidays = [] }: Workspace,
  person: Person,
  now: Date,
) {
  const free = quietHoursAreDefault ? ' Simulated calls and trusted numbers are free of them.' : '';
  return zonesOf(person).flatMap((zone) => {
    const there = localTime(zone, now);
    const at = `It is ${there.clock} in ${zone}`;
    return [
      quietHours && isOpen({ days: ALL_DAYS, ...quietHours }, there) && `${at}: the workspace's quiet hours.${free}`,
      quietWindows.some((window) => isOpen(window, there)) && `${at}: a quiet part of the workspace's week.`,
      holidays.includes(there.date) && `It is ${there.date} in ${zone}: a holiday of the workspace.`,
    ];
  });
}

function caps({ limits, usage }: Workspace, { calls = [], hasMoreCalls }: Person, zones: string[], now: Date) {
  const { maxAttemptsPerPersonPerDay: aDay, maxAttemptsPerPerson = [], maxCallsPerDay, maxConcurrentCalls } = limits;
  const attempts = calls.filter(({ direction, dialedAt }) => direction === 'outbound' && dialedAt);
  const more = hasMoreCalls ? ' at least' : '';
  const today = zones.map(
    (zone) =>
      attempts.filter(({ dialedAt }) => localTime(zone, new Date(dialedAt!)).date === localTime(zone, now).date).length,
  );
  const most = Math.max(0, ...today);
  return [
    aDay !== undefined &&
      most >= aDay &&
      `Called${more} ${several(most, 'time')} today: the workspace allows ${count(aDay)} a day.`,
    ...maxAttemptsPerPerson.map(({ attempts: allowed, hours: within }) => {
      const since = now.getTime() - within * HOUR_MS;
      const made = attempts.filter(({ dialedAt }) => new Date(dialedAt!).getTime() > since).length;
      const text = `Called${more} ${several(made, 'time')} in ${several(within, 'hour')}: the workspace allows ${count(allowed)}.`;
      return made >= allowed && text;
    }),
    maxCallsPerDay !== undefined &&
      usage.callsToday >= maxCallsPerDay &&
      `The workspace has placed its ${several(maxCallsPerDay, 'call')} of the day (UTC).`,
    maxConcurrentCalls !== undefined &&
      usage.liveCalls >= maxConcurrentCalls &&
      `All ${several(maxConcurrentCalls, 'call')} that the workspace allows at once are up.`,
  ];
}

/** What of the workspace keeps it from calling a person now, a sentence each. */
export function workspaceReasons(workspace: Workspace, person: Person, now: Date): string[] {
  const said = [...hours(workspace, person, now), ...caps(workspace, person, zonesOf(person), now)];
  return said.filter((each) => typeof each === 'string');
}
