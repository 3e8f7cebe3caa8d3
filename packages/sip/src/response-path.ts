import { type SipRequest, topViaOf } from './message.ts';
import { defaultPort, type Target } from './transport.ts';
import { parseVia, writeVia } from './via.ts';

/** Writes into a request's top Via where it came from, whatever it says itself (RFC 3261 section 18.2.1, RFC 3581 section 4). */
export function noteSource(request: SipRequest, source: Target): void {
  const via = parseVia(request.headers.get('via')!);
  via.parameters.set('received', source.address);
  if (via.parameters.has('rport')) via.parameters.set('rport', String(source.port));
  request.headers.replaceFirst('via', writeVia(via));
}

/**
 * Where a request is answered: always the address that it came from, so that nobody has us send to a third; over UDP
 * to the port that it names, unless it asks for the one that it came from (RFC 3261 section 18.2.2, RFC 3581).
 */
export function sourceTarget(request: SipRequest, source: Target): Target {
  const via = topViaOf(request);
  if (source.transport === 'udp' && via.parameters.has('rport')) return source;
  return { ...source, port: via.port ?? defaultPort(source.transport) };
}
