import { BYTES_PER_MS } from './g711.ts';

/** Digits in RTP (RFC 4733): event codes 0 to 15. */
const DIGITS = '0123456789*#ABCD';
/** How long a digit of ours sounds, and what is kept free after it, in samples. */
const TONE = 100 * BYTES_PER_MS;
const PAUSE = 60 * BYTES_PER_MS;
/** The last packet is sent this often, since a lost one would leave the tone on (RFC 4733, 2.5.1.4). */
const END_PACKETS = 3;
const VOLUME = 10;

/** Whether a text is one digit that can be sent or heard: `0` to `9`, `*`, `#`, `A` to `D`. */
export const isDigit = (text: string): boolean => text.length === 1 && DIGITS.includes(text);

interface EventPacket {
  payload: Buffer;
  timestamp: number;
  marker: boolean;
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
  #waiting: string[] = [];
  #current: { code: number; timestamp: number; duration: number; ends: number } | undefined;
  #pauseUntil: number | undefined;

  /** @param digits those that `isDigit` */
  add(digits: string): void {
    this.#waiting.push(...digits);
  }

  /**
   * The packet to be sent now instead of sound.
   * @param timestamp of now
   * @param samples how many a packet stands for
   */
  next(timestamp: number, samples: number): EventPacket | undefined {
    if (!this.#current) {
      if (this.#pauseUntil !== undefined && ((timestamp - this.#pauseUntil) | 0) < 0) return undefined;
      const digit = this.#waiting.shift();
      if (digit === undefined) return undefined;
      this.#current = { code: DIGITS.indexOf(digit), timestamp, duration: 0, ends: 0 };
    }
    const event = this.#current;
    const marker = event.duration === 0;
    event.duration = Math.min(event.duration + samples, TONE);
    if (event.duration === TONE) event.ends += 1;
    const payload = Buffer.from([
      event.code,
      (event.ends > 0 ? 0x80 : 0) | VOLUME,
      event.duration >> 8,
      event.duration,
    ]);
    if (event.ends === END_PACKETS) {
      this.#current = undefined;
      this.#pauseUntil = (timestamp + PAUSE) >>> 0;
    }
    return { payload, timestamp: event.timestamp, marker };
  }
}
