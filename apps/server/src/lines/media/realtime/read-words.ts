/** What is longer is long by its sound. */
const MAX_PLAIN = 16 * 1024;
/** Of a message without its sound: one that repeats an agent's instructions and tools has that much. */
const MAX_WORDS = 256 * 1024;
/** Of an ID, in characters: each is kept until the call ends. */
const MOST_ID = 256;

/** A message of JSON, and the sound in it. */
export interface ReadMessage {
  fields: Record<string, unknown>;
  /** Base64. */
  sound: string | undefined;
}

/**
 * Reads a message. Long sound is taken out before the rest is parsed: megabytes of JSON would hold up all calls of the thread.
 * @param name of the field that has sound, as a regular expression that ends at the quote before it
 * @returns nothing for what is no object of JSON, or has too many words
 */
export function readWords(text: Buffer, name: RegExp): ReadMessage | undefined {
  const found = text.length > MAX_PLAIN ? name.exec(text.toString('latin1', 0, MAX_PLAIN)) : null;
  if (!found) return parsed(text, undefined);
  const from = found.index + found[0].length;
  const to = text.indexOf('"', from);
  if (to < 0) return undefined;
  // Some JSON writers escape the slash, which base64 has.
  const sound = text.toString('latin1', from, to).replaceAll('\\/', '/');
  return parsed(Buffer.concat([text.subarray(0, from), text.subarray(to)]), sound);
}

function parsed(text: Buffer, sound: string | undefined): ReadMessage | undefined {
  if (text.length > MAX_WORDS) return undefined;
  try {
    const fields: unknown = JSON.parse(text.toString());
    return isObject(fields) ? { fields, sound } : undefined;
  } catch {
    return undefined;
  }
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A field that may be missing, or be anything. */
export const objectOf = (value: unknown): Record<string, unknown> => (isObject(value) ? value : {});
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
export const countOf = (value: unknown): number => (typeof value === 'number' && value >= 0 ? Math.floor(value) : 0);

/** An ID, or nothing if it is too long to be kept. */
export function idOf(value: unknown): string {
  const id = textOf(value);
  return id.length <= MOST_ID ? id : '';
}
