import { SAMPLE_RATE } from './g711.ts';
import { ahead, type RtpPacket } from './rtp.ts';

/** What a report tells of a stream (RFC 3550, 6.4.1). */
export interface ReceptionReport {
  ssrc: number;
  /** In 256ths, since the report before. */
  fractionLost: number;
  lost: number;
  highestSequence: number;
  /** In samples. */
  jitter: number;
}

/** As far off as this, the sender has started anew. */
const NEW_START = 100;

/** Counts what arrived and what should have (RFC 3550, A.3 and A.8), over all streams of a call. */
export class Reception {
  received = 0;
  #stream: { ssrc: number; first: number; highest: number; received: number } | undefined;
  #lostBefore = 0;
  #jitter = 0;
  #transit: number | undefined;
  #reported = { expected: 0, received: 0 };

  /** @param now in ms */
  note({ ssrc, sequence, timestamp }: Pick<RtpPacket, 'ssrc' | 'sequence' | 'timestamp'>, now: number): void {
    this.received += 1;
    const stream = this.#stream;
    const distance = stream ? ahead(sequence, stream.highest & 0xffff) : 0;
    if (stream?.ssrc !== ssrc || Math.abs(distance) >= NEW_START) {
      this.#lostBefore = this.lost;
      this.#stream = { ssrc, first: sequence, highest: sequence, received: 1 };
      this.#reported = { expected: 0, received: 0 };
      this.#transit = undefined;
    } else {
      stream.received += 1;
      if (distance > 0) stream.highest += distance;
      else if (stream.highest + distance < stream.first) stream.first = stream.highest + distance;
    }
    const transit = (now * SAMPLE_RATE) / 1000 - timestamp;
    const change = this.#transit === undefined ? 0 : Math.abs(transit - this.#transit);
    this.#transit = transit;
    if (change < SAMPLE_RATE) this.#jitter += (change - this.#jitter) / 16;
  }

  get #expected(): number {
    return this.#stream ? this.#stream.highest - this.#stream.first + 1 : 0;
  }

  /** Packets that should have come and didn't. A duplicate makes up for a lost one, as in the RFC. */
  get lost(): number {
    return this.#lostBefore + Math.max(0, this.#expected - (this.#stream?.received ?? 0));
  }

  /** What is to be reported now; nothing where no stream was heard. */
  report(): ReceptionReport | undefined {
    const stream = this.#stream;
    if (!stream) return undefined;
    const expected = this.#expected - this.#reported.expected;
    const missing = Math.max(0, expected - (stream.received - this.#reported.received));
    this.#reported = { expected: this.#expected, received: stream.received };
    return {
      ssrc: stream.ssrc,
      fractionLost: expected > 0 ? Math.min(255, Math.floor((missing * 256) / expected)) : 0,
      lost: Math.max(0, this.#expected - stream.received),
      highestSequence: stream.highest >>> 0,
      jitter: Math.round(this.#jitter),
    };
  }
}
