import { nameFault, textFault } from './kept-text.ts';

const LONGEST_SHOWN = 64;

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Characters are counted as JSON Schema does: one of two halves is one. */
export const isText = (value: unknown, most: number): value is string =>
  typeof value === 'string' && (value.length <= most || (value.length <= 2 * most && [...value].length <= most));

/** Something that was sent where a text should be, as an answer can show it: its first 64 characters, as JSON where it is none. */
export function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return [...text.slice(0, 2 * LONGEST_SHOWN)].slice(0, LONGEST_SHOWN).join('');
}

/** What stands where the number of an item should, as an answer can show it; empty where there is nothing. */
export function shownNumber(item: unknown): string {
  const sent = isObject(item) ? item['phoneNumber'] : undefined;
  return sent === undefined ? '' : shown(sent);
}

/** Why something that was sent, and is judged for itself, is no object with a number and these fields. */
export function itemFault(item: unknown, fields: readonly string[]): string | undefined {
  if (!isObject(item)) return 'This must be an object, such as {"phoneNumber": "+14155550142"}.';
  const unknown = Object.keys(item).find((name) => !fields.includes(name));
  if (unknown !== undefined) return `There is no field ${shown(unknown)}. There are ${fields.join(', ')}.`;
  const unkept = unkeptIn(item);
  if (unkept !== undefined) return unkept;
  const { phoneNumber } = item;
  if (phoneNumber === undefined) return 'phoneNumber is missing.';
  if (typeof phoneNumber === 'string') return undefined;
  const is = phoneNumber === null ? 'null' : Array.isArray(phoneNumber) ? 'a list' : `a ${typeof phoneNumber}`;
  return `phoneNumber is ${is}. Write it as text, such as "+14155550142".`;
}

/** What of an item can't be kept, at any depth, as a sentence; how deep it nests is known to be bounded. */
function unkeptIn(value: unknown, place = ''): string | undefined {
  const fault = typeof value === 'string' ? textFault(value) : undefined;
  if (fault) return `${place} ${fault}.`;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const name of Object.keys(value)) {
    const wrong = nameFault(name);
    if (wrong) return `${place} ${wrong === textFault(name) ? `has a name that ${wrong}` : wrong}.`;
    const inside = unkeptIn((value as Record<string, unknown>)[name], place === '' ? name : `${place}.${name}`);
    if (inside !== undefined) return inside;
  }
  return undefined;
}
