import { Temporal } from 'temporal-polyfill';
import { readTimeZone, timeZoneFault, timeZoneHint } from '../../../audience/contact-lists/reading/time-zone.ts';
import type { Context } from './definition.ts';
import { lookUp } from './look-up.ts';
import { type Moment, onClock, readMoment, shifted } from './moment.ts';
import { placeFault, zonesOfPlace } from './place.ts';
import { StepError } from './step-error.ts';
import { FORMS, isForm, isLocale, tellMoment } from './tell-moment.ts';

/** What stands behind the colon of a filter: a text in quotes, or a bare word. */
export interface Argument {
  kind: 'text' | 'word';
  value: string;
}

/** One filter, its arguments read. */
export type TemplateFilter =
  | { name: 'default'; text: string; paths: Paths }
  | {
      name: 'plus' | 'minus' | 'in' | 'format';
      apply(moment: Moment, context: Context): Moment | string;
      paths: Paths;
    };

interface Paths {
  /** Every path that the filter reads. */
  all: readonly string[];
  /** Those that it can't do without. */
  needed: readonly string[];
}

/** Why a filter can't be used as it is written, for a person. */
export class FilterFault extends Error {}

const NO_PATHS: Paths = { all: [], needed: [] };
const TIME_SHOWN = 'an RFC 3339 time such as 2026-11-20T09:30:00Z, or a date such as 2026-11-20';

/** A path that leads nowhere, `null` and a text of blanks are no values to a filter. */
export const isNothing = (value: unknown): boolean =>
  value === undefined || value === null || (typeof value === 'string' && value.trim() === '');

/** What a filter counts with. Throws StepError `invalid_time`. */
export function needMoment(value: unknown): Moment {
  const moment = readMoment(value);
  if (moment) return moment;
  const shown = (JSON.stringify(value) ?? 'nothing').slice(0, 64);
  throw new StepError('invalid_time', `${shown} is no time. Give ${TIME_SHOWN}.`);
}

/**
 * Reads a filter.
 * @param before the filters that stand before it
 * @throws FilterFault
 */
export function compileFilter(
  name: string,
  given: readonly Argument[],
  before: readonly TemplateFilter[],
): TemplateFilter {
  if (!isName(name)) throw new FilterFault(`There is no filter ${name}. There are ${NAMES}.`);
  const filter = compilers[name](given);
  if (filter.name === 'default') return filter;
  if (before.some((other) => other.name === 'format'))
    throw new FilterFault(`${name} can not follow format, which makes text of a time. Put format last.`);
  const stood = before.find((other) => other.name === 'default');
  if (stood && !readMoment(stood.text))
    throw new FilterFault(
      `${name} needs a time, and the default before it is none. Put default last, or give ${TIME_SHOWN}.`,
    );
  return filter;
}

const compilers = {
  default: ([text, ...more]: readonly Argument[]): TemplateFilter => {
    if (text?.kind !== 'text' || more.length > 0)
      throw new FilterFault('default takes one text in quotes, such as default: "there".');
    return { name: 'default', text: text.value, paths: NO_PATHS };
  },
  plus: (given: readonly Argument[]): TemplateFilter => shift('plus', given),
  minus: (given: readonly Argument[]): TemplateFilter => shift('minus', given),
  in: (given: readonly Argument[]): TemplateFilter => {
    if (given.length === 0)
      throw new FilterFault('in takes a time zone, such as in: "Europe/Berlin", or a path, such as in: phone_number.');
    const places = given.map(({ kind, value }) =>
      kind === 'text' ? { zone: needZone(value) } : { path: needPath(value) },
    );
    const all = places.flatMap(({ path }) => path ?? []);
    const last = places.at(-1)!.path;
    return {
      name: 'in',
      apply: (moment, context) => (moment instanceof Temporal.PlainDate ? moment : onClockOf(moment, places, context)),
      paths: { all, needed: last === undefined ? [] : [last] },
    };
  },
  format: ([form, locale, ...more]: readonly Argument[]): TemplateFilter => {
    if (form?.kind !== 'word' || !isForm(form.value) || locale?.kind === 'word' || more.length > 0)
      throw new FilterFault(`format takes ${FORMS}, and then a locale if you like: format: time, "de".`);
    const [name, language] = [form.value, locale?.value ?? 'en-US'];
    if (!isLocale(language))
      throw new FilterFault(`There is no locale ${language.slice(0, 64)}. Give one such as "de" or "en-GB".`);
    return { name: 'format', apply: (moment) => tellMoment(moment, name, language), paths: NO_PATHS };
  },
};
const NAMES = 'default, plus, minus, in and format';
const isName = (name: string): name is keyof typeof compilers => Object.hasOwn(compilers, name);

function needZone(text: string): string {
  const zone = readTimeZone(text);
  if (zone !== undefined) return zone;
  throw new FilterFault(timeZoneHint(text) ?? `${timeZoneFault(text)} A path stands without quotes: in: phone_number.`);
}

function needPath(path: string): string {
  const zone = readTimeZone(path);
  if (zone !== undefined) throw new FilterFault(`${zone} is a time zone. Put it in quotes: in: "${zone}".`);
  return path;
}

/** Years that a duration may have at most, so that it stays within those of a time. */
const LONGEST_YEARS = 1000;

function shift(name: 'plus' | 'minus', [text, ...more]: readonly Argument[]): TemplateFilter {
  const duration = text?.kind === 'text' && more.length === 0 ? readDuration(text.value) : undefined;
  if (!duration)
    throw new FilterFault(
      `${name} takes one ISO 8601 duration without a sign, of at most ${LONGEST_YEARS} years: ${name}: "P1D", ${name}: "PT2H30M".`,
    );
  const by = name === 'plus' ? duration : duration.negated();
  return { name, apply: (moment) => shifted(moment, by), paths: NO_PATHS };
}

function readDuration(text: string): Temporal.Duration | undefined {
  if (!text.startsWith('P')) return undefined;
  try {
    const duration = Temporal.Duration.from(text);
    const begin = Temporal.PlainDateTime.from('2000-01-01T00:00');
    return Temporal.PlainDateTime.compare(begin.add(duration), begin.add({ years: LONGEST_YEARS })) > 0
      ? undefined
      : duration;
  } catch {
    return undefined;
  }
}

/** A time on the clock of the first of some places that has one clock at that time; what can't be read has none. */
function onClockOf(
  moment: Temporal.ZonedDateTime,
  places: readonly { zone?: string; path?: string }[],
  context: Context,
): Moment {
  let why: string | undefined;
  for (const { zone, path } of places) {
    if (zone !== undefined) return onClock(moment, zone);
    const value = lookUp(context, path!);
    if (isNothing(value)) continue;
    const there = onOneClock(moment, typeof value === 'string' ? value : JSON.stringify(value));
    if (typeof there !== 'string') return there;
    why ??= there;
  }
  const last = places.flatMap(({ path }) => path ?? []).at(-1);
  if (why === undefined) throw new StepError('template_key_missing', `The context has no value for ${last}.`);
  throw new StepError('invalid_time_zone', `${why} Name what counts then: in: ${last}, "Europe/Berlin".`);
}

/** A time on the clock of a place, or why that tells no clock. */
function onOneClock(moment: Temporal.ZonedDateTime, place: string): Temporal.ZonedDateTime | string {
  const fault = placeFault(place);
  if (fault !== undefined) return `"${place.slice(0, 64)}": ${fault}`;
  const zones = zonesOfPlace(place);
  if (zones[0] === undefined) return `No time zone is known of ${place}.`;
  const first = onClock(moment, zones[0]);
  if (zones.every((each) => moment.withTimeZone(each).offset === first.offset)) return first;
  return `${place} may be in ${zones.slice(0, 4).join(', ')}${zones.length > 4 ? ' and others' : ''}, where clocks differ.`;
}
