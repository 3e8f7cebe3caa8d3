import type { Context } from './definition.ts';

/** Keys that reach an object's prototype, and so are never there. */
const NEVER_KEYS = new Set(['__proto__', 'constructor', 'prototype']);

export const isNeverKey = (key: string): boolean => NEVER_KEYS.has(key);

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
