import type { Speech, Voice } from '@trunkline/media';
import type { StreamEnd } from './agent-end.ts';

/** Which two calls are joined, and whether this is the one that waits for the other. It can be sent to another thread. */
export interface RelayAsk {
  pair: string;
  isFirst: boolean;
}

/** Those of this thread whose other side is still to come. */
const waiting = new Map<string, Relay>();

/** The other party as the voice of a call: what it says is said here, and what is heard here is said to it. */
export class Relay implements Voice {
  readonly #pair: string;
  readonly #speech: Speech;
  #other: Relay | undefined;
  #isOver = false;

  /** @throws Error if the other side is gone */
  constructor({ pair, isFirst }: RelayAsk, speech: Speech) {
    this.#pair = pair;
    this.#speech = speech;
    if (isFirst) {
      waiting.set(pair, this);
      return;
    }
    const other = waiting.get(pair);
    if (!other) throw new Error('The other party is gone.');
    waiting.delete(pair);
    this.#other = other;
    other.#other = this;
  }

  start(): void {}

  hear(frame: Buffer): void {
    if (this.#other && !this.#other.#isOver) this.#other.#speech.playout.push(frame);
  }

  digit(digit: string): void {
    if (!this.#other) return;
    void this.#other.#speech.ask({ type: 'send_digits', digits: digit }).catch(() => {});
  }

  mark(): void {}

  /** One side has ended, and so does the other. */
  close(): StreamEnd {
    this.#isOver = true;
    waiting.delete(this.#pair);
    const other = this.#other;
    if (other && !other.#isOver) other.#speech.end({ reason: 'hung_up' } satisfies StreamEnd, 'said');
    return { reason: 'call_ended' };
  }
}
