import { faultAt } from './request-fault.ts';

/** How deep a body may nest (api.md, "Limits of a request"). */
const MAX_DEPTH = 32;
/** A body may hold one value for each so many bytes that it may have: checking costs by the value, not by the byte. */
export const BYTES_PER_VALUE = 8;

const FORBIDDEN = new Set(['__proto__', 'constructor', 'prototype']);

const LONE_SURROGATE = /\p{Surrogate}/u;

/**
 * Refuses text that PostgreSQL can't keep: NUL, and half of a surrogate pair. `path` is where it stands.
 */
export function checkText(text: string, path: string): void {
  if (text.includes('\0')) throw faultAt(path, 'must not contain NUL');
  if (LONE_SURROGATE.test(text)) throw faultAt(path, 'must be well-formed Unicode');
}

/**
 * Refuses, at any depth of a parsed body, the keys that can change an object's prototype, text that can't be kept,
 * nesting beyond 32 levels, and more values than `maxValues`. Schemas can't say this of free-form maps.
 * Returns how many values there are.
 */
export function checkFreeForm(body: unknown, maxValues: number): number {
  let values = 0;
  const visit = (value: unknown, path: string, depth: number): void => {
    values += 1;
    if (values > maxValues) throw faultAt('/body', `must hold at most ${maxValues} values`);
    if (typeof value === 'string') checkText(value, path);
    if (typeof value !== 'object' || value === null) return;
    if (depth > MAX_DEPTH) throw faultAt('/body', `must nest at most ${MAX_DEPTH} levels deep`);
    if (Array.isArray(value)) {
      for (let index = 0; index < value.length; index += 1) visit(value[index], path, depth + 1);
      return;
    }
    for (const key of Object.keys(value)) {
      if (FORBIDDEN.has(key)) throw faultAt(path, `must not have a property ${key}`);
      checkText(key, path);
      visit((value as Record<string, unknown>)[key], path, depth + 1);
    }
  };
  visit(body, '/body', 1);
  return values;
}
