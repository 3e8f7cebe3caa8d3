import { createHash, hash } from 'node:crypto';

const digests = new WeakMap<object, string>();

/** The same whatever the order of keys: a client may have kept its request where that is lost, such as in a `jsonb`. */
const canonical = (value: object): string => JSON.stringify(value, withSortedKeys);

const withSortedKeys = (_key: string, value: unknown): unknown =>
  isObject(value) && !Array.isArray(value) ? sorted(value) : value;

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

const sorted = (value: object): object =>
  Object.fromEntries(sortedKeys(value).map((key) => [key, (value as Record<string, unknown>)[key]]));

/** Those that are indexes stay where every object has them: before the others, by their numbers. */
function sortedKeys(value: object): string[] {
  const keys = Object.keys(value);
  const indexes = keys.findIndex((key) => !isIndex(key));
  return indexes < 0 ? keys : [...keys.slice(0, indexes), ...keys.slice(indexes).sort()];
}

/** Up to the last that an array could have. */
const isIndex = (key: string): boolean => String(Number(key) >>> 0) === key && key !== '4294967295';

/** What `canonical` makes of what JSON was parsed to, bit by bit. */
function* canonicalBits(value: unknown): Generator<string> {
  if (!isObject(value)) return yield JSON.stringify(value);
  let before = '';
  if (Array.isArray(value)) {
    yield '[';
    for (const item of value) {
      yield before;
      yield* canonicalBits(item);
      before = ',';
    }
    return yield ']';
  }
  yield '{';
  for (const key of sortedKeys(value)) {
    yield `${before}${JSON.stringify(key)}:`;
    yield* canonicalBits((value as Record<string, unknown>)[key]);
    before = ',';
  }
  yield '}';
}

/** Remembers a body as it was sent, before the contract's defaults are written into it: these may change. */
export function noteAsSent(body: unknown): void {
  if (isObject(body)) digests.set(body, hash('sha256', canonical(body)));
}

/** So many bits and letters are hashed in a turn, in about a millisecond. */
const BITS_A_TURN = 2_000;
const LETTERS_A_TURN = 65_536;

/**
 * The same for a large body, of which it hashes a little in each turn of the event loop.
 * @param nextTurn is told how long each turn took, but for the last
 */
export async function noteAsSentInTurns(body: unknown, nextTurn: (ms: number) => Promise<void>): Promise<void> {
  if (!isObject(body)) return;
  let from = performance.now();
  const hashed = createHash('sha256');
  let [text, bits] = ['', 0];
  for (const bit of canonicalBits(body)) {
    text += bit;
    bits += 1;
    if (bits < BITS_A_TURN && text.length < LETTERS_A_TURN) continue;
    hashed.update(text);
    [text, bits] = ['', 0];
    await nextTurn(performance.now() - from);
    from = performance.now();
  }
  digests.set(body, hashed.update(text).digest('hex'));
}

/** Has what was made of a body stand for that body. */
export function sentAs<T extends object>(made: T, body: object): T {
  const digest = digests.get(body);
  if (digest !== undefined) digests.set(made, digest);
  return made;
}

/** What tells a request from others, in hex: of a body as it was sent, of anything else as it is. */
export const digestAsSent = (request: object): string => digests.get(request) ?? hash('sha256', canonical(request));
