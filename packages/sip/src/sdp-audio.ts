import { isIPv4, isIPv6 } from 'node:net';
import { attributeOf, type SdpAddress, type SdpMedia, type SessionDescription } from './sdp.ts';
import { type CryptoLine, type MediaEncryption, readCrypto } from './sdp-crypto.ts';

/** The codecs of G.711 by their names in `a=rtpmap` (RFC 3551, 4.5.14). */
export type AudioCodec = 'PCMU' | 'PCMA';
/** What a payload type of our stream can carry. */
export type AudioFormat = AudioCodec | 'telephone-event';
/** Who may send, from the side that says it (RFC 8866, 6.7). */
export type Direction = 'sendrecv' | 'sendonly' | 'recvonly' | 'inactive';

/** Why a description can't be taken; `text` says it to a person, and fits into a Warning header. */
export interface SdpRefusal {
  reason: 'malformed' | 'no_audio' | 'fax' | 'encryption' | 'codec' | 'address';
  text: string;
}

/** Where a side receives: RTP, and RTCP (RFC 3605; the port above by default). */
export interface MediaAddress {
  address: string;
  port: number;
  rtcpAddress: string;
  rtcpPort: number;
}

/** What one side says of its audio stream. */
export interface AudioDescription {
  /** The index of its media line. */
  index: number;
  remote: MediaAddress;
  /** The formats that it receives, by their payload types, in its order of preference. */
  formats: Map<number, AudioFormat>;
  /** As it says it. An address of zeros (RFC 2543, B.5) says that it doesn't receive. */
  direction: Direction;
  /** How much sound it wants in a packet, in ms. */
  packetMs: number;
  /** Its keys, in its order of preference; none if the stream is plain. */
  crypto: CryptoLine[];
}

const wellKnown: ReadonlyMap<number, AudioCodec> = new Map([
  [0, 'PCMU'],
  [8, 'PCMA'],
]);
const names: ReadonlyMap<string, AudioFormat> = new Map([
  ['PCMU/8000', 'PCMU'],
  ['PCMU/8000/1', 'PCMU'],
  ['PCMA/8000', 'PCMA'],
  ['PCMA/8000/1', 'PCMA'],
  ['TELEPHONE-EVENT/8000', 'telephone-event'],
  ['TELEPHONE-EVENT/8000/1', 'telephone-event'],
]);
const directions: readonly Direction[] = ['sendrecv', 'sendonly', 'recvonly', 'inactive'];
/** The packet times that can be sent, in ms. */
const packetTimes = [60, 40, 30, 20, 10];

export const isAudioCodec = (format: AudioFormat): format is AudioCodec => format !== 'telephone-event';

/**
 * Finds the stream of G.711 in a description: the first audio line that can be taken; one with keys before one without.
 * @param codecs the codecs that we speak
 * @param encryption whether we speak them encrypted
 */
export function readAudio(
  session: SessionDescription,
  codecs: readonly AudioCodec[],
  encryption: MediaEncryption,
): { audio: AudioDescription } | { refused: SdpRefusal } {
  let refused: SdpRefusal | undefined;
  const lines = [...session.media.entries()].filter(([, { kind, port }]) => kind === 'audio' && port !== 0);
  const rank = (media: SdpMedia) => Number(encryption === 'none' || readCrypto(media).length === 0);
  for (const [index, media] of lines.toSorted(([, a], [, b]) => rank(a) - rank(b))) {
    const read = readLine(session, media, index, { codecs, encryption });
    if ('audio' in read) return read;
    refused ??= read.refused;
  }
  if (refused) return { refused };
  if (session.media.some(({ kind, port }) => kind === 'image' && port !== 0))
    return { refused: { reason: 'fax', text: 'T.38 fax is not supported; this side speaks G.711 audio.' } };
  return { refused: { reason: 'no_audio', text: 'There is no audio stream in this description.' } };
}

function readLine(
  session: SessionDescription,
  media: SdpMedia,
  index: number,
  { codecs, encryption }: { codecs: readonly AudioCodec[]; encryption: MediaEncryption },
): { audio: AudioDescription } | { refused: SdpRefusal } {
  const refuse = (reason: SdpRefusal['reason'], text: string) => ({ refused: { reason, text } });
  const crypto = encryption === 'none' ? [] : readCrypto(media);
  const fault = encryptionFault(media.protocol, encryption, crypto.length > 0);
  if (fault) return refuse('encryption', fault);
  if (!/^RTP\/S?AVPF?$/i.test(media.protocol))
    return refuse('no_audio', `Audio over ${media.protocol} is not supported; use RTP/AVP.`);
  const formats = readFormats(media, codecs);
  if (![...formats.values()].some(isAudioCodec))
    return refuse('codec', `None of the codecs offered is spoken here; it takes ${codecs.join(' or ')}.`);
  const at = media.connection ?? session.connection;
  if (!at) return refuse('address', 'There is no c= for the audio stream.');
  const notThere = addressFault(at);
  if (notThere) return refuse('address', notThere);
  const rtcp = /^(\d{1,5})(?: IN IP[46] (\S+))?$/.exec(attributeOf(media, 'rtcp') ?? '');
  const remote: MediaAddress = {
    address: at.address,
    port: media.port,
    rtcpAddress: rtcp?.[2] && !addressFault({ family: at.family, address: rtcp[2] }) ? rtcp[2] : at.address,
    rtcpPort: isPort(Number(rtcp?.[1])) ? Number(rtcp![1]) : Math.min(media.port + 1, 65_535),
  };
  const direction = directionOf(session, media, at);
  return { audio: { index, remote, formats, direction, packetMs: packetMsOf(media), crypto } };
}

/** Why a line can't be taken for how it is encrypted, or isn't. */
function encryptionFault(protocol: string, encryption: MediaEncryption, hasKey: boolean): string | undefined {
  const isSecure = /SAVP/i.test(protocol);
  if (isSecure && encryption === 'none')
    return `Encrypted media (${protocol}) is not taken here; use RTP/AVP, without SRTP.`;
  if (isSecure && !/^RTP\/SAVPF?$/i.test(protocol)) return `Keys by ${protocol} are not supported; use a=crypto.`;
  if (hasKey || (!isSecure && encryption !== 'required')) return undefined;
  return 'Media must be encrypted here, and no a=crypto has a key that is spoken.';
}

const isPort = (port: number) => Number.isInteger(port) && port > 0 && port <= 65_535;

function addressFault({ family, address }: SdpAddress): string | undefined {
  if (!(family === 4 ? isIPv4(address) : isIPv6(address)))
    return `c= names ${address}, which is no IPv${family} address.`;
  if (family === 4 ? Number(address.split('.')[0]) >= 224 : /^ff/i.test(address))
    return `c= names ${address}, which is no address of one host.`;
  return undefined;
}

/** @returns our codecs and telephone-events by payload type, in the order of the media line */
function readFormats(media: SdpMedia, codecs: readonly AudioCodec[]): Map<number, AudioFormat> {
  const mapped = new Map<number, AudioFormat | undefined>(wellKnown);
  for (const { name, value = '' } of media.attributes) {
    const [, type, encoding] = (name === 'rtpmap' && /^(\d{1,3}) +(\S+)/.exec(value)) || [];
    if (encoding) mapped.set(Number(type), names.get(encoding.toUpperCase()));
  }
  const formats = new Map<number, AudioFormat>();
  for (const text of media.formats) {
    const type = /^\d{1,3}$/.test(text) ? Number(text) : 128;
    const format = type < 128 ? mapped.get(type) : undefined;
    if (format && (!isAudioCodec(format) || codecs.includes(format))) formats.set(type, format);
  }
  return formats;
}

const zeros = (address: string) => address === '0.0.0.0' || /^[0:]+$/.test(address);

function directionOf(session: SessionDescription, media: SdpMedia, at: SdpAddress): Direction {
  const said = [media, session].flatMap(({ attributes }) => attributes.map(({ name }) => name as Direction));
  const direction = said.find((name) => directions.includes(name)) ?? 'sendrecv';
  if (!zeros(at.address)) return direction;
  return direction === 'sendrecv' || direction === 'sendonly' ? 'sendonly' : 'inactive';
}

/** `a=ptime` is what it wants, `a=maxptime` what it can take (RFC 8866, 6.4). */
function packetMsOf(media: SdpMedia): number {
  const number = (name: string) => {
    const value = Number.parseFloat(attributeOf(media, name) ?? '');
    return value > 0 ? value : undefined;
  };
  const wanted = Math.min(number('ptime') ?? 20, number('maxptime') ?? 60);
  return packetTimes.find((time) => time <= wanted) ?? 10;
}

/** What we may do where the other side says this (RFC 3264, 6.1). */
export const mirrored: Readonly<Record<Direction, Direction>> = {
  sendrecv: 'sendrecv',
  sendonly: 'recvonly',
  recvonly: 'sendonly',
  inactive: 'inactive',
};
