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
  #names: string[];
  #values: string[];
  /** What `read` has made of them. */
  #read: unknown[] = [];

  /** @param names in lower case, each with the value at the same place in `values` */
  constructor(names: string[] = [], values: string[] = []) {
    this.#names = names;
    this.#values = values;
  }

  get(name: string): string | undefined {
    const at = this.#names.indexOf(name);
    return at < 0 ? undefined : this.#values[at];
  }

  /**
   * What a header's first line says, read once until any header changes.
   * @param place where it is remembered: a small number for each header and reader
   */
  read<T>(place: number, name: string, reader: (value: string | undefined) => T): Readonly<T> {
    this.#read[place] ??= reader(this.get(name));
    return this.#read[place] as T;
  }

  /** How many lines a header has. */
  count(name: string): number {
    let lines = 0;
    for (const each of this.#names) if (each === name) lines += 1;
    return lines;
  }

  all(name: string): string[] {
    return this.#values.filter((_value, at) => this.#names[at] === name);
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
    this.#change();
    this.#names.push(checked(name, value));
    this.#values.push(value);
    return this;
  }

  /** Adds a line at the head. */
  prepend(name: string, value: string): this {
    this.#change();
    this.#names.unshift(checked(name, value));
    this.#values.unshift(value);
    return this;
  }

  /** Puts a value in the place of a header's first line, and drops its other lines. */
  set(name: string, value: string): this {
    const lower = checked(name, value);
    const first = this.#names.indexOf(lower);
    if (first < 0) return this.add(lower, value);
    this.#keep((each, at) => each !== lower || at === first);
    this.#values[first] = value;
    return this;
  }

  /** Puts a value in the place of a header's first line, and leaves its other lines. */
  replaceFirst(name: string, value: string): void {
    const first = this.#names.indexOf(checked(name, value));
    this.#change();
    if (first >= 0) this.#values[first] = value;
  }

  delete(name: string): void {
    this.#keep((each) => each !== name);
  }

  #keep(stays: (name: string, at: number) => boolean): void {
    this.#change();
    const names = this.#names;
    this.#names = names.filter(stays);
    this.#values = this.#values.filter((_value, at) => stays(names[at]!, at));
  }

  #change(): void {
    if (this.#read.length > 0) this.#read = [];
  }

  /** Of all lines, in their order. */
  get names(): readonly string[] {
    return this.#names;
  }

  /** The lines as they go over the wire, without Content-Length, which is the body's to tell. */
  write(): string {
    let text = '';
    for (let at = 0; at < this.#names.length; at += 1) {
      const name = this.#names[at]!;
      if (name !== 'content-length') text += `${writtenName(name)}: ${this.#values[at]}\r\n`;
    }
    return text;
  }

  /** The lines in their order. */
  *[Symbol.iterator](): IterableIterator<readonly [name: string, value: string]> {
    for (const [at, name] of this.#names.entries()) yield [name, this.#values[at]!];
  }
}

function checked(name: string, value: string): string {
  const lower = headerName(name);
  if (lower === undefined)
    throw new SipSyntaxError(`This is no name of a header: ${JSON.stringify(name.slice(0, 40))}`);
  if (hasControls(value)) throw new SipSyntaxError(`The header ${writtenName(lower)} has a control character.`);
  return lower;
}
