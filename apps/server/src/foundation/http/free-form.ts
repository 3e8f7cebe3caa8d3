import { nameFault, textFault } from '../values/kept-text.ts';
import { faultAt } from './request-fault.ts';

/** A body may hold one value for each so many bytes that it may have: checking costs by the value, not by the byte. */
export const BYTES_PER_VALUE = 8;

export const tooManyValues = (most: number) => faultAt('/body', `must hold at most ${most} values`);

/**
 * Refuses text that PostgreSQL can't keep: NUL, and half of a surrogate pair. `path` is where it stands.
 */
export function checkText(text: string, path: string): void {
  const fault = textFault(text);
  if (fault) throw faultAt(path, fault);
}

/**
 * Refuses, at any depth of a parsed body, the keys that can change an object's prototype, text that can't be kept,
 * and more values than `maxValues`. Schemas can't say this of free-form maps. How deep it nests is known to be bounded.
 * @param judged properties whose items are only counted: their operation judges each for itself
 * @returns how many values there are
 */
export function checkFreeForm(body: unknown, maxValues: number, judged: ReadonlySet<string>): number {
  let values = 0;
  const visit = (value: unknown, path: string, isJudged: boolean): void => {
    values += 1;
    if (values > maxValues) throw tooManyValues(maxValues);
    if (typeof value === 'string' && !isJudged) checkText(value, path);
    if (typeof value !== 'object' || value === null) return;
    if (Array.isArray(value)) {
      for (let index = 0; index < value.length; index += 1) visit(value[index], path, isJudged);
      return;
    }
    for (const key of Object.keys(value)) {
      const fault = isJudged ? undefined : nameFault(key);
      if (fault) throw faultAt(path, fault);
      visit((value as Record<string, unknown>)[key], path, isJudged || (value === body && judged.has(key)));
    }
  };
  visit(body, '/body', false);
  return values;
}
