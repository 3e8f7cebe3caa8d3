import { FRAME, SAMPLE_RATE, ULAW_SILENCE, ulawPcm } from './g711.ts';
import { audiblePart } from './level.ts';

/** What an agent may be ahead of the caller: five minutes. */
const MAX_BYTES = SAMPLE_RATE * 300;
/** Small chunks are put together to pieces of this size, so that a million of them is no million of objects. */
const PIECE = SAMPLE_RATE / 2;
/** Some agents mark each piece of 20 ms that they send. */
const MAX_MARKS = (SAMPLE_RATE * 300) / FRAME;
/** What is waited for before an agent that speaks in real time is played, so that its jitter doesn't tear it. */
const PREBUFFER = 2 * FRAME;
/** How long the least fill is looked at before it is called a surplus. */
const WINDOW = SAMPLE_RATE;
/** An agent that sends neither more nor less than this share off what is played speaks in real time. */
const REAL_TIME = 0.05;
/** What is called its lead at most; more is a surplus. */
const MAX_LEAD = SAMPLE_RATE / 2;
/** µ-law values below this are quiet enough to be left out unheard. */
const QUIET = 200;
/** A surplus that finds no quiet frame is left out anyhow, after this many. */
const MAX_WAIT_FRAMES = 50;

/**
 * What the agent says and the callee hasn't heard yet: chunks of any length in, samples at the beat out, marks between
 * them. An agent that sends in real time has its surplus taken out: else each pause of its line, and a clock that runs
 * faster than ours, would make the callee wait longer for the rest of the call.
 */
export class Playout {
  #pieces: Buffer[] = [];
  /** Free bytes of the last piece. */
  #room = 0;
  #offset = 0;
  /** Those before `#told` have been told. */
  #marks: { at: number; name: string }[] = [];
  #told = 0;
  #added = 0;
  #played = 0;
  #waited = 0;
  #talking = false;
  /** Where what waits is more than silence, by the bytes that were added. */
  #audible = { from: 0, until: 0 };
  #sounding = false;
  #leftOut = 0;
  #surplus = new Surplus();
  #onMark: (name: string) => void;

  /** @param onMark told when all that came before a mark has been played, or cleared */
  constructor(onMark: (name: string) => void) {
    this.#onMark = onMark;
  }

  /** Bytes that wait; 8 are a millisecond. */
  get queued(): number {
    return this.#added - this.#played;
  }

  /** Whether the frame before was of what was said. */
  get talking(): boolean {
    return this.#talking;
  }

  /** Whether the frame before had more than silence of what was said. */
  get sounding(): boolean {
    return this.#sounding;
  }

  /** Whether more than silence waits. */
  get hasSound(): boolean {
    return this.#audible.until > this.#played;
  }

  /** Bytes of sound, and not of silence, that were too much, or dropped. */
  get leftOut(): number {
    return this.#leftOut;
  }

  /** @returns false where it would be too much, and is left out */
  push(audio: Buffer): boolean {
    const part = audiblePart(audio);
    if (this.queued + audio.length > MAX_BYTES) {
      if (part) this.#leftOut += part.until - part.from;
      return false;
    }
    if (part) {
      if (!this.hasSound) this.#audible.from = this.#added + part.from;
      this.#audible.until = this.#added + part.until;
    }
    for (let at = 0; at < audio.length; ) {
      if (this.#room === 0) {
        this.#pieces.push(Buffer.allocUnsafe(PIECE));
        this.#room = PIECE;
      }
      const copied = audio.copy(this.#pieces.at(-1)!, PIECE - this.#room, at);
      this.#room -= copied;
      at += copied;
    }
    this.#added += audio.length;
    return true;
  }

  /** @returns false where too many wait, and it is left out */
  mark(name: string): boolean {
    if (this.#marks.length - this.#told >= MAX_MARKS) return false;
    this.#marks.push({ at: this.#added, name });
    this.#tellMarks();
    return true;
  }

  /** Leaves out what waits; its marks come back at once. */
  clear(): void {
    this.#skip(this.queued);
    this.#tellMarks();
  }

  /** Leaves out what waits, and counts the sound in it: who said it is gone. */
  drop(): void {
    if (this.hasSound) this.#leftOut += this.#audible.until - Math.max(this.#played, this.#audible.from);
    this.clear();
  }

  /**
   * Writes the next samples into all of `to`.
   * @returns whether any of it was said; else it is silence
   */
  next(to: Buffer): boolean {
    if (this.queued === 0) this.#surplus.silence(to.length, this.#added);
    if (this.queued === 0 || (!this.#talking && this.#isTooEarly())) {
      this.#talking = false;
      this.#sounding = false;
      to.fill(ULAW_SILENCE);
      return false;
    }
    this.#talking = true;
    this.#waited = 0;
    const hadSound = this.hasSound;
    const filled = this.#take(to);
    this.#sounding = hadSound && this.#audible.from < this.#played;
    to.fill(ULAW_SILENCE, filled);
    const isSurplus = this.#surplus.isDue(this.queued, filled, this.#added);
    if (isSurplus && this.#surplus.mayGo(this.#peek())) this.#skip(Math.min(FRAME, this.queued));
    this.#tellMarks();
    return true;
  }

  #isTooEarly(): boolean {
    this.#waited += 1;
    return this.queued < PREBUFFER && this.#waited <= PREBUFFER / FRAME;
  }

  #take(to: Buffer): number {
    let filled = 0;
    while (filled < to.length && this.queued > 0) {
      const piece = this.#pieces[0]!;
      const end = Math.min(piece.length, this.#offset + this.queued);
      const copied = piece.copy(to, filled, this.#offset, Math.min(end, this.#offset + to.length - filled));
      filled += copied;
      this.#skip(copied);
    }
    return filled;
  }

  #skip(bytes: number): void {
    this.#played += bytes;
    this.#offset += bytes;
    while (this.#pieces.length > 0 && this.#offset >= PIECE) {
      this.#offset -= PIECE;
      this.#pieces.shift();
    }
    if (this.queued > 0) return;
    this.#pieces.length = Math.min(this.#pieces.length, 1);
    this.#offset = 0;
    this.#room = this.#pieces.length * PIECE;
  }

  #peek(): Buffer {
    const piece = this.#pieces[0] ?? Buffer.alloc(0);
    return piece.subarray(this.#offset, Math.min(this.#offset + FRAME, this.#offset + this.queued));
  }

  #tellMarks(): void {
    const marks = this.#marks;
    while (this.#told < marks.length && marks[this.#told]!.at <= this.#played) this.#onMark(marks[this.#told++]!.name);
    // Taken off one by one, each would cost a copy of all that wait.
    if (this.#told * 2 <= marks.length) return;
    this.#marks = marks.slice(this.#told);
    this.#told = 0;
  }
}

/** Finds what an agent that speaks in real time is ahead beyond the lead that it began with. */
class Surplus {
  /** Of the window that is looked at. */
  #least = Number.POSITIVE_INFINITY;
  #played = 0;
  #addedBefore = 0;
  /** How far ahead it was at first; unknown until it has spoken in real time for a window. */
  #lead: number | undefined;
  #silent = 0;
  #bytes = 0;
  #waited = 0;

  /** To be asked after every frame that was said. @returns whether a frame should be left out */
  isDue(queued: number, played: number, added: number): boolean {
    this.#silent = 0;
    this.#least = Math.min(this.#least, queued);
    this.#played += played;
    if (this.#played >= WINDOW) this.#judge(added);
    return this.#bytes >= FRAME;
  }

  #judge(added: number): void {
    const isRealTime = Math.abs(added - this.#addedBefore - this.#played) <= REAL_TIME * this.#played;
    if (isRealTime) this.#lead ??= Math.min(Math.max(this.#least, PREBUFFER), MAX_LEAD);
    this.#bytes = isRealTime ? this.#least - this.#lead! : 0;
    this.#begin(added);
  }

  #begin(added: number): void {
    this.#least = Number.POSITIVE_INFINITY;
    this.#played = 0;
    this.#addedBefore = added;
  }

  /** To be told of each frame without anything to say: what is said after a pause has a lead of its own. */
  silence(bytes: number, added: number): void {
    this.#silent += bytes;
    if (this.#silent < WINDOW) return;
    this.#lead = undefined;
    this.#begin(added);
  }

  /** Whether this frame is a good one to leave out: a quiet one, or any, after a second. */
  mayGo(frame: Uint8Array): boolean {
    this.#waited += 1;
    const isQuiet = frame.every((code) => Math.abs(ulawPcm[code]!) < QUIET);
    if (!isQuiet && this.#waited < MAX_WAIT_FRAMES) return false;
    this.#bytes -= FRAME;
    this.#waited = 0;
    return true;
  }
}
