import { randomInt } from 'node:crypto';
import { isIPv6 } from 'node:net';
import { parseSdp, SdpError, type SdpMedia, type SessionDescription, writeSdp } from './sdp.ts';
import {
  type AudioCodec,
  type AudioDescription,
  type AudioFormat,
  type Direction,
  isAudioCodec,
  type MediaAddress,
  mirrored,
  readAudio,
  type SdpRefusal,
} from './sdp-audio.ts';
import {
  type CryptoLine,
  cryptoAttribute,
  isSameKey,
  type MediaEncryption,
  newKey,
  newOffer,
  type SrtpKey,
} from './sdp-crypto.ts';

/** What this side tells of itself. */
export interface LocalAudio {
  /** Where peers send to: the address as they see it. IPv4 or IPv6. */
  address: string;
  /** Of RTP; RTCP comes to the port above. */
  port: number;
  /** In order of preference. */
  codecs: readonly AudioCodec[];
  /** Whether packets are encrypted, by keys in the description (RFC 4568): who reads that can read the sound. Default: `none`. */
  encryption?: MediaEncryption;
  /** A number of up to 20 digits. Default: a random one. */
  sessionId?: string;
}

/** A stream that both sides have agreed on. It can be sent to another thread. */
export interface AudioStream {
  remote: MediaAddress;
  /** What we send, under the peer's number for it. */
  codec: AudioCodec;
  payloadType: number;
  /** The payload type that the peer takes telephone-events by (RFC 4733); without it, it takes none. */
  telephoneEventType: number | undefined;
  /** What may arrive, by payload type: as we numbered it, and as the peer did. */
  receives: Map<number, AudioFormat>;
  /** How much sound a packet of ours carries, in ms: 10, 20, 30, 40 or 60. */
  packetMs: number;
  /** What we may do. While it is not `sendrecv`, the call is on hold. */
  direction: Direction;
  /** The keys that packets are encrypted by; without them they are plain. */
  srtp?: { send: SrtpKey; receive: SrtpKey };
}

type Refused = { refused: SdpRefusal; audio?: undefined; answer?: undefined };
export type OfferAnswered = { audio: AudioStream; answer: string; refused?: undefined } | Refused;
export type AnswerRead = { audio: AudioStream; refused?: undefined } | Refused;

const staticTypes: readonly (readonly [number, AudioCodec])[] = [
  [0, 'PCMU'],
  [8, 'PCMA'],
];
const DEFAULT_TELEPHONE_EVENT = 101;

/** How far the offers and answers of a dialog have come. */
interface Agreed {
  readonly audio: AudioStream | undefined;
  /** Of the last description that was written, with that description as version 0. */
  readonly version: number;
  readonly last: string;
  /** The media lines that the dialog has come to; later descriptions keep their number and order (RFC 3264, 8). */
  readonly lines: readonly SdpMedia[];
  readonly audioAt: number;
  /** Our keys in the last description. */
  readonly crypto: readonly CryptoLine[];
}

/** Offers and answers of one dialog (RFC 3264), for one stream of G.711. Streams of any other kind are refused. */
export class SdpSession {
  readonly #local: LocalAudio;
  readonly #sessionId: string;
  readonly #encryption: MediaEncryption;
  #agreed: Agreed;
  /** What stood before the last answer. */
  #before: Agreed;

  constructor(local: LocalAudio) {
    this.#local = local;
    this.#encryption = local.encryption ?? 'none';
    const protocol = this.#encryption === 'required' ? 'RTP/SAVP' : 'RTP/AVP';
    const line = { kind: 'audio', port: 0, protocol, formats: [], attributes: [] };
    this.#agreed = { audio: undefined, version: 0, last: '', lines: [line], audioAt: 0, crypto: [] };
    this.#before = this.#agreed;
    this.#sessionId = local.sessionId ?? String(randomInt(2 ** 47));
  }

  /** What was agreed last; a refused offer or answer leaves it as it is. */
  get audio(): AudioStream | undefined {
    return this.#agreed.audio;
  }

  /** An offer, first or later. The version of `o=` rises where it says something new. */
  offer(): string {
    const formats = new Map<number, AudioFormat>(this.#ownTypes());
    formats.set(this.audio?.telephoneEventType ?? DEFAULT_TELEPHONE_EVENT, 'telephone-event');
    if (this.#encryption !== 'none' && this.#agreed.crypto.length === 0)
      this.#agreed = { ...this.#agreed, crypto: newOffer() };
    return this.#describe(formats, this.audio?.packetMs ?? 20, 'sendrecv');
  }

  /** Reads the answer to our offer. Nothing is thrown: what can't be taken is `refused`. */
  readAnswer(text: string): AnswerRead {
    const read = this.#read(text);
    if ('refused' in read) return read;
    const { audio, session } = read;
    const offered = new Map<number, AudioFormat>(this.#ownTypes());
    offered.set(this.audio?.telephoneEventType ?? DEFAULT_TELEPHONE_EVENT, 'telephone-event');
    const [theirs] = audio.crypto;
    const send = theirs && this.#agreed.crypto.find(({ tag, suite }) => tag === theirs.tag && suite === theirs.suite);
    const keys = session.media[audio.index]!.attributes.filter(({ name }) => name === 'crypto').length;
    // Who answers with a key encrypts, also by one that is not spoken here (RFC 4568 section 5.1.2).
    if (this.#encryption !== 'none' && keys > 0 && !(send && keys === 1))
      return {
        refused: { reason: 'encryption', text: 'a=crypto must take one of the keys offered, by tag and suite.' },
      };
    const stream = { ...streamOf(audio, offered), ...(send && { srtp: { send, receive: theirs! } }) };
    this.#agreed = { ...this.#agreed, audio: stream };
    return { audio: stream };
  }

  /** Answers an offer, first or later. Nothing is thrown: what can't be taken is `refused`, for a 488. */
  answer(text: string): OfferAnswered {
    const read = this.#read(text);
    if ('refused' in read) return read;
    const { audio, session } = read;
    const crypto = this.#answerTo(audio.crypto);
    const stream = { ...streamOf(audio, new Map(audio.formats)), ...(crypto && { srtp: crypto }) };
    for (const [type, codec] of this.#ownTypes()) if (!stream.receives.has(type)) stream.receives.set(type, codec);
    this.#before = this.#agreed;
    const said = crypto ? [{ ...crypto.send, tag: crypto.receive.tag }] : [];
    this.#agreed = { ...this.#agreed, audio: stream, lines: session.media, audioAt: audio.index, crypto: said };
    const formats = new Map<number, AudioFormat>([[stream.payloadType, stream.codec]]);
    if (stream.telephoneEventType !== undefined) formats.set(stream.telephoneEventType, 'telephone-event');
    return { audio: stream, answer: this.#describe(formats, stream.packetMs, stream.direction) };
  }

  /** The keys for an offer: a new one of ours with each new one of the peer's, so that both count anew, and the same otherwise. */
  #answerTo(lines: readonly CryptoLine[]): { send: SrtpKey; receive: CryptoLine } | undefined {
    const before = this.audio?.srtp;
    const same = before && lines.find((line) => isSameKey(line, before.receive));
    if (same) return { send: before.send, receive: same };
    const [receive] = lines;
    return receive && { send: newKey(receive.suite), receive };
  }

  /** The last answer was not sent, such as where its offer is refused after all: what stood before it holds. */
  withdraw(): void {
    this.#agreed = this.#before;
  }

  #ownTypes() {
    const { codecs } = this.#local;
    return codecs.map((codec) => staticTypes.find(([, name]) => name === codec)!);
  }

  #read(text: string): { audio: AudioDescription; session: SessionDescription } | Refused {
    try {
      const session = parseSdp(text);
      const read = readAudio(session, this.#local.codecs, this.#encryption);
      return 'refused' in read ? read : { audio: read.audio, session };
    } catch (error) {
      if (!(error instanceof SdpError)) throw error;
      return { refused: { reason: 'malformed', text: error.message } };
    }
  }

  #describe(formats: ReadonlyMap<number, AudioFormat>, packetMs: number, direction: Direction): string {
    const { address, port } = this.#local;
    const family = isIPv6(address) ? 6 : 4;
    const { lines, audioAt, last, version: before, crypto } = this.#agreed;
    const media = lines.map((line, at): SdpMedia => {
      if (at !== audioAt) return { ...line, port: 0, formats: line.formats.slice(0, 1), attributes: [] };
      return {
        kind: 'audio',
        port,
        protocol: line.protocol,
        formats: [...formats.keys()].map(String),
        attributes: [
          ...[...formats].map(([type, format]) => ({ name: 'rtpmap', value: `${type} ${format}/8000` })),
          ...[...formats]
            .filter(([, format]) => !isAudioCodec(format))
            .map(([type]) => ({ name: 'fmtp', value: `${type} 0-15` })),
          ...crypto.map(cryptoAttribute),
          { name: 'ptime', value: String(packetMs) },
          { name: direction },
        ],
      };
    });
    const described = (version: number): string =>
      writeSdp({
        origin: { username: '-', sessionId: this.#sessionId, version: String(version), family, address },
        connection: { family, address },
        attributes: [],
        media: media.map(({ connection: _, ...line }) => line),
      });
    const said = described(0);
    if (said !== last) this.#agreed = { ...this.#agreed, last: said, version: before + 1 };
    return described(this.#agreed.version);
  }
}

/** @param own the formats by the numbers that we gave them; where the peer numbered another one so, ours is meant */
function streamOf(audio: AudioDescription, own: Map<number, AudioFormat>): AudioStream {
  const { remote, formats, direction, packetMs } = audio;
  const [payloadType, codec] = [...formats].find(([, format]) => isAudioCodec(format)) as [number, AudioCodec];
  const telephoneEventType = [...formats].find(([, format]) => !isAudioCodec(format))?.[0];
  const receives = new Map([...formats, ...own]);
  return { remote, codec, payloadType, telephoneEventType, receives, packetMs, direction: mirrored[direction] };
}
