import { Headers } from './headers.ts';
import { parseNameAddr } from './name-addr.ts';
import { reasonPhrase } from './status.ts';
import { SipSyntaxError, splitOutside } from './syntax.ts';
import { parseVia, type Via } from './via.ts';

/** A request (RFC 3261 section 7.1). */
export interface SipRequest {
  readonly kind: 'request';
  readonly method: string;
  uri: string;
  readonly headers: Headers;
  body: string;
  /** How many bytes came, of one that was received. */
  readonly bytes?: number;
}

/** A response (section 7.2). */
export interface SipResponse {
  readonly kind: 'response';
  readonly status: number;
  readonly phrase: string;
  readonly headers: Headers;
  body: string;
}

export type SipMessage = SipRequest | SipResponse;

/** A CSeq (section 20.16). */
export interface CSeq {
  number: number;
  method: string;
}

export const createRequest = (method: string, uri: string): SipRequest => ({
  kind: 'request',
  method,
  uri,
  headers: new Headers(),
  body: '',
});

/** A response with what it copies from its request (section 8.2.6.2). `toTag` is added where To has no tag yet. */
export function createResponse(
  request: SipRequest,
  status: number,
  toTag?: string,
  phrase = reasonPhrase(status),
): SipResponse {
  const headers = new Headers();
  for (const via of request.headers.all('via')) headers.add('via', via);
  headers.add('from', request.headers.get('from')!);
  const to = request.headers.get('to')!;
  headers.add('to', toTag !== undefined && status > 100 && tagOf(to) === undefined ? `${to};tag=${toTag}` : to);
  headers.add('call-id', callIdOf(request));
  headers.add('cseq', request.headers.get('cseq')!);
  return { kind: 'response', status, phrase, headers, body: '' };
}

export const callIdOf = (message: SipMessage): string => message.headers.get('call-id')!;

/** Where `Headers` remember what is read of a message. */
const places = { via: 0, cseq: 1, fromTag: 2, toTag: 3 } as const;

/** The topmost Via. */
export const topViaOf = (message: SipMessage): Readonly<Via> =>
  message.headers.read(places.via, 'via', (value) => parseVia(value!));

export const cseqOf = (message: SipMessage): Readonly<CSeq> => message.headers.read(places.cseq, 'cseq', parseCSeq);

function parseCSeq(value: string | undefined): CSeq {
  const parts = /^(\d{1,10})[ \t]+(\S+)$/.exec(value ?? '');
  // Section 8.1.1.5: less than 2**31.
  if (!parts || Number(parts[1]) >= 2 ** 31) throw new SipSyntaxError('This is no CSeq.');
  return { number: Number(parts[1]), method: parts[2]! };
}

/** The tag of a From or To value. */
export const tagOf = (value: string): string | undefined => parseNameAddr(value).parameters.get('tag') || undefined;

export const fromTagOf = (message: SipMessage): string | undefined =>
  message.headers.read(places.fromTag, 'from', (value) => tagOf(value!));
export const toTagOf = (message: SipMessage): string | undefined =>
  message.headers.read(places.toTag, 'to', (value) => tagOf(value!));

/** The URI of a header's first address, or undefined where there is none, or none that can be read. */
export function addressIn(message: SipMessage, name: string): string | undefined {
  const [value] = splitOutside(message.headers.get(name) ?? '', ',');
  if (value === undefined || value === '*') return undefined;
  try {
    return parseNameAddr(value).uri;
  } catch (error) {
    if (error instanceof SipSyntaxError) return undefined;
    throw error;
  }
}

/** Gives a message its body. */
export function setBody(message: SipMessage, contentType: string, body: string): void {
  message.headers.set('content-type', contentType);
  message.body = body;
}

/** The body where it is a session description (RFC 3261 section 7.4.1), else undefined. */
export function sdpOf(message: SipMessage): string | undefined {
  if (message.body === '') return undefined;
  const type = message.headers.get('content-type');
  return type === undefined || /^application\s*\/\s*sdp\b/i.test(type) ? message.body : undefined;
}
