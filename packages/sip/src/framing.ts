import { MAX_MESSAGE_BYTES } from './parse-message.ts';
import { SipSyntaxError } from './syntax.ts';

const CR = 13;
const LF = 10;
const HEAD_END = Buffer.from('\r\n\r\n');
const START_BYTES = 4096;

/** What a stream brought: a whole message, or a keepalive that is to be answered (RFC 5626 section 4.4.1). */
export type Frame = Buffer | 'ping';

/**
 * Cuts messages out of a stream by their Content-Length (RFC 3261 section 18.3), however TCP has split or merged them.
 * Never holds more than one message and one chunk.
 */
export class Framing {
  #buffer = Buffer.alloc(START_BYTES);
  #length = 0;
  /** Where the search for the end of the head goes on. */
  #searched = 0;
  /** How long the message is whose head is there. */
  #messageBytes: number | undefined;

  /** @throws SipSyntaxError where the stream can't be followed any more; its connection is to be closed. */
  push(chunk: Buffer): Frame[] {
    this.#append(chunk);
    const frames: Frame[] = [];
    let start = 0;
    for (;;) {
      const afterBreaks = this.#skipBreaks(start);
      if (afterBreaks - start >= 4 && frames.at(-1) !== 'ping') frames.push('ping');
      start = afterBreaks;
      const end = this.#endOfMessage(start);
      if (end === undefined) break;
      frames.push(Buffer.from(this.#buffer.subarray(start, end)));
      start = end;
      this.#messageBytes = undefined;
    }
    this.#drop(start);
    return frames;
  }

  #append(chunk: Buffer): void {
    const needed = this.#length + chunk.length;
    if (needed > this.#buffer.length) {
      const grown = Buffer.alloc(Math.max(needed, 2 * this.#buffer.length));
      this.#buffer.copy(grown, 0, 0, this.#length);
      this.#buffer = grown;
    }
    chunk.copy(this.#buffer, this.#length);
    this.#length = needed;
  }

  #drop(count: number): void {
    if (count === 0) return;
    this.#buffer.copy(this.#buffer, 0, count, this.#length);
    this.#length -= count;
    this.#searched = Math.max(0, this.#searched - count);
    if (this.#length === 0 && this.#buffer.length > START_BYTES) this.#buffer = Buffer.alloc(START_BYTES);
  }

  #skipBreaks(from: number): number {
    let at = from;
    while (at < this.#length && (this.#buffer[at] === CR || this.#buffer[at] === LF)) at += 1;
    return at;
  }

  #endOfMessage(start: number): number | undefined {
    this.#messageBytes ??= this.#findLength(start);
    if (this.#messageBytes === undefined || start + this.#messageBytes > this.#length) return undefined;
    return start + this.#messageBytes;
  }

  #findLength(start: number): number | undefined {
    const head = this.#buffer.subarray(0, this.#length).indexOf(HEAD_END, Math.max(start, this.#searched - 3));
    this.#searched = this.#length;
    const bytes = head < 0 ? this.#length - start : head - start + HEAD_END.length + this.#bodyLength(start, head);
    if (bytes > MAX_MESSAGE_BYTES) throw new SipSyntaxError('A message in the stream is too long.');
    if (head < 0) return undefined;
    this.#searched = 0;
    return bytes;
  }

  #bodyLength = (start: number, head: number): number => contentLength(this.#buffer.toString('latin1', start, head));
}

/** The Content-Length of a head, 0 where it has none. */
function contentLength(head: string): number {
  const values = new Set(
    [...head.matchAll(/\r\n(?:content-length|l)[ \t]*:[ \t]*([^\r]*?)[ \t]*(?=\r\n|$)/gi)].map((match) => match[1]!),
  );
  if (values.size === 0) return 0;
  const [value] = values;
  if (values.size > 1 || !/^\d{1,9}$/.test(value!)) throw new SipSyntaxError('A Content-Length in the stream is none.');
  return Number(value);
}
