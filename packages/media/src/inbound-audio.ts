import type { AudioFormat } from './audio-stream.ts';
import { alawToUlaw, BYTES_PER_MS, FRAME, halved, ULAW_SILENCE } from './g711.ts';
import { Reception } from './reception.ts';
import { Reorder } from './reorder.ts';
import type { RtpPacket } from './rtp.ts';
import { DigitReceiver } from './telephone-event.ts';
import { ToneReceiver } from './touch-tone.ts';

const FRAME_MS = FRAME / BYTES_PER_MS;
const silence = Buffer.alloc(FRAME, ULAW_SILENCE);
/**
 * So long after the end of a packet without the next one, silence is filled in: carriers may stop sending in pauses
 * (DTX), and agents would wait for ever for what ends a sentence.
 */
const LATE_MS = 40;
/** What is held for a missing packet is held no longer. */
const HOLD_MS = 60;
/** Lost frames that are made up for at once. */
const MAX_MISSING = 10;
/** Lost frames in a row that the last one stands for, at half its amplitude each time; then there is silence. */
const MAX_CONCEALED = 3;
/** Packets of an unknown SSRC after which the source is believed to have started a new stream. */
const NEW_STREAM = 3;
/** Longer ones are no packets of a telephone. */
const MAX_PAYLOAD = 200 * BYTES_PER_MS;
/** How much sound beyond real time is taken at once; a source that floods isn't heard any faster. */
const BURST = 2000 * BYTES_PER_MS;
const MAX_RATE = 1.1 * BYTES_PER_MS;

/** Where the callee's sound goes: µ-law, 20 ms at a time, whatever its packets are like. */
export interface InboundListener {
  frame(ulaw: Buffer): void;
  digit(digit: string): void;
}

/** What the callee says: decoded by each packet's payload type, put in order, what was lost concealed, pauses filled with silence. */
export class InboundAudio {
  readonly reception = new Reception();
  /** When any packet was taken, in ms; nothing before the first. */
  heardAt: number | undefined;
  #formats: ReadonlyMap<number, AudioFormat> = new Map();
  #ssrc: number | undefined;
  #unknown = { ssrc: 0, packets: 0 };
  #reorder = new Reorder<RtpPacket>(
    (packet) => this.#decode(packet),
    (count) => this.#makeUpFor(count),
  );
  #digits = new DigitReceiver();
  /** Hears digits in the sound of a peer that tells them in no other way. */
  #tones: ToneReceiver | undefined;
  #listener: InboundListener | undefined;
  /** What is left over where packets are not of 20 ms. */
  #rest: Buffer = Buffer.alloc(0);
  /** When the last sound came, and how long it lasts. */
  #soundAt = 0;
  #soundMs = FRAME_MS;
  #nextFill: number | undefined;
  #filled = 0;
  /** What stands for a frame that is lost next, and for how many it did. */
  #substitute: Buffer | undefined;
  #concealed = 0;
  #budget = BURST;
  #budgetAt = 0;

  /**
   * What payload types mean from now on.
   * @param areTonesHeard whether digits are looked for in the sound itself
   */
  expect(formats: ReadonlyMap<number, AudioFormat>, areTonesHeard = false): void {
    this.#formats = formats;
    if (areTonesHeard) this.#tones ??= new ToneReceiver();
    else this.tellsDigits();
  }

  /** The peer tells its digits in another way: as tones they would be heard twice. */
  tellsDigits(): void {
    this.#tones = undefined;
  }

  /** From now on, what is heard goes to a listener; what came before goes nowhere. */
  listen(listener: InboundListener, now: number): void {
    this.#listener = listener;
    this.#soundAt = now;
  }

  /** The next packets are of another source than those before. */
  restart(): void {
    this.#reorder.restart();
    this.#ssrc = undefined;
    this.#digits.restart();
  }

  /** The source has ended this stream; the next may begin at once. */
  endStream(ssrc: number): void {
    if (ssrc === this.#ssrc) this.restart();
  }

  /** @param now in ms */
  hear(packet: RtpPacket, now: number): void {
    if (packet.payload.length > MAX_PAYLOAD || !this.#isOfStream(packet.ssrc) || !this.#mayHear(packet, now)) return;
    this.heardAt = now;
    this.reception.note(packet, now);
    const format = this.#formats.get(packet.payloadType);
    if (format && format !== 'telephone-event') {
      this.#soundAt = now;
      this.#soundMs = packet.payload.length / BYTES_PER_MS;
      this.#nextFill = undefined;
    }
    this.#reorder.push(packet.sequence, packet, now);
  }

  /** Gives up on lost packets, and fills gaps. To be called at the beat. */
  tick(now: number): void {
    this.#reorder.giveUp(now, HOLD_MS);
    const endsAt = this.#soundAt + this.#soundMs;
    if (!this.#listener || now - endsAt < LATE_MS) return;
    this.#nextFill ??= endsAt;
    for (; this.#nextFill <= now - FRAME_MS; this.#nextFill += FRAME_MS) {
      this.#filled += 1;
      this.#substitute = undefined;
      this.#tell(silence);
    }
  }

  #isOfStream(ssrc: number): boolean {
    if (ssrc === this.#ssrc) {
      this.#unknown.packets = 0;
      return true;
    }
    if (this.#ssrc !== undefined) {
      this.#unknown = { ssrc, packets: ssrc === this.#unknown.ssrc ? this.#unknown.packets + 1 : 1 };
      if (this.#unknown.packets < NEW_STREAM) return false;
    }
    this.restart();
    this.#ssrc = ssrc;
    return true;
  }

  #mayHear({ payload }: RtpPacket, now: number): boolean {
    this.#budget = Math.min(BURST, this.#budget + (now - this.#budgetAt) * MAX_RATE);
    this.#budgetAt = now;
    return this.#spend(Math.max(payload.length, FRAME / 4));
  }

  #spend(bytes: number): boolean {
    if (bytes > this.#budget) return false;
    this.#budget -= bytes;
    return true;
  }

  #decode(packet: RtpPacket): void {
    const format = this.#formats.get(packet.payloadType);
    if (!this.#listener || !format) return; // comfort noise (13) too: silence is filled in
    if (format === 'telephone-event') {
      this.tellsDigits();
      const digit = this.#digits.hear(packet);
      if (digit !== undefined) this.#listener.digit(digit);
      return;
    }
    const ulaw = format === 'PCMA' ? alawToUlaw(packet.payload) : packet.payload;
    this.#filled = 0;
    this.#substitute = ulaw.length >= FRAME ? ulaw.subarray(-FRAME) : undefined;
    this.#concealed = 0;
    this.#tell(ulaw);
  }

  /** What is heard in place of a lost frame: the one before, ever fainter, as by ITU-T G.711 appendix I without its search for the pitch. */
  #conceal(): Buffer {
    const frame = this.#substitute;
    if (!frame || this.#concealed >= MAX_CONCEALED) return silence;
    this.#concealed += 1;
    this.#substitute = halved(frame);
    return frame;
  }

  #makeUpFor(count: number): void {
    for (let missing = Math.min(count, MAX_MISSING) - this.#filled; missing > 0; missing -= 1)
      if (this.#spend(FRAME)) this.#tell(this.#conceal());
  }

  #tell(ulaw: Buffer): void {
    if (!this.#listener) return;
    let sound: Buffer = this.#rest.length === 0 ? ulaw : Buffer.concat([this.#rest, ulaw]);
    for (; sound.length >= FRAME; sound = sound.subarray(FRAME)) {
      const frame = sound.subarray(0, FRAME);
      this.#listener.frame(frame);
      for (const digit of this.#tones?.hear(frame) ?? '') this.#listener.digit(digit);
    }
    this.#rest = sound;
  }
}
