import { faultAt } from './request-fault.ts';

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
 * and more values than `maxValues`. Schemas can't say this of free-form maps. How deep it nests is known to be bounded.
 * Returns how many values there are.
 */
export function checkFreeForm(body: unknown, maxValues: number): number {
  let values = 0;
  const visit = (value: unknown, path: string): void => {
    values += 1;
    if (values > maxValues) throw faultAt('/body', `must hold at most ${maxValues} values`);
    if (typeof value === 'string') checkText(value, path);
    if (typeof value !== 'object' || value === null) return;
    if (Array.isArray(value)) {
      for (let index = 0; index < value.length; index += 1) visit(value[index], path);
      return;
    }
    for (const key of Object.keys(value)) {
      if (FORBIDDEN.has(key)) throw faultAt(path, `must not have a property ${key}`);
      checkText(key, path);
      visit((value as Record<string, unknown>)[key], path);
    }
  };
  visit(body, '/body');
  return values;
}
