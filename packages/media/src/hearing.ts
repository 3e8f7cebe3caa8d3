import type { AudioStream } from './audio-stream.ts';
import { InboundAudio, type InboundListener } from './inbound-audio.ts';
import type { MediaEvent } from './media-events.ts';
import type { Endpoint } from './peer-source.ts';
import type { RtpPacket } from './rtp.ts';

/** A call that is inactive from its answer on is waited for so much longer than for sound. */
const INACTIVE_FACTOR = 2;

/** What is heard of the callee, and that it is told if nothing is. */
export class Hearing {
  readonly inbound = new InboundAudio();
  #silenceMs: number;
  #emit: (event: MediaEvent) => void;
  #direction: AudioStream['direction'] | undefined;
  /** Since when sound is to be expected: the answer, or the end of a hold. Nobody waits for any before the answer. */
  #expectsSince: number | undefined;
  #hasToldSilence = false;
  #areDigitsTold = false;
  /** Whether both could ever hear each other. */
  #wasActive = false;

  /** @param silenceMs without a packet for so long while talking, `no_media` is told; after twice as long if it was never more than inactive */
  constructor(silenceMs: number, emit: (event: MediaEvent) => void) {
    this.#silenceMs = silenceMs;
    this.#emit = emit;
  }

  /** Takes what may come from now on. */
  expect({ receives, direction, telephoneEventType }: AudioStream, now: number): void {
    this.inbound.expect(receives, telephoneEventType === undefined && !this.#areDigitsTold);
    if (this.#direction !== direction && this.#expectsSince !== undefined) this.#expectsSince = now;
    this.#direction = direction;
  }

  /** The callee has answered: what is heard from now on goes to a listener. */
  answer(listener: InboundListener, now: number): void {
    this.#expectsSince = now;
    this.inbound.listen(listener, now);
  }

  /** The peer tells its digits beside its sound, as by INFO. */
  tellsDigits(): void {
    this.#areDigitsTold = true;
    this.inbound.tellsDigits();
  }

  /** When any packet was taken, in ms; 0 before the first. */
  get heardAt(): number {
    return this.inbound.heardAt ?? 0;
  }

  hear(packet: RtpPacket, from: Endpoint, isNew: boolean, now: number): void {
    if (isNew) this.inbound.restart();
    if (this.inbound.heardAt === undefined) this.#emit({ type: 'first_packet', from: `${from.address}:${from.port}` });
    this.#hasToldSilence = false;
    this.inbound.hear(packet, now);
  }

  /** To be called with each turn. */
  tick(now: number): void {
    this.inbound.tick(now);
    if (this.#expectsSince === undefined || this.#hasToldSilence) return;
    if (this.#direction === 'sendrecv') this.#wasActive = true;
    else if (this.#wasActive || this.#direction !== 'inactive') return;
    const longestMs = this.#wasActive ? this.#silenceMs : INACTIVE_FACTOR * this.#silenceMs;
    if (now - Math.max(this.heardAt, this.#expectsSince) < longestMs) return;
    this.#hasToldSilence = true;
    this.#emit({ type: 'no_media', heardBefore: this.inbound.heardAt !== undefined });
  }
}
