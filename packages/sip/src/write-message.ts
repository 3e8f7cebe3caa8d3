import type { SipMessage } from './message.ts';
import { isToken, refuseControls, SipSyntaxError } from './syntax.ts';

/**
 * A message as it goes over the wire. Its Content-Length is that of the body, whatever its headers say.
 *
 * @throws SipSyntaxError where the first line could not be read again; headers refuse control characters by themselves.
 */
export function writeMessage(message: SipMessage): string {
  const head = `${firstLine(message)}\r\n${message.headers.write()}`;
  return `${head}Content-Length: ${Buffer.byteLength(message.body)}\r\n\r\n${message.body}`;
}

/** The first line of a message (RFC 3261 sections 7.1 and 7.2). */
export function firstLine(message: SipMessage): string {
  if (message.kind === 'response') {
    refuseControls('The reason phrase', message.phrase);
    return `SIP/2.0 ${message.status} ${message.phrase}`;
  }
  if (!isToken(message.method)) throw new SipSyntaxError('The method is no token.');
  refuseControls('The Request-URI', message.uri);
  if (/[\s<>"]/.test(message.uri)) throw new SipSyntaxError('The Request-URI has a space or a bracket.');
  return `${message.method} ${message.uri} SIP/2.0`;
}
