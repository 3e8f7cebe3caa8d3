import type { Campaign, Workspace } from './words.ts';

/** Part of a day, in minutes since local midnight. */
export interface Span {
  start: number;
  end: number;
}
export interface Window extends Span {
  days: number[];
}

export const ALL_DAYS = [1, 2, 3, 4, 5, 6, 7];
const DAY_NAMES = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
export const dayName = (day: number) => DAY_NAMES[day - 1]!;

/** 570 is 09:30. */
export const clock = (minutes: number) =>
  `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(Math.floor(minutes % 60)).padStart(2, '0')}`;

/** 09:30 is 570; nothing where it is no time. */
export function minutesOf(text: string): number | undefined {
  const [, hours, minutes] = /^(\d{1,2}):(\d{2})$/.exec(text.trim()) ?? [];
  const total = Number(hours) * 60 + Number(minutes);
  return Number(minutes) < 60 && total <= 1440 ? total : undefined;
}

/** When the campaign calls, in either of the forms that it has: the whole week where it says nothing. */
export function windowsOf(
  campaign: Pick<Campaign, 'callingWindows' | 'scheduleStart' | 'scheduleEnd' | 'scheduleDays'>,
) {
  if (campaign.callingWindows) return campaign.callingWindows as Window[];
  const { scheduleStart = 0, scheduleEnd = 1440, scheduleDays = ALL_DAYS } = campaign;
  return [{ start: scheduleStart, end: scheduleEnd, days: scheduleDays }];
}

/** Windows in the form that a change of the campaign takes; the whole week is none. */
export function windowFields(windows: readonly Window[]) {
  const [only] = windows;
  if (windows.length !== 1 || only!.end <= only!.start) return { callingWindows: windows.map((each) => ({ ...each })) };
  const { start, end, days } = only!;
  const isWhole = start === 0 && end === 1440;
  return {
    scheduleStart: isWhole ? null : start,
    scheduleEnd: isWhole ? null : end,
    scheduleDays: days.length === 7 ? null : days,
  };
}

/** Spans of one day: one that runs past midnight is two. */
export function withinDay({ start, end }: Span): Span[] {
  if (end > start) return [{ start, end }];
  return [
    { start: 0, end },
    { start, end: 1440 },
  ].filter((span) => span.end > span.start);
}

/** The same time in spans that neither touch nor overlap, in order. */
export function merged(spans: readonly Span[]): Span[] {
  const whole: Span[] = [];
  for (const { start, end } of [...spans].sort((a, b) => a.start - b.start)) {
    const last = whole.at(-1);
    if (last && start <= last.end) last.end = Math.max(last.end, end);
    else whole.push({ start, end });
  }
  return whole;
}

/** Mon–Fri 09:00–18:00. */
export const windowSays = ({ days, start, end }: Window) => `${daysSay(days)} ${clock(start)}–${clock(end)}`;

/** Mon–Fri, or Mon, Wed; every day where it is all. */
export function daysSay(days: readonly number[]): string {
  const sorted = [...days].sort((a, b) => a - b);
  if (sorted.length === 7) return 'every day';
  const isRun = sorted.length > 2 && sorted.every((day, at) => day === sorted[0]! + at);
  return isRun ? `${dayName(sorted[0]!)}–${dayName(sorted.at(-1)!)}` : sorted.map(dayName).join(', ');
}

/** The quiet hours as spans of one day. */
export const nightsOf = (workspace: Pick<Workspace, 'quietHours'> | undefined): Span[] =>
  workspace?.quietHours ? withinDay(workspace.quietHours) : [];

const formats = new Map<string, Intl.DateTimeFormat>();

/** Minutes since midnight on the clock of a time zone; nothing where the browser doesn't know it. */
export function minutesIn(timezone: string, at: Date): number | undefined {
  let format = formats.get(timezone);
  try {
    format ??= new Intl.DateTimeFormat('en-GB', { timeZone: timezone, hour: '2-digit', minute: '2-digit' });
  } catch {
    return undefined;
  }
  formats.set(timezone, format);
  return minutesOf(format.format(at).replace(/^24/, '00'));
}

/** America/New_York is New York. */
export const placeOf = (timezone: string) => timezone.replace(/^.*\//, '').replaceAll('_', ' ');

/** Whether a minute of the day lies in one of the spans. */
export const isWithin = (spans: readonly Span[], minute: number) =>
  spans.some(({ start, end }) => minute >= start && minute < end);

/** Marks at the same minute stand at one place. */
export function marksAt(timezones: readonly string[], at: Date): { minute: number; places: string[] }[] {
  const byMinute = new Map<number, string[]>();
  for (const timezone of new Set(timezones)) {
    const minute = minutesIn(timezone, at);
    if (minute === undefined) continue;
    byMinute.set(minute, [...(byMinute.get(minute) ?? []), placeOf(timezone)]);
  }
  return [...byMinute].map(([minute, places]) => ({ minute, places })).sort((a, b) => a.minute - b.minute);
}
