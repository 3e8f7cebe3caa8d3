import { Headers, headerName } from './headers.ts';
import { cseqOf, fromTagOf, type SipMessage, topViaOf, toTagOf } from './message.ts';
import { isToken, SipSyntaxError, splitOutside } from './syntax.ts';

/** No message is longer: that of a UDP datagram. In bytes. */
export const MAX_MESSAGE_BYTES = 65_535;
const MAX_HEADER_LINES = 200;
const MAX_LINE_LENGTH = 8192;

/** Lists of which each entry counts by itself. */
const lists = new Set(['via', 'route', 'record-route', 'contact']);
const once = ['from', 'to', 'call-id', 'cseq'] as const;

/** A tab may stand in a field, and both of these together between two. */
const CONTROL = /[^\P{Cc}\t\r\n]/u;
const HEAD_END = Buffer.from('\r\n\r\n');

/**
 * Reads one whole message (RFC 3261 sections 7 and 25): a datagram, or what framing has cut out of a stream. What it
 * returns has one From with a tag, To, Call-ID and CSeq, and a Via, and all of them can be read.
 *
 * @throws SipSyntaxError
 */
export function parseMessage(bytes: Buffer): SipMessage {
  if (bytes.length > MAX_MESSAGE_BYTES) throw new SipSyntaxError('The message is too long.');
  const end = bytes.indexOf(HEAD_END);
  if (end < 0) throw new SipSyntaxError('The headers have no end.');
  const lines = unfold(bytes.toString('utf8', 0, end));
  const headers = parseHeaders(lines);
  const body = parseBody(headers, bytes, end + HEAD_END.length);
  const message = startMessage(lines[0]!, headers, body, bytes.length);
  checkMandatory(message);
  return message;
}

/** The lines of the head, folded ones joined (section 7.3.1). */
function unfold(head: string): string[] {
  if (CONTROL.test(head)) throw new SipSyntaxError('A line has a control character.');
  const lines = (/\r\n[ \t]/.test(head) ? head.replace(/\r\n[ \t]+/g, ' ') : head).split('\r\n');
  if (lines.length > MAX_HEADER_LINES) throw new SipSyntaxError('The message has too many headers.');
  for (const line of lines) {
    if (line.length > MAX_LINE_LENGTH) throw new SipSyntaxError('A line is too long.');
    if (line.includes('\r') || line.includes('\n')) throw new SipSyntaxError('A line has a control character.');
  }
  return lines;
}

function parseHeaders(lines: string[]): Headers {
  const names: string[] = [];
  const values: string[] = [];
  for (let at = 1; at < lines.length; at += 1) {
    const line = lines[at]!;
    const colon = line.indexOf(':');
    const written = headerName(line.slice(0, Math.max(colon, 0)).trimEnd());
    if (written === undefined) throw new SipSyntaxError('A header has no name.');
    const rest = line.slice(colon + 1);
    const value = (rest.includes('\t') ? rest.replaceAll('\t', ' ') : rest).trim();
    const count = lists.has(written) ? values.push(...splitOutside(value, ',')) : values.push(value);
    while (names.length < count) names.push(written);
    if (names.length > MAX_HEADER_LINES) throw new SipSyntaxError('The message has too many headers.');
  }
  return new Headers(names, values);
}

/** Section 18.3: the body ends with Content-Length; without one it fills the datagram. */
function parseBody(headers: Headers, bytes: Buffer, start: number): string {
  const lengths = headers.all('content-length');
  const length = lengths[0];
  if (length === undefined) return bytes.toString('utf8', start);
  if (lengths.some((other) => other !== length) || !/^\d{1,9}$/.test(length))
    throw new SipSyntaxError('This is no Content-Length.');
  if (start + Number(length) > bytes.length) throw new SipSyntaxError('The body is shorter than its Content-Length.');
  return bytes.toString('utf8', start, start + Number(length));
}

function startMessage(line: string, headers: Headers, body: string, bytes: number): SipMessage {
  const response = /^SIP\/2\.0 ([1-6]\d\d)(?: (.*))?$/i.exec(line);
  if (response) return { kind: 'response', status: Number(response[1]), phrase: response[2] ?? '', headers, body };
  const request = /^(\S+) (\S+) SIP\/2\.0$/i.exec(line);
  if (!request || !isToken(request[1]!) || !/^[A-Za-z][A-Za-z0-9+.-]*:[^<>"]+$/.test(request[2]!))
    throw new SipSyntaxError('The first line is no SIP.');
  return { kind: 'request', method: request[1]!, uri: request[2]!, headers, body, bytes };
}

/** Section 8.1.1; what later code reads of every message. */
function checkMandatory(message: SipMessage): void {
  const { headers } = message;
  for (const name of once) if (headers.count(name) !== 1) throw new SipSyntaxError(`There is not one ${name}.`);
  if (!headers.has('via')) throw new SipSyntaxError('There is no Via.');
  if (!/^\S+$/.test(headers.get('call-id')!)) throw new SipSyntaxError('This is no Call-ID.');
  topViaOf(message);
  toTagOf(message);
  if (fromTagOf(message) === undefined) throw new SipSyntaxError('From has no tag.');
  const { method } = cseqOf(message);
  if (message.kind === 'request' && method !== message.method) throw new SipSyntaxError('CSeq names another method.');
}
