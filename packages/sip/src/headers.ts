import { isToken, refuseControls, SipSyntaxError, splitOutside } from './syntax.ts';

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

/** Names that are not written as their words with capitals. */
const writtenNames: Record<string, string> = {
  'call-id': 'Call-ID',
  cseq: 'CSeq',
  'min-se': 'Min-SE',
  rack: 'RAck',
  rseq: 'RSeq',
  'www-authenticate': 'WWW-Authenticate',
};

/** A header's name in lower case, compact forms written out. */
export const headerName = (name: string): string => {
  const lower = name.toLowerCase();
  return (lower.length === 1 && compactForms[lower]) || lower;
};

/** A header's name as people write it. */
export const writtenName = (name: string): string =>
  writtenNames[name] ?? name.replace(/(?:^|-)[a-z]/g, (first) => first.toUpperCase());

/** The headers of a message in their order, each line of a header by itself. Names are in lower case. */
export class Headers {
  #lines: [name: string, value: string][];

  constructor(lines: [name: string, value: string][] = []) {
    this.#lines = lines;
  }

  get(name: string): string | undefined {
    for (const line of this.#lines) if (line[0] === name) return line[1];
    return undefined;
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
    this.#lines.push([checked(name, value), value]);
    return this;
  }

  /** Adds a line at the head. */
  prepend(name: string, value: string): this {
    this.#lines.unshift([checked(name, value), value]);
    return this;
  }

  /** Puts a value in the place of a header's first line, and drops its other lines. */
  set(name: string, value: string): this {
    const lower = checked(name, value);
    const first = this.#lines.find((line) => line[0] === lower);
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
    const first = this.#lines.find((line) => line[0] === lower);
    if (first) first[1] = value;
  }

  delete(name: string): void {
    this.#lines = this.#lines.filter((line) => line[0] !== name);
  }

  /** The lines in their order. */
  [Symbol.iterator](): IterableIterator<readonly [name: string, value: string]> {
    return this.#lines.values();
  }
}

function checked(name: string, value: string): string {
  if (!isToken(name)) throw new SipSyntaxError(`This is no name of a header: ${JSON.stringify(name.slice(0, 40))}`);
  const lower = headerName(name);
  refuseControls(`The header ${writtenName(lower)}`, value);
  return lower;
}
