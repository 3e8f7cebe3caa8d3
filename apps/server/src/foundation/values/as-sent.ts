import { hash } from 'node:crypto';

const digests = new WeakMap<object, string>();

/** The same whatever the order of keys: a client may have kept its request where that is lost, such as in a `jsonb`. */
const canonical = (value: object): string => JSON.stringify(value, withSortedKeys);

const withSortedKeys = (_key: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value;

/** Remembers a body as it was sent, before the contract's defaults are written into it: these may change. */
export const noteAsSent = (body: object): void => void digests.set(body, hash('sha256', canonical(body)));

/** Has what was made of a body stand for that body. */
export function sentAs<T extends object>(made: T, body: object): T {
  const digest = digests.get(body);
  if (digest !== undefined) digests.set(made, digest);
  return made;
}

/** What tells a request from others, in hex: of a body as it was sent, of anything else as it is. */
export const digestAsSent = (request: object): string => digests.get(request) ?? hash('sha256', canonical(request));
