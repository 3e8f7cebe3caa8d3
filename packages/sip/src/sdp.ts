/** SDP, the grammar (RFC 8866). What an offer or an answer means is in `sdp-session.ts`. */

/** `IN IP4 203.0.113.5` (RFC 8866, 5.7). The address is as it was written: a name, or an address of any kind. */
export interface SdpAddress {
  family: 4 | 6;
  address: string;
}

/** `a=name` or `a=name:value` (RFC 8866, 5.13). */
export interface SdpAttribute {
  name: string;
  value?: string;
}

/** One `m=` section (RFC 8866, 5.14). */
export interface SdpMedia {
  /** `audio`, `image`, `video` … */
  kind: string;
  /** 0: refused, or not in use any more. */
  port: number;
  /** `RTP/AVP`, `RTP/SAVP`, `udptl` … */
  protocol: string;
  /** Payload types, of RTP. */
  formats: string[];
  connection?: SdpAddress;
  attributes: SdpAttribute[];
}

export interface SessionDescription {
  /** RFC 8866, 5.2. Numbers of up to 20 digits, so texts. */
  origin: SdpAddress & { username: string; sessionId: string; version: string };
  connection?: SdpAddress;
  attributes: SdpAttribute[];
  media: SdpMedia[];
}

/** The text is no SDP, or more than this reads; the message says what is wrong. */
export class SdpError extends Error {}

/** Bounds on what a stranger can send; real descriptions stay far below. */
const MAX_LENGTH = 16_384;
const MAX_MEDIA = 16;
const MAX_FORMATS = 64;

/** No control character but the tab. */
const line = /^([a-z])=((?:\t|\P{Cc})*)$/u;
const origin = /^(\S+) (\d{1,20}) (\d{1,20}) IN IP([46]) (\S+)$/;
const connection = /^IN IP([46]) ([\w.:-]+)(?:\/\d+){0,2}$/;
const media =
  /^([\w!#$%&'*+.^`{|}~-]+) (\d{1,5})(?:\/\d{1,5})? ([\w!#$%&'*+.^`{|}~-]+(?:\/[\w!#$%&'*+.^`{|}~-]+)*)((?: \S+)*)$/;
const attribute = /^([\w!#$%&'*+.^`{|}~-]+)(?::(.*))?$/;

/** What a fault says of a text: its begin, without a key (RFC 4568). */
const shown = (text: string) => {
  const clear = text.replace(/inline:.*/is, 'inline:(hidden)');
  return JSON.stringify(clear.length > 60 ? `${clear.slice(0, 60)}…` : clear);
};

/**
 * Reads a description. Order and repetition of lines are not held to the RFC where nothing hangs on it, and lines that
 * nobody uses here are left out. @throws SdpError
 */
export function parseSdp(text: string): SessionDescription {
  if (text.length > MAX_LENGTH) throw new SdpError(`SDP of ${text.length} characters; ${MAX_LENGTH} are read.`);
  const lines = text.split(/\r\n|\n|\r/).filter((each) => each !== '');
  if (lines[0]?.trimEnd() !== 'v=0') throw new SdpError('SDP begins with v=0.');
  let from: SessionDescription['origin'] | undefined;
  const session: Omit<SessionDescription, 'origin'> = { attributes: [], media: [] };
  let section: { connection?: SdpAddress; attributes: SdpAttribute[] } = session;
  for (const each of lines.slice(1)) {
    const [, type, value = ''] = line.exec(each.trimEnd()) ?? [];
    if (!type) throw new SdpError(`No line of SDP: ${shown(each)}`);
    if (type === 'o') from = readOrigin(value);
    else if (type === 'c') section.connection = readConnection(value);
    else if (type === 'a') section.attributes.push(readAttribute(value));
    else if (type === 'm') {
      if (session.media.length === MAX_MEDIA) throw new SdpError(`SDP with more than ${MAX_MEDIA} media lines.`);
      const described = readMedia(value);
      session.media.push(described);
      section = described;
    }
  }
  if (!from) throw new SdpError('SDP without o=.');
  return { origin: from, ...session };
}

function readOrigin(value: string): SessionDescription['origin'] {
  const [, username, sessionId, version, family, address] = origin.exec(value) ?? [];
  if (!username) throw new SdpError(`Not an origin: o=${shown(value)}`);
  return { username, sessionId: sessionId!, version: version!, family: family === '4' ? 4 : 6, address: address! };
}

function readConnection(value: string): SdpAddress {
  const [, family, address] = connection.exec(value) ?? [];
  if (!family) throw new SdpError(`Not an address: c=${shown(value)}`);
  return { family: family === '4' ? 4 : 6, address: address! };
}

function readMedia(value: string): SdpMedia {
  const [, kind, port, protocol, rest] = media.exec(value) ?? [];
  if (!kind) throw new SdpError(`Not a media line: m=${shown(value)}`);
  const formats = rest!.split(' ').filter((format) => format !== '');
  if (Number(port) > 65_535) throw new SdpError(`Not a port: m=${shown(value)}`);
  if (formats.length > MAX_FORMATS) throw new SdpError(`A media line with more than ${MAX_FORMATS} formats.`);
  return { kind, port: Number(port), protocol: protocol!, formats, attributes: [] };
}

function readAttribute(value: string): SdpAttribute {
  const [, name, content] = attribute.exec(value) ?? [];
  if (!name) throw new SdpError(`Not an attribute: a=${shown(value)}`);
  return content === undefined ? { name } : { name, value: content };
}

/** The value of the first attribute of this name; the empty text where it has none. */
export const attributeOf = (section: { attributes: readonly SdpAttribute[] }, name: string): string | undefined => {
  const found = section.attributes.find((each) => each.name === name);
  return found && (found.value ?? '');
};

/** Writes a description, lines ended by CRLF. @throws SdpError where a value would begin a line of its own */
export function writeSdp({ origin: from, connection: at, attributes, media: sections }: SessionDescription): string {
  const lines = [
    'v=0',
    `o=${from.username} ${from.sessionId} ${from.version} IN IP${from.family} ${from.address}`,
    's=-',
    ...(at ? [connectionLine(at)] : []),
    't=0 0',
    ...attributes.map(attributeLine),
    ...sections.flatMap((each) => [
      `m=${each.kind} ${each.port} ${each.protocol} ${each.formats.join(' ')}`,
      ...(each.connection ? [connectionLine(each.connection)] : []),
      ...each.attributes.map(attributeLine),
    ]),
  ];
  const broken = lines.find((each) => !line.test(each));
  if (broken !== undefined) throw new SdpError(`Can't be written as a line of SDP: ${shown(broken)}`);
  return lines.map((each) => `${each}\r\n`).join('');
}

const connectionLine = ({ family, address }: SdpAddress) => `c=IN IP${family} ${address}`;

const attributeLine = ({ name, value }: SdpAttribute) => (value === undefined ? `a=${name}` : `a=${name}:${value}`);
