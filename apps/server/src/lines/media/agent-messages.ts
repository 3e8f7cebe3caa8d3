/** The messages of the media-stream protocol (Twilio Media Streams), as text frames of JSON. */

import type { NewsOfAnswerer } from './answered/answered-voice.ts';
import { type AnsweredBy, answerers } from './answered/judge-answerer.ts';
import { areDigits } from './digits.ts';

/** What an agent says to us. */
export type AgentMessage =
  | { event: 'media'; audio: Buffer }
  | { event: 'mark'; name: string }
  | { event: 'clear' }
  | { event: 'dtmf'; digits: string }
  /** It has found out who answered. */
  | { event: 'answered_by'; answeredBy: AnsweredBy };

const MAX_MARK_NAME = 256;
/** What is longer is long by its sound, or means nothing. */
const MAX_WORDS = 16 * 1024;
const PAYLOAD = /"payload"\s*:\s*"/;

/** Reads a message; nothing where it is none that means anything here. Nothing is thrown. */
export function readAgentMessage(text: Buffer): AgentMessage | undefined {
  if (text.length > MAX_WORDS) return readLongSound(text);
  let message: unknown;
  try {
    message = JSON.parse(text.toString());
  } catch {
    return undefined;
  }
  const { event, media, mark, dtmf, trunkline } = objectOf(message);
  if (event === 'media') {
    const { payload } = objectOf(media);
    return typeof payload === 'string' ? { event, audio: Buffer.from(payload, 'base64') } : undefined;
  }
  if (event === 'mark') {
    const { name } = objectOf(mark);
    return typeof name === 'string' && name.length <= MAX_MARK_NAME ? { event, name } : undefined;
  }
  if (event === 'dtmf') {
    const { digits } = objectOf(dtmf);
    return typeof digits === 'string' && areDigits(digits) ? { event, digits } : undefined;
  }
  if (event === 'trunkline') return readOwn(objectOf(trunkline));
  return event === 'clear' ? { event } : undefined;
}

/** What the protocol of Twilio doesn't have. */
function readOwn({ event, answeredBy }: Record<string, unknown>): AgentMessage | undefined {
  const isKnown = answerers.includes(answeredBy as AnsweredBy);
  return event === 'answered_by' && isKnown ? { event, answeredBy: answeredBy as AnsweredBy } : undefined;
}

/** Sound is taken out before the rest is parsed: megabytes of anything else would hold up all calls of the thread. */
function readLongSound(text: Buffer): AgentMessage | undefined {
  const name = PAYLOAD.exec(text.toString('latin1', 0, MAX_WORDS));
  if (!name) return undefined;
  const from = name.index + name[0].length;
  const to = text.indexOf('"', from);
  if (to < 0 || text.length - (to - from) > MAX_WORDS) return undefined;
  const message = readAgentMessage(Buffer.concat([text.subarray(0, from), text.subarray(to)]));
  if (message?.event !== 'media' || message.audio.length > 0) return undefined;
  // Some JSON writers escape the slash, which base64 has.
  const payload = text.toString('latin1', from, to).replaceAll('\\/', '/');
  return { event: 'media', audio: Buffer.from(payload, 'base64') };
}

const objectOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

/** What came of something that an agent has asked for, or who answered. */
export type ToldOfAgent = { event: 'dtmf_sent' } | { event: 'dtmf_failed'; reason: string } | NewsOfAnswerer;

/** Who a stream is of. */
export interface StreamIds {
  accountSid: string;
  callSid: string;
  streamSid: string;
}

/** Whose sound it is: that of the person, or of who speaks to it. */
export type Track = 'inbound' | 'outbound';

/** What we say to an agent over one connection: numbered, and its sound with the time that has passed. */
export class StreamWriter {
  #ids: StreamIds;
  #messages = 0;
  #sent = { inbound: { chunks: 0, bytes: 0 }, outbound: { chunks: 0, bytes: 0 } };

  constructor(ids: StreamIds) {
    this.#ids = ids;
  }

  connected(): string {
    return JSON.stringify({ event: 'connected', protocol: 'Call', version: '1.0.0' });
  }

  start(customParameters: Record<string, string>, tracks: readonly Track[] = ['inbound']): string {
    const { accountSid, callSid, streamSid } = this.#ids;
    const mediaFormat = { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 };
    const start = { accountSid, streamSid, callSid, tracks, mediaFormat, customParameters };
    return this.#message('start', { start });
  }

  /** @param ulaw the timestamp counts its bytes: agents insist on a whole number of ms, as text */
  media(ulaw: Buffer, track: Track = 'inbound'): string {
    const sent = this.#sent[track];
    sent.chunks += 1;
    const timestamp = String(Math.floor(sent.bytes / 8));
    sent.bytes += ulaw.length;
    const payload = ulaw.toString('base64');
    return this.#message('media', { media: { track, chunk: String(sent.chunks), timestamp, payload } });
  }

  dtmf(digit: string): string {
    return this.#message('dtmf', { dtmf: { track: 'inbound_track', digit } });
  }

  mark(name: string): string {
    return this.#message('mark', { mark: { name } });
  }

  /** What the protocol of Twilio doesn't have. */
  trunkline(told: ToldOfAgent): string {
    return this.#message('trunkline', { trunkline: told });
  }

  stop(): string {
    const { accountSid, callSid } = this.#ids;
    return this.#message('stop', { stop: { accountSid, callSid } });
  }

  #message(event: string, body: Record<string, unknown>): string {
    this.#messages += 1;
    return JSON.stringify({ event, sequenceNumber: String(this.#messages), ...body, streamSid: this.#ids.streamSid });
  }
}
