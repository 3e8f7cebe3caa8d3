import { Temporal } from 'temporal-polyfill';
import { isTimestamp } from '../../../foundation/values/timestamp.ts';
import { StepError } from './step-error.ts';

/** What templates count with: a time on the clock of a zone or an offset, or a date, which is the same everywhere. */
export type Moment = Temporal.ZonedDateTime | Temporal.PlainDate;

export const isMoment = (value: unknown): value is Moment =>
  value instanceof Temporal.ZonedDateTime || value instanceof Temporal.PlainDate;

const DATE = /^\d{4}-\d\d-\d\d$/;
const [FIRST_YEAR, LAST_YEAR] = [1, 9999];

/** What four digits of a year can tell. */
const inYears = <M extends Moment>(moment: M): M | undefined =>
  moment.year >= FIRST_YEAR && moment.year <= LAST_YEAR ? moment : undefined;

/** Reads an RFC 3339 time, on the clock of its own offset, or a date `YYYY-MM-DD`; nothing for what is neither. */
export function readMoment(value: unknown): Moment | undefined {
  if (typeof value !== 'string') return undefined;
  try {
    if (DATE.test(value)) return inYears(Temporal.PlainDate.from(value));
    if (!isTimestamp(value)) return undefined;
    return Temporal.Instant.from(value).toZonedDateTimeISO(/z$/i.test(value) ? 'UTC' : value.slice(-6));
  } catch {
    return undefined;
  }
}

/** A time as RFC 3339, with the offset of its clock; a date as `YYYY-MM-DD`. */
export function momentText(moment: Moment): string {
  if (moment instanceof Temporal.PlainDate) return moment.toString();
  const text = moment.toString({ timeZoneName: 'never' });
  return moment.timeZoneId === 'UTC' ? text.replace(/\+00:00$/, 'Z') : text;
}

/** A time on the clock of a zone. Throws StepError `invalid_time` where it leaves the years 1 to 9999 there. */
export function onClock(moment: Temporal.ZonedDateTime, timezone: string): Temporal.ZonedDateTime {
  const there = inYears(moment.withTimeZone(timezone));
  if (there) return there;
  throw new StepError(
    'invalid_time',
    `${momentText(moment)} leaves the years ${FIRST_YEAR} to ${LAST_YEAR} in ${timezone}.`,
  );
}

/**
 * A moment and a duration, on its own clock: a day later is the same hour, also where clocks change between.
 * @throws StepError `invalid_time` for hours that are added to a date, and beyond the years 1 to 9999
 */
export function shifted(moment: Moment, duration: Temporal.Duration): Moment {
  if (moment instanceof Temporal.PlainDate && hasHours(duration))
    throw new StepError(
      'invalid_time',
      `${moment} is a date without a time, to which ${duration.abs()} can not be added.`,
    );
  try {
    const result = inYears<Moment>(moment.add(duration));
    if (result) return result;
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
  }
  throw new StepError(
    'invalid_time',
    `${momentText(moment)} and ${duration} leave the years ${FIRST_YEAR} to ${LAST_YEAR}.`,
  );
}

const hasHours = ({ hours, minutes, seconds, milliseconds, microseconds, nanoseconds }: Temporal.Duration): boolean =>
  [hours, minutes, seconds, milliseconds, microseconds, nanoseconds].some((part) => part !== 0);
