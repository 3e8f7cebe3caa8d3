import { hasControls, isToken, SipSyntaxError, splitOutside } from './syntax.ts';

/** RFC 3261 section 7.3.3, and the RFCs that came later. */
const compactForms: Readonly<Record<string, string>> = {
  a: 'accept-contact',
  b: 'referred-by',
  c: 'content-type',
  d: 'request-disposition',
  e: 'content-encoding',
  f: 'from',
  i: 'call-id',
  j: 'reject-contact',
  k: 'supported',
  l: 'content-length',
  m: 'contact',
  o: 'event',
  r: 'refer-to',
  s: 'subject',
  t: 'to',
  u: 'allow-events',
  v: 'via',
  x: 'session-expires',
  y: 'identity',
};

/** Names as they are written by us and by most: those are looked up, and neither checked nor put together again. */
const common = [
  ...['Accept', 'Allow', 'Authorization', 'Call-ID', 'Contact', 'Content-Length', 'Content-Type', 'CSeq', 'Expires'],
  ...['From', 'Max-Forwards', 'Min-SE', 'Proxy-Authenticate', 'Proxy-Authorization', 'RAck', 'Reason', 'Record-Route'],
  ...[
    'Require',
    'Route',
    'RSeq',
    'Server',
    'Session-Expires',
    'Supported',
    'To',
    'User-Agent',
    'Via',
    'WWW-Authenticate',
  ],
];
const writtenNames = new Map(common.map((name) => [name.toLowerCase(), name]));
const commonNames = new Map(
  common.flatMap((name) => [name, name.toLowerCase()].map((form) => [form, name.toLowerCase()])),
);

/**
 * A header's name in lower case, compact forms written out.
 * @returns undefined where it is no name
 */
export function headerName(name: string): string | undefined {
  const known = commonNames.get(name);
  if (known !== undefined) return known;
  if (!isToken(name)) return undefined;
  const lower = name.toLowerCase();
  return (lower.length === 1 && compactForms[lower]) || lower;
}

/** A header's name as people write it. */
export const writtenName = (name: string): string =>
  writtenNames.get(name) ?? name.replace(/(?:^|-)[a-z]/g, (first) => first.toUpperCase());

/** The headers of a message in their order, each line of a header by itself. Names are in lower case. */
export class Headers {
  #lines: [name: string, value: string][];
  /** What `read` has made of them. */
  #read: Record<string, unknown> | undefined;

  constructor(lines: [name: string, value: string][] = []) {
    this.#lines = lines;
  }

  get(name: string): string | undefined {
    for (const line of this.#lines) if (line[0] === name) return line[1];
    return undefined;
  }

  /**
   * What a header's first line says, read once until any header changes.
   * @param key names header and reader
   */
  read<T>(key: string, name: string, reader: (value: string | undefined) => T): Readonly<T> {
    if (this.#read && key in this.#read) return this.#read[key] as T;
    const read = reader(this.get(name));
    this.#read ??= {};
    this.#read[key] = read;
    return read;
  }

  /** How many lines a header has. */
  count(name: string): number {
    let lines = 0;
    for (const line of this.#lines) if (line[0] === name) lines += 1;
    return lines;
  }

  all(name: string): string[] {
    const values: string[] = [];
    for (const line of this.#lines) if (line[0] === name) values.push(line[1]);
    return values;
  }

  /** The entries of a header that holds a list: those of all its lines. */
  list(name: string): string[] {
    return this.all(name).flatMap((value) => splitOutside(value, ','));
  }

  /** The entries of a list of tokens, such as Supported, in lower case; `includes` compares as RFC 3261 section 7.3.1 does. */
  tokens(name: string): string[] {
    return this.list(name).map((token) => token.toLowerCase());
  }

  has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  /** Adds a line at the end. Throws a `SipSyntaxError` where name or value can't be written. */
  add(name: string, value: string): this {
    this.#change().push([checked(name, value), value]);
    return this;
  }

  /** Adds a line at the head. */
  prepend(name: string, value: string): this {
    this.#change().unshift([checked(name, value), value]);
    return this;
  }

  /** Puts a value in the place of a header's first line, and drops its other lines. */
  set(name: string, value: string): this {
    const lower = checked(name, value);
    const first = this.#change().find((line) => line[0] === lower);
    if (!first) this.#lines.push([lower, value]);
    else {
      first[1] = value;
      this.#lines = this.#lines.filter((line) => line === first || line[0] !== lower);
    }
    return this;
  }

  /** Puts a value in the place of a header's first line, and leaves its other lines. */
  replaceFirst(name: string, value: string): void {
    const lower = checked(name, value);
    const first = this.#change().find((line) => line[0] === lower);
    if (first) first[1] = value;
  }

  delete(name: string): void {
    this.#lines = this.#change().filter((line) => line[0] !== name);
  }

  #change(): [name: string, value: string][] {
    this.#read = undefined;
    return this.#lines;
  }

  /** The lines in their order. */
  [Symbol.iterator](): IterableIterator<readonly [name: string, value: string]> {
    return this.#lines.values();
  }
}

function checked(name: string, value: string): string {
  const lower = headerName(name);
  if (lower === undefined)
    throw new SipSyntaxError(`This is no name of a header: ${JSON.stringify(name.slice(0, 40))}`);
  if (hasControls(value)) throw new SipSyntaxError(`The header ${writtenName(lower)} has a control character.`);
  return lower;
}
