import type { Context } from './definition.ts';
import { StepError } from './step-error.ts';

/** Most bytes that one template becomes (workflows.md, "Templates"). */
export const MAX_FILLED_BYTES = 65_536;
/** Most bytes that the templates of one value, such as an `http` body, become together: as much as a context holds. */
const MAX_VALUE_BYTES = 262_144;

const TEMPLATE = /\{\{\s*([^\s{}]+)\s*\}\}/g;
const WHOLE = /^\{\{\s*([^\s{}]+)\s*\}\}$/;

/** Keys that reach an object's prototype, and so are never there. */
const NEVER_KEYS = new Set(['__proto__', 'constructor', 'prototype']);

export const isNeverKey = (key: string): boolean => NEVER_KEYS.has(key);

const sizeOf = (text: string) => Buffer.byteLength(text);

/**
 * What a dotted path such as `crm.body.tags.0` leads to: own properties and array indices only. `undefined` where there
 * is nothing, which no JSON value is.
 */
export function lookUp(context: Context, path: string): unknown {
  let value: unknown = context;
  for (const key of path.split('.')) {
    if (typeof value !== 'object' || value === null || isNeverKey(key)) return undefined;
    if (Array.isArray(value) && !/^(0|[1-9]\d*)$/.test(key)) return undefined;
    if (!Object.hasOwn(value, key)) return undefined;
    value = (value as Record<string, unknown>)[key];
  }
  return value;
}

function need(context: Context, path: string): unknown {
  const value = lookUp(context, path);
  if (value !== undefined) return value;
  throw new StepError('template_key_missing', `The context has no value for ${path}.`);
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
 * Fills in the templates of a text. There is no logic, no escaping, and what was filled in is not looked at again.
 * @param encode what is done to each filled-in value, such as percent-encoding
 * @throws StepError `template_key_missing`, `template_too_large` (over 64 KiB)
 */
export function fillText(text: string, context: Context, encode: (value: string) => string = (value) => value): string {
  let bytes = sizeOf(text);
  return text.replace(TEMPLATE, (template, path: string) => {
    const filled = encode(asText(need(context, path)));
    bytes += sizeOf(filled) - sizeOf(template);
    if (bytes > MAX_FILLED_BYTES) throw tooLarge(path);
    return filled;
  });
}

/** The path of a text that is one template and nothing else. */
export const wholeTemplate = (text: string): string | undefined => WHOLE.exec(text)?.[1];

/**
 * Fills in a text that may become any value: one that is a single template keeps the type of its value, any other
 * becomes text. Throws as `fillText`.
 */
export function fillValue(text: string, context: Context): unknown {
  const path = wholeTemplate(text);
  if (path === undefined) return fillText(text, context);
  const value = need(context, path);
  if (sizeOf(JSON.stringify(value)) > MAX_FILLED_BYTES) throw tooLarge(path);
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

/** The paths that the templates of a text name. */
export const templateKeys = (text: string): string[] => [...text.matchAll(TEMPLATE)].map(([, path]) => path!);

/** What looks like a template in a text and is none, such as `{{first name}}` or an open `{{`. */
export const brokenTemplate = (text: string): string | undefined => {
  const rest = text.replace(TEMPLATE, ' ');
  const at = rest.indexOf('{{');
  return at === -1 ? undefined : rest.slice(at, at + 40);
};
