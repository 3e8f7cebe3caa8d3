import type { Command } from 'commander';
import { usageFault } from '../faults.ts';
import type { Options } from '../flags.ts';

// Hours, tries and holidays of a campaign as people write them, each for one field of the contract.

const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
const ALL_DAYS = [1, 2, 3, 4, 5, 6, 7];
const DAY_MINUTES = 24 * 60;

/** `mon`, `mon-fri`, `sat,sun` or `daily`, as ISO weekdays; nothing of what is none. */
function daysOf(text: string): number[] | undefined {
  if (text === 'daily') return ALL_DAYS;
  const days = new Set<number>();
  for (const part of text.split(',')) {
    const [from, to = from] = part.split('-').map((day) => DAYS.indexOf(day) + 1);
    if (!from || !to || part.split('-').length > 2) return undefined;
    for (let day = from; ; day = (day % 7) + 1) {
      days.add(day);
      if (day === to) break;
    }
  }
  return [...days].sort();
}

const CLOCKS = /^(\d{1,2}):(\d\d)-(\d{1,2}):(\d\d)$/;
const RIGHT_HOURS = "Write days and a 24-hour clock: --hours 'mon-fri 09:00-18:00'. Every day is daily.";

/** Reads `mon-fri 09:00-18:00` as a calling window. Refuses what can be read in two ways. */
export function callingWindow(text: string): { days: number[]; start: number; end: number } {
  const [days = '', clocks = '', ...more] = text.trim().toLowerCase().split(/\s+/);
  const onDays = daysOf(days);
  if (!clocks && CLOCKS.test(days))
    throw usageFault(`--hours ${text} doesn't say on which days.`, `--hours 'mon-fri ${days}', or 'daily ${days}'`);
  const [, fromHour = '', fromMinute, toHour = '', toMinute] = CLOCKS.exec(clocks) ?? [];
  const [start, end] = [
    Number(fromHour) * 60 + Number(fromMinute),
    Number(toHour) * 60 + Number(toMinute) || DAY_MINUTES,
  ];
  const isClock = start < DAY_MINUTES && end <= DAY_MINUTES && Number(fromMinute) < 60 && Number(toMinute) < 60;
  if (!onDays || more.length > 0 || !isClock) throw usageFault(`--hours can't read ${text}.`, RIGHT_HOURS);
  if (start === end)
    throw usageFault(`--hours ${text} may be no time at all or a whole day.`, `The whole day: '${days} 00:00-24:00'`);
  const two = (hour: string | number) => String(hour).padStart(2, '0');
  if (end < start && toHour.length === 1)
    throw usageFault(
      `--hours ${text} may end in the morning of the next day or in the evening.`,
      `'${days} ${two(fromHour)}:${fromMinute}-${two(toHour)}:${toMinute}', or '${days} ${two(fromHour)}:${fromMinute}-${Number(toHour) + 12}:${toMinute}'`,
    );
  return { days: onDays, start, end };
}

const MINUTES: Readonly<Record<string, number>> = { m: 1, h: 60, d: DAY_MINUTES };

/** Reads `15m`, `2h` or `1d` as minutes. */
function minutesOf(text: string, flag: string): number {
  const [, amount, unit] = /^(\d{1,5})([mhd]?)$/.exec(text.trim().toLowerCase()) ?? [];
  if (!amount)
    throw usageFault(`${flag} can't read ${text}.`, `Write the wait before each next try: ${flag} 15m,2h; or none.`);
  if (!unit) throw usageFault(`${flag} ${text} may be minutes or hours.`, `${amount}m, or ${amount}h`);
  return Number(amount) * MINUTES[unit]!;
}

/** Reads `72h`, or `none`. */
function abandonedRetry(text: string): 'none' | { afterHours: number } {
  if (text === 'none') return text;
  const minutes = minutesOf(text, '--abandoned-retry');
  if (minutes % 60 > 0) throw usageFault('--abandoned-retry takes whole hours, such as 72h; or none.');
  return { afterHours: minutes / 60 };
}

/** Reads `2026-12-25`. */
function date(text: string): string {
  const day = text.trim();
  const read = /^\d{4}-\d\d-\d\d$/.test(day) ? new Date(`${day}T00:00:00Z`) : undefined;
  if (read && !Number.isNaN(read.getTime()) && read.toISOString().startsWith(day)) return day;
  throw usageFault(
    /^[a-z]{2}$/i.test(day)
      ? `--holidays takes dates: which days ${day} keeps is not known here.`
      : `--holidays can't read ${text}.`,
    'Write year, month and day: --holidays 2026-12-25,2027-01-01; or none.',
  );
}

/** `none`, or each part of a text by commas, read. */
const orNone = <Value>(text: string, read: (part: string) => Value) =>
  text === 'none' ? [] : text.split(',').map(read);

export const addTimeFlags = (command: Command) =>
  command
    .option('--hours <window...>', "when it calls, such as 'mon-fri 09:00-18:00'")
    .option('--retry <waits>', 'before each next try, such as 15m,2h; or none')
    .option('--abandoned-retry <wait>', 'for who met no agent, such as 72h; or none')
    .option('--holidays <dates>', 'nobody is called, such as 2026-12-25; or none');

/** The fields that the flags of times give. `none` as hours means the whole week. */
export function timesOf(options: Options): Options {
  const {
    hours,
    retry,
    abandonedRetry: abandoned,
    holidays,
  } = options as Record<string, string | undefined> & {
    hours?: string[];
  };
  return {
    ...(hours && { callingWindows: hours.join() === 'none' ? null : hours.map(callingWindow) }),
    ...(retry !== undefined && { retryPolicy: orNone(retry, (part) => minutesOf(part, '--retry')) }),
    ...(abandoned !== undefined && { abandonedRetry: abandonedRetry(abandoned) }),
    ...(holidays !== undefined && { holidays: orNone(holidays, date) }),
  };
}
