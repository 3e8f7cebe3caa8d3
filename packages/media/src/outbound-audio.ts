import { randomBytes } from 'node:crypto';
import type { AudioStream } from './audio-stream.ts';
import { BYTES_PER_MS, ULAW_SILENCE, ulawToAlaw } from './g711.ts';
import type { SenderState } from './rtcp.ts';
import { RTP_HEADER, writeRtpHeader } from './rtp.ts';
import { DigitSender, type SentDigit } from './telephone-event.ts';
import { writeTone } from './touch-tone.ts';

/** For so long after a tone its echo may be heard. */
const ECHO = 300 * BYTES_PER_MS;

/** What the callee hears, as packets: sound in the peer's codec, and digits in between, as tones if it takes no events. */
export class OutboundAudio {
  readonly digits = new DigitSender();
  /** Not near the end of its numbers: who misses the first packets must not miss that they roll over (RFC 3711 section 3.3.1). */
  #sequence = randomBytes(2).readUInt16BE() >> 1;
  #timestamp = randomBytes(4).readUInt32BE();
  #ssrc = randomBytes(4).readUInt32BE();
  #packets = 0;
  #bytes = 0;
  #packetsBefore = 0;
  #marksNext = true;
  #wasTalking = false;
  /** Until when each digit sounded as a tone, by the timestamp. */
  #toneEnds = new Map<string, number>();

  get state(): SenderState {
    return { ssrc: this.#ssrc, timestamp: this.#timestamp, packets: this.#packets, bytes: this.#bytes };
  }

  /** Packets of this stream and those before it. */
  get sent(): number {
    return this.#packetsBefore + this.#packets;
  }

  /** What follows is a stream of its own. */
  restart(): void {
    this.#sequence = randomBytes(2).readUInt16BE() >> 1;
    this.#ssrc = randomBytes(4).readUInt32BE();
    this.#packetsBefore = this.sent;
    this.#packets = 0;
    this.#bytes = 0;
    this.#marksNext = true;
  }

  /**
   * The packet of this turn.
   * @param ulaw what is said, as much as a packet carries
   * @param talking whether it is more than silence
   */
  packet(ulaw: Buffer, talking: boolean, stream: AudioStream): Buffer {
    const { telephoneEventType } = stream;
    const digit = this.digits.next(this.#timestamp, ulaw.length);
    const event = telephoneEventType === undefined ? undefined : digit;
    const sound = digit && !event ? toneOf(digit, ulaw.length) : ulaw;
    const payload = event?.payload ?? (stream.codec === 'PCMA' ? ulawToAlaw(sound) : sound);
    const packet = Buffer.allocUnsafe(RTP_HEADER + payload.length);
    writeRtpHeader(packet, {
      payloadType: event ? telephoneEventType! : stream.payloadType,
      marker: event ? event.marker : this.#marksNext || (talking && !this.#wasTalking),
      sequence: this.#sequence,
      timestamp: event?.timestamp ?? this.#timestamp,
      ssrc: this.#ssrc,
    });
    payload.copy(packet, RTP_HEADER);
    this.#wasTalking = talking;
    this.#marksNext = event !== undefined;
    this.#sequence = (this.#sequence + 1) & 0xffff;
    this.#timestamp = (this.#timestamp + ulaw.length) >>> 0;
    if (digit && !event && digit.until > digit.from) this.#toneEnds.set(digit.digit, this.#timestamp);
    this.#packets += 1;
    this.#bytes += payload.length;
    return packet;
  }

  /** Whether a digit sounds as a tone, or did just now: what is heard of it then is an echo. */
  echoes(digit: string): boolean {
    const end = this.#toneEnds.get(digit);
    return end !== undefined && (this.#timestamp - end) >>> 0 < ECHO;
  }

  /** Time passes without packets: a hold, or a stall. The next one begins a new talkspurt (RFC 3551, 4.1). */
  pass(ms: number): void {
    this.#timestamp = (this.#timestamp + ms * BYTES_PER_MS) >>> 0;
    this.#marksNext = true;
  }
}

function toneOf({ digit, from, until }: SentDigit, length: number): Buffer {
  const tone = Buffer.alloc(length, ULAW_SILENCE);
  writeTone(tone.subarray(0, until - from), digit, from);
  return tone;
}
