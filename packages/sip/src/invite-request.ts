import type { Rejected } from './call-end.ts';
import type { CallHandlers } from './call-handlers.ts';
import { addCapabilities, type Core, contactOf, startRequest } from './core.ts';
import type { Credentials } from './digest-client.ts';
import type { CallIdentifiers } from './identifiers.ts';
import { type SipRequest, setBody } from './message.ts';
import { parseNameAddr, writeNameAddr } from './name-addr.ts';
import { askInterval } from './session-interval.ts';
import { SipSyntaxError } from './syntax.ts';
import type { Flow, Target, TransportName } from './transport.ts';
import { parseUri, writeUri } from './uri.ts';
import { writeMessage } from './write-message.ts';

/** A call to place. */
export interface InviteOptions extends CallHandlers {
  /** The Request-URI, such as `sip:+14155550100@sip.example.com`. */
  to: string;
  /** The address of From, with a display name or without: `"Ada" <sip:+14155550199@example.com>`. */
  from: string;
  /** The address of To, where it isn't the Request-URI. */
  toHeader?: string;
  /** Overrides what the URI says; UDP where nothing does. */
  transport?: TransportName;
  /** A SIP URI: where to send the call instead of to its Request-URI, as the first Route. */
  outboundProxy?: string;
  /** Where to send the call, instead of asking the DNS. */
  targets?: readonly Target[];
  /**
   * Whether a refusal says that its target takes no calls now, so that the next one is asked (RFC 3263 section 4.3), unless
   * it has rung. By default a 503 does.
   */
  isOutOfService?(refused: Rejected): boolean;
  credentials?: Credentials;
  /** The offer. Without one the peer makes it, and `onOffer` answers. */
  sdp?: string;
  /** Further headers, by name. */
  headers?: readonly (readonly [name: string, value: string])[];
  /** The user part of our Contact; by default that of `from`. */
  contactUser?: string;
  /** Call-ID, From tag and branch, such as `deriveIdentifiers` makes them; random otherwise. */
  identifiers?: Partial<CallIdentifiers>;
  /** After so long without an answer the call is given up. Not at all by default. */
  ringTimeoutMs?: number;
  /** How long the session holds without a refresh (RFC 4028); 1,800 by default, 0 for ever. */
  sessionSeconds?: number;
  /** On whose behalf the DNS is asked, for the user agent's `turns`. */
  asker?: string;
}

const SESSION_SECONDS = 1800;
/** Section 18.1.1: what is longer may come in pieces, or not at all. */
const MAX_DATAGRAM_BYTES = 1300;

export const sessionSecondsOf = (options: { sessionSeconds?: number }): number =>
  options.sessionSeconds ?? SESSION_SECONDS;

/** What the user part of our Contact is. */
export function contactUserOf({ contactUser, from }: InviteOptions): string | undefined {
  return contactUser ?? parseUri(parseNameAddr(from).uri).user;
}

/** @throws SipSyntaxError naming what can't be written */
export function createInvite(
  core: Core,
  flow: Flow,
  options: InviteOptions,
  parts: CallIdentifiers & { cseq: number; minSeconds: number },
): SipRequest {
  const { from, toHeader, outboundProxy, sdp, headers = [] } = options;
  const to = parseUri(options.to);
  const caller = parseNameAddr(from);
  const { user } = parseUri(caller.uri);
  caller.parameters.set('tag', parts.fromTag);
  const request = startRequest(core, flow, {
    method: 'INVITE',
    uri: requestUri(to),
    from: writeNameAddr(caller),
    to:
      toHeader === undefined
        ? `<${requestUri({ ...to, parameters: new Map() })}>`
        : writeNameAddr(parseNameAddr(toHeader)),
    callId: parts.callId,
    cseq: parts.cseq,
    branch: parts.branch,
    routes: outboundProxy === undefined ? [] : [looseRoute(outboundProxy)],
  });
  request.headers.add('contact', contactOf(flow, options.contactUser ?? user, options.to));
  addCapabilities(request);
  const seconds = sessionSecondsOf(options);
  if (seconds > 0) askInterval(request, seconds, parts.minSeconds);
  for (const [name, value] of headers) {
    if (request.headers.has(name.toLowerCase())) throw new SipSyntaxError(`The header ${name} is ours to write.`);
    request.headers.add(name, value);
  }
  if (sdp !== undefined) setBody(request, 'application/sdp', sdp);
  return request;
}

/** A URI's headers are not for the wire (section 19.1.1). */
function requestUri(uri: ReturnType<typeof parseUri>): string {
  const { headers: _headers, ...rest } = uri;
  return writeUri(rest);
}

function looseRoute(proxy: string): string {
  const uri = parseUri(proxy);
  uri.parameters.set('lr', '');
  return `<${writeUri(uri)}>`;
}

/** Leaves `X-` headers out of a request that is too long for a datagram. @returns their names */
export function fitDatagram(request: SipRequest, flow: Flow): string[] {
  const names = request.headers.names.filter((name) => name.startsWith('x-'));
  const fits = () => Buffer.byteLength(writeMessage(request)) <= MAX_DATAGRAM_BYTES;
  if (names.length === 0 || flow.target.transport !== 'udp' || fits()) return [];
  for (const name of names) request.headers.delete(name);
  return [...new Set(names)];
}
