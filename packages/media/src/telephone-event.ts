import { BYTES_PER_MS } from './g711.ts';

/** Digits in RTP (RFC 4733): event codes 0 to 15. */
const DIGITS = '0123456789*#ABCD';
/** How long a digit of ours sounds, and what is kept free after it, in ms. */
const TONE_MS = 100;
const PAUSE_MS = 60;
const TONE = TONE_MS * BYTES_PER_MS;
const PAUSE = PAUSE_MS * BYTES_PER_MS;
/** Pauses that can stand between digits, in ms. */
const PAUSES: Readonly<Record<string, number>> = { w: 500, W: 1000 };
/** The last packet is sent this often, since a lost one would leave the tone on (RFC 4733, 2.5.1.4). */
const END_PACKETS = 3;
const VOLUME = 10;

/** Whether a text is one digit that can be sent or heard: `0` to `9`, `*`, `#`, `A` to `D`. */
export const isDigit = (text: string): boolean => text.length === 1 && DIGITS.includes(text);

/** Whether a text is a pause that can stand between digits: `w` for half a second, `W` for a second. */
export const isPause = (text: string): boolean => Object.hasOwn(PAUSES, text);

/** How long it takes to send digits and the pauses between them, in ms. */
export const digitsMs = (digits: string): number =>
  [...digits].reduce((ms, each) => ms + (PAUSES[each] ?? TONE_MS + PAUSE_MS), 0);

/** What waits for its turn: each digit or pause by itself, and who is told once it is sent or left out. */
interface Waiting {
  symbol: string;
  told?: (isSent: boolean) => void;
}

/** The digit that is being sent. */
interface Current extends Waiting {
  timestamp: number;
  duration: number;
  /** How many of its last packets were sent. */
  ends: number;
}

interface EventPacket {
  payload: Buffer;
  timestamp: number;
  marker: boolean;
}

/** What is sent of a digit in one turn: as a packet of its own, or as a tone. */
export interface SentDigit extends EventPacket {
  digit: string;
  /** From where to where it sounds, in samples since its begin; nothing once it is only told that it has ended. */
  from: number;
  until: number;
}

/**
 * Hears digits. All packets of one press bear the timestamp of its begin, so the first that arrives tells it, and it
 * doesn't matter which are lost. Where timestamps move on within a press, as in its segments (RFC 4733, 2.5.1.3) and
 * with senders that get them wrong, a packet that begins within what was heard belongs to the same press.
 */
export class DigitReceiver {
  #last: { digit: string; timestamp: number; duration: number } | undefined;

  /** @returns the digit, where a press begins with this packet */
  hear({ payload, timestamp, marker }: EventPacket): string | undefined {
    const digit = payload.length >= 4 ? DIGITS[payload[0]!] : undefined;
    if (digit === undefined) return undefined;
    const duration = payload.readUInt16BE(2);
    const last = this.#last;
    const since = last ? (timestamp - last.timestamp) | 0 : 0;
    if (last && since < 0) return undefined;
    const goesOn = last?.digit === digit && (since === 0 || (!marker && since <= last.duration));
    if (goesOn && since === 0) last.duration = Math.max(last.duration, duration);
    else this.#last = { digit, timestamp, duration };
    return goesOn ? undefined : digit;
  }

  /** The sender has started anew, and so have its timestamps. */
  restart(): void {
    this.#last = undefined;
  }
}

/** Sends digits, one after the other: each takes the place of the packets of sound while it lasts. */
export class DigitSender {
  #waiting: Waiting[] = [];
  #current: Current | undefined;
  #pauseUntil: number | undefined;

  /**
   * @param digits those that `isDigit`, and between them `w` for half a second and `W` for a second
   * @param told once all of them are sent, or left out
   */
  add(digits: string, told: (isSent: boolean) => void = () => {}): void {
    const symbols: Waiting[] = [...digits].map((symbol) => ({ symbol }));
    const last = symbols.at(-1);
    if (last) last.told = told;
    else told(true);
    this.#waiting.push(...symbols);
  }

  /** Leaves out what is not sent yet. */
  drop(): void {
    const left = [...(this.#current ? [this.#current] : []), ...this.#waiting.splice(0)];
    this.#current = undefined;
    for (const { told } of left) told?.(false);
  }

  /**
   * What is sent now instead of sound.
   * @param timestamp of now
   * @param samples how many a packet stands for
   */
  next(timestamp: number, samples: number): SentDigit | undefined {
    this.#current ??= this.#begin(timestamp);
    const event = this.#current;
    if (!event) return undefined;
    const from = event.duration;
    event.duration = Math.min(from + samples, TONE);
    if (event.duration === TONE) event.ends += 1;
    const code = DIGITS.indexOf(event.symbol);
    const payload = Buffer.from([code, (event.ends > 0 ? 0x80 : 0) | VOLUME, event.duration >> 8, event.duration]);
    if (event.ends === END_PACKETS) {
      this.#current = undefined;
      this.#pauseUntil = (timestamp + PAUSE) >>> 0;
      event.told?.(true);
    }
    return {
      ...{ payload, timestamp: event.timestamp, marker: from === 0 },
      ...{ digit: event.symbol, from, until: event.duration },
    };
  }

  /** Begins the next digit, if its time has come. */
  #begin(timestamp: number): Current | undefined {
    for (;;) {
      if (this.#pauseUntil !== undefined && ((timestamp - this.#pauseUntil) | 0) < 0) return undefined;
      const next = this.#waiting.shift();
      if (!next) return undefined;
      const pauseMs = PAUSES[next.symbol];
      if (pauseMs === undefined) return { ...next, timestamp, duration: 0, ends: 0 };
      this.#pauseUntil = (timestamp + pauseMs * BYTES_PER_MS) >>> 0;
      next.told?.(true);
    }
  }
}
