import { Temporal } from 'temporal-polyfill';
import type { Moment } from './moment.ts';
import { StepError } from './step-error.ts';

/** How `format` tells a moment. */
const forms = {
  date: { dateStyle: 'long' },
  time: { timeStyle: 'short' },
  datetime: { dateStyle: 'long', timeStyle: 'short' },
  weekday: { weekday: 'long' },
} satisfies Record<string, Intl.DateTimeFormatOptions>;
export type Form = keyof typeof forms;
export const FORMS = 'date, time, datetime or weekday';

export const isForm = (text: string): text is Form => Object.hasOwn(forms, text);

/** A language, its script and its region. */
const LOCALE = /^[a-z]{2,3}(-[a-z]{4})?(-([a-z]{2}|\d{3}))?$/i;

/** Whether there are words of a locale such as `de` or `en-GB`. */
export const isLocale = (text: string): boolean =>
  LOCALE.test(text) && Intl.DateTimeFormat.supportedLocalesOf([text]).length > 0;

/** They are made in a tenth of a millisecond, and large. */
const MOST_KEPT = 200;
const kept = new Map<string, Intl.DateTimeFormat>();

function tellerOf(form: Form, locale: string): Intl.DateTimeFormat {
  const name = `${form} ${locale}`;
  const known = kept.get(name);
  if (known) return known;
  if (kept.size >= MOST_KEPT) kept.clear();
  const teller = new Intl.DateTimeFormat(locale, { ...forms[form], timeZone: 'UTC' });
  kept.set(name, teller);
  return teller;
}

/**
 * A moment as people say it, by its own clock, with plain blanks.
 * @throws StepError `invalid_time` for the hour of a date
 */
export function tellMoment(moment: Moment, form: Form, locale: string): string {
  if (moment instanceof Temporal.PlainDate && 'timeStyle' in forms[form])
    throw new StepError('invalid_time', `${moment} is a date without a time. Format it as date or weekday.`);
  const asIfInUtc = moment.toPlainDateTime().toZonedDateTime('UTC');
  return tellerOf(form, locale)
    .format(asIfInUtc.epochMilliseconds)
    .replace(/\p{Zs}/gu, ' ');
}
