import type { Context } from './definition.ts';
import { lookUp } from './look-up.ts';
import { isMoment, momentText } from './moment.ts';
import { parseTemplates, type Template } from './parse-template.ts';
import { StepError } from './step-error.ts';
import { isNothing, needMoment } from './template-filters.ts';

/** Most bytes that one template becomes (workflows.md, "Templates"). */
export const MAX_FILLED_BYTES = 65_536;
/** Most bytes that the templates of one value, such as an `http` body, become together: as much as a context holds. */
const MAX_VALUE_BYTES = 262_144;

const sizeOf = (text: string) => Buffer.byteLength(text);

/** What a template stands for. */
function need(context: Context, template: Template): unknown {
  const value = template.filters.length === 0 ? lookUp(context, template.path) : filtered(context, template);
  if (value !== undefined) return value;
  throw new StepError('template_key_missing', `The context has no value for ${template.path}.`);
}

const SHOWN = 120;

/** Nothing stays nothing until a `default`. */
function filtered(context: Context, { source, path, filters }: Template): unknown {
  let value = lookUp(context, path);
  try {
    for (const filter of filters) {
      if (filter.name === 'default') value = isNothing(value) ? filter.text : value;
      else if (!isNothing(value)) value = filter.apply(isMoment(value) ? value : needMoment(value), context);
    }
    if (value !== undefined && isNothing(value) && filters.some(({ name }) => name !== 'default')) needMoment(value);
  } catch (error) {
    if (!(error instanceof StepError)) throw error;
    throw new StepError(error.code, `${source.slice(0, SHOWN)}: ${error.message}`);
  }
  return isMoment(value) ? momentText(value) : value;
}

function tooLarge(path: string): StepError {
  return new StepError('template_too_large', `${path} makes this step larger than ${MAX_FILLED_BYTES} bytes.`);
}

/** A value within text: an object or an array as JSON, `null` as nothing. */
function asText(value: unknown): string {
  if (value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/**
 * Fills in the templates of a text. There is no logic but that of filters, no escaping, and what was filled in is not looked
 * at again.
 * @param encode what is done to each filled-in value, such as percent-encoding
 * @throws StepError `template_key_missing`, `template_too_large` (over 64 KiB), `invalid_time`, `invalid_time_zone`
 */
export function fillText(text: string, context: Context, encode: (value: string) => string = (value) => value): string {
  let bytes = sizeOf(text);
  let filledIn = '';
  for (const part of parseTemplates(text).parts) {
    if (typeof part === 'string') {
      filledIn += part;
      continue;
    }
    const filled = encode(asText(need(context, part)));
    bytes += sizeOf(filled) - sizeOf(part.source);
    if (bytes > MAX_FILLED_BYTES) throw tooLarge(part.path);
    filledIn += filled;
  }
  return filledIn;
}

/** The same, with nothing for what has no value, or another that can't be filled in; the whole is cut at 64 KiB. */
export function fillWhatIs(text: string, context: Context, encode: (value: string) => string): string {
  const one = (part: string | Template) => {
    if (typeof part === 'string') return part;
    try {
      return encode(asText(need(context, part)));
    } catch (error) {
      if (error instanceof StepError) return '';
      throw error;
    }
  };
  return parseTemplates(text).parts.map(one).join('').slice(0, MAX_FILLED_BYTES);
}

/** The template that a text is, where it is one and nothing else. */
function onlyTemplate(text: string): Template | undefined {
  const [part, ...more] = parseTemplates(text).parts;
  return more.length === 0 && typeof part === 'object' ? part : undefined;
}

/** Whether a text is one template and nothing else, with filters or without. */
export const isTemplate = (text: string): boolean => onlyTemplate(text) !== undefined;

/** The path of a text that is one template without filters and nothing else. */
export function wholeTemplate(text: string): string | undefined {
  const template = onlyTemplate(text);
  return template?.filters.length === 0 ? template.path : undefined;
}

/**
 * Fills in a text that may become any value: one that is a single template keeps the type of its value, any other
 * becomes text. Throws as `fillText`.
 */
export function fillValue(text: string, context: Context): unknown {
  const template = onlyTemplate(text);
  if (template === undefined) return fillText(text, context);
  const value = need(context, template);
  if (sizeOf(JSON.stringify(value)) > MAX_FILLED_BYTES) throw tooLarge(template.path);
  return value;
}

/**
 * A copy of a JSON value with the templates of its strings filled in, as `fillValue` does it; keys stay as they are.
 * @throws StepError as `fillText`; `template_too_large` also where they make more than 256 KiB together
 */
export function fillValues<T>(value: T, context: Context): T {
  let bytes = 0;
  const fill = (part: unknown): unknown => {
    if (typeof part === 'string') {
      if (!part.includes('{{')) return part;
      const filled = fillValue(part, context);
      bytes += sizeOf(JSON.stringify(filled));
      if (bytes <= MAX_VALUE_BYTES) return filled;
      throw new StepError('template_too_large', `The values of this step are larger than ${MAX_VALUE_BYTES} bytes.`);
    }
    if (Array.isArray(part)) return part.map(fill);
    if (typeof part !== 'object' || part === null) return part;
    return Object.fromEntries(Object.entries(part).map(([key, each]) => [key, fill(each)]));
  };
  return fill(value) as T;
}
