import { noteAsSentInTurns } from '../values/as-sent.ts';
import { nameFault } from '../values/kept-text.ts';
import { limiter } from '../values/limiter.ts';
import { ServiceError } from '../values/service-error.ts';
import { checkExact } from './exact-numbers.ts';
import { checkText, tooManyValues } from './free-form.ts';
import { createLoopShare } from './loop-share.ts';
import { MAX_DEPTH, tooDeep } from './nesting.ts';
import { faultAt } from './request-fault.ts';

/** What is asked of a large body while it is parsed. */
export interface LargeBody {
  maxValues: number;
  /** The properties that it may have, where the contract names them all. */
  known: ReadonlySet<string> | undefined;
  /** Properties whose items are only counted (`checkFreeForm`). */
  judged: ReadonlySet<string>;
  /** How many items each of its lists may have, where the contract says it. */
  mostItems: ReadonlyMap<string, number>;
  /** The refusal of a list that has more. */
  tooManyItems(list: string, most: number): Error;
  /** Whether numbers are refused that a double would change (`parseExactly`). */
  exactly: boolean;
}

/**
 * Different names of properties in a body: each makes the objects slower that have it, and millions of them took
 * JSON.parse seconds.
 */
const MOST_NAMES = 32_768;
/** Bytes of a text as it is written, twice the letters of the longest that the contract knows. */
const LONGEST_TEXT = 2_097_152;
/** So many values are parsed in a turn, in 1 to 4 ms; texts count as one value for each so many bytes. */
const VALUES_A_TURN = 1_000;
const BYTES_A_VALUE = 256;

const [QUOTE, BACKSLASH, COMMA, COLON] = [0x22, 0x5c, 0x2c, 0x3a];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];
const [ZERO, NINE] = [0x30, 0x39];
/** Digits that a double carries, whatever they are. */
const EXACT_DIGITS = 15;
/** What a number goes on with behind its first digits: `.`, `e`, `E`. */
const GOES_ON = new Set([0x2e, 0x65, 0x45]);
/** What there is in numbers. */
const IN_NUMBER = new Set([...'+-.0123456789eE'].map((letter) => letter.charCodeAt(0)));
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const WORDS = [
  ['true', true],
  ['false', false],
  ['null', null],
] as const;
const LONGEST_WORD = 'false'.length;
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Parses a large body as JSON.parse does, and checks it as `checkFreeForm` does, a little in each turn of the event loop,
 * and stops at the first fault: a property that the contract doesn't know, too deep, too many values, items or names. Throws
 * a SyntaxError or TypeError for what is no JSON in UTF-8. It reads the bytes themselves: text of megabytes would fill V8's
 * heap, whose collections stop the event loop.
 * @param nextTurn is told how long each turn took, but for the last
 * @returns the body, and how many values there are
 */
export async function parseInTurns(
  bytes: Uint8Array,
  asked: LargeBody,
  nextTurn: (ms: number) => Promise<void>,
): Promise<{ body: unknown; values: number }> {
  const parsing = new Parsing(bytes, asked);
  for (let from = performance.now(); !parsing.goOn(); from = performance.now())
    await nextTurn(performance.now() - from);
  return { body: parsing.root, values: parsing.values };
}

/** Throws what `parseInTurns` would find in a body of which this much has come, whatever comes behind it. */
async function checkBeginning(bytes: Uint8Array, asked: LargeBody, nextTurn: (ms: number) => Promise<void>) {
  const parsing = new Parsing(bytes, asked);
  try {
    for (let from = performance.now(); !parsing.goOn(); from = performance.now())
      await nextTurn(performance.now() - from);
  } catch (error) {
    if (error instanceof ServiceError || !parsing.isAtEnd()) throw error;
  }
}

/** Parses the large bodies of a process. */
export interface LargeBodies {
  /**
   * Does `parseInTurns` once the workspace has its turn: who sends many waits for itself.
   * @param isNamed whether the request may be sent again, so that the body is noted as it was sent
   */
  parse(
    workspaceId: string,
    bytes: Uint8Array,
    asked: LargeBody,
    isNamed: boolean,
  ): Promise<{ body: unknown; values: number }>;
  /** Throws the first fault of what has come of a body, so that the rest need not be read. */
  checkBeginning(workspaceId: string, bytes: Uint8Array, asked: LargeBody): Promise<void>;
}

/** Bodies that are parsed at a time, one of a workspace. */
const AT_A_TIME = 4;

/** One for all requests of a process. */
export function createLargeBodies(share = createLoopShare()): LargeBodies {
  const inTurn = limiter(AT_A_TIME, (held) => held === 0);
  return {
    // It drops nothing, so each comes to something.
    parse: async (workspaceId, bytes, asked, isNamed) =>
      (await inTurn(workspaceId, async () => {
        const nextTurn = (ms: number) => share(workspaceId, ms);
        const parsed = await parseInTurns(bytes, asked, nextTurn);
        if (isNamed) await noteAsSentInTurns(parsed.body, nextTurn);
        return parsed;
      }))!,
    checkBeginning: (workspaceId, bytes, asked) =>
      inTurn(workspaceId, () => checkBeginning(bytes, asked, (ms) => share(workspaceId, ms))),
  };
}

/** A list or an object that has begun, and the name whose value comes next. */
interface Frame {
  value: unknown[] | Record<string, unknown>;
  name: string;
  isJudged: boolean;
  /** Items that a list may have. */
  most: number;
}

class Parsing {
  root: unknown;
  values = 0;
  readonly #bytes: Buffer;
  readonly #asked: LargeBody;
  readonly #names = new Set<string>();
  readonly #frames: Frame[] = [];
  #at: number;
  #work = 0;

  constructor(bytes: Uint8Array, asked: LargeBody) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
    this.#asked = asked;
    this.#at = BYTE_ORDER_MARK.every((byte, at) => bytes[at] === byte) ? BYTE_ORDER_MARK.length : 0;
  }

  /** Parses a turn's part; whether that was the last. */
  goOn(): boolean {
    for (this.#work = 0; this.#work < VALUES_A_TURN; ) {
      this.#work += 1;
      if (++this.values > this.#asked.maxValues) throw tooManyValues(this.#asked.maxValues);
      if (this.#readValue()) return true;
    }
    return false;
  }

  /** A scalar, or the beginning of a list or an object, and what ends after it; whether all has ended. */
  #readValue(): boolean {
    const code = this.#next();
    if (code !== OPEN_LIST && code !== OPEN_OBJECT) return this.#place(this.#scalar(code));
    this.#at += 1;
    if (this.#frames.length === MAX_DEPTH) throw tooDeep();
    const [isJudged, most] = [this.#isJudged(), this.#mostItems()];
    const frame: Frame = { value: code === OPEN_LIST ? [] : {}, name: '', isJudged, most };
    if (this.#next() === (code === OPEN_LIST ? CLOSE_LIST : CLOSE_OBJECT)) {
      this.#at += 1;
      return this.#place(frame.value);
    }
    this.#frames.push(frame);
    if (code === OPEN_OBJECT) this.#readName(frame);
    return false;
  }

  /** Whether what could not be read may go on behind the last byte. */
  isAtEnd(): boolean {
    return this.#at + LONGEST_WORD > this.#bytes.length;
  }

  #isJudged(): boolean {
    const top = this.#frames.at(-1);
    if (top === undefined) return false;
    return top.isJudged || (this.#frames.length === 1 && this.#asked.judged.has(top.name));
  }

  /** Of a list that begins here. */
  #mostItems(): number {
    const [body, ...others] = this.#frames;
    if (body === undefined || others.length > 0) return Number.POSITIVE_INFINITY;
    return this.#asked.mostItems.get(body.name) ?? Number.POSITIVE_INFINITY;
  }

  /** Puts a value where it belongs, and so on with what it ends. */
  #place(done: unknown): boolean {
    for (let value = done; ; ) {
      const frame = this.#frames.at(-1);
      if (frame === undefined) {
        this.root = value;
        if (this.#next() !== undefined) throw new SyntaxError();
        return true;
      }
      if (Array.isArray(frame.value)) {
        if (frame.value.push(value) > frame.most) throw this.#asked.tooManyItems(this.#frames[0]!.name, frame.most);
      } else if (frame.name === '__proto__') Object.defineProperty(frame.value, frame.name, property(value));
      else frame.value[frame.name] = value;
      const code = this.#next();
      this.#at += 1;
      if (code === COMMA) {
        if (!Array.isArray(frame.value)) this.#readName(frame);
        return false;
      }
      if (code !== (Array.isArray(frame.value) ? CLOSE_LIST : CLOSE_OBJECT)) throw new SyntaxError();
      this.#frames.pop();
      value = frame.value;
    }
  }

  #readName(frame: Frame): void {
    if (this.#next() !== QUOTE) throw new SyntaxError();
    const name = this.#string();
    if (this.#next() !== COLON) throw new SyntaxError();
    this.#at += 1;
    const { known } = this.#asked;
    if (this.#frames.length === 1 && known?.has(name) === false)
      throw faultAt(
        `/body/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`.slice(0, 512),
        'is not a known property',
      );
    const fault = frame.isJudged ? undefined : nameFault(name);
    if (fault) throw faultAt('/body', fault);
    if (this.#names.add(name).size > MOST_NAMES)
      throw faultAt('/body', `must have at most ${MOST_NAMES} different names of properties`);
    frame.name = name;
  }

  #scalar(code: number | undefined): unknown {
    if (code === QUOTE) {
      const text = this.#string();
      if (!this.#isJudged()) checkText(text, '/body');
      return text;
    }
    const digits = this.#digits(code);
    if (digits !== undefined) return digits;
    for (const [word, value] of WORDS)
      if (this.#latin(this.#at, this.#at + word.length) === word) {
        this.#at += word.length;
        return value;
      }
    const start = this.#at;
    while (IN_NUMBER.has(this.#bytes[this.#at]!)) this.#at += 1;
    const source = this.#latin(start, this.#at);
    if (!NUMBER.test(source)) throw new SyntaxError();
    this.#work += Math.floor(source.length / BYTES_A_VALUE);
    const number = Number(source);
    // At the end it may go on.
    if (this.#asked.exactly && this.#at < this.#bytes.length) checkExact(source, number);
    return number;
  }

  /** A number of a few digits and nothing else, which most are: without the garbage that others leave. */
  #digits(first: number | undefined): number | undefined {
    let [at, number] = [this.#at, 0];
    for (let code = first; code !== undefined && code >= ZERO && code <= NINE; code = this.#bytes[at]) {
      number = number * 10 + code - ZERO;
      at += 1;
    }
    const digits = at - this.#at;
    const isNumber = digits === 1 || (digits > 1 && digits <= EXACT_DIGITS && first !== ZERO);
    if (!isNumber || GOES_ON.has(this.#bytes[at]!)) return undefined;
    this.#at = at;
    return number;
  }

  /** The text that begins at a quote. */
  #string(): string {
    const start = this.#at + 1;
    let [isEscaped, isAscii] = [false, true];
    let at = start;
    for (; ; at += 1) {
      const code = this.#bytes[at];
      if (code === QUOTE) break;
      if (at - start >= LONGEST_TEXT) throw faultAt('/body', `must hold no text of over ${LONGEST_TEXT} bytes`);
      if (code === BACKSLASH) at += 1;
      // Past the end there is no code at all.
      if (code === undefined) this.#at = at;
      if (code === undefined || code < 0x20) throw new SyntaxError();
      if (code === BACKSLASH) isEscaped = true;
      else if (code > 0x7e) isAscii = false;
    }
    this.#at = at + 1;
    this.#work += Math.floor((at - start) / BYTES_A_VALUE);
    if (isEscaped) return JSON.parse(utf8.decode(this.#bytes.subarray(start - 1, at + 1))) as string;
    return isAscii ? this.#latin(start, at) : utf8.decode(this.#bytes.subarray(start, at));
  }

  #latin(from: number, to: number): string {
    return this.#bytes.toString('latin1', from, to);
  }

  /** The next byte that is no space, at which it then stands; nothing at the end. */
  #next(): number | undefined {
    for (; ; this.#at += 1) {
      const code = this.#bytes[this.#at];
      if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return code;
    }
  }
}

const property = (value: unknown) => ({ value, enumerable: true, configurable: true, writable: true });
