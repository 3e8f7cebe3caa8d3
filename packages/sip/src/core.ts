import type { HeardPeers } from './heard-peers.ts';
import type { Keepalives } from './keepalive.ts';
import { createRequest, type SipRequest, type SipResponse } from './message.ts';
import { type Random, randomToken } from './random.ts';
import type { Timers, TimerValues } from './timers.ts';
import type { ServerTransaction } from './transaction.ts';
import type { Transactions } from './transactions.ts';
import type { Flow, Target, TransportName } from './transport.ts';
import type { SipUri } from './uri.ts';
import { MAGIC_COOKIE } from './via.ts';
import type { Wire } from './wire.ts';

/** Who takes the requests within one dialog. */
export interface DialogUser {
  receive(transaction: ServerTransaction): void;
  receiveAck(ack: SipRequest): void;
}

/** What calls, registrations and probes of one user agent share. */
export interface Core {
  /** The value of User-Agent and Server. */
  userAgent: string;
  timers: Timers;
  values: TimerValues;
  random: Random;
  transactions: Transactions;
  wire: Wire;
  keepalives: Keepalives;
  heard: HeardPeers;
  /** By Call-ID, our tag, their tag. */
  dialogs: Map<string, DialogUser>;
  /** Calls and registrations to be ended with the user agent. */
  running: Set<Running>;
  open(target: Target): Promise<Flow>;
  /** Where a dialog goes on, but for targets that are another's. @param asker on whose behalf the DNS is asked; by default that of whom this core was made for */
  locate(uri: string | SipUri, transport?: TransportName, asker?: string): Promise<Target[]>;
  /** The same for what begins there: only targets that may be reached on that behalf. Rejects with `not_granted` if there is none. */
  locateGranted(uri: string | SipUri, transport?: TransportName, asker?: string): Promise<Target[]>;
  /** Those of some targets of a URI that may be reached on that behalf. Rejects with `not_granted` if there is none. */
  granted(uri: string | SipUri, targets: readonly Target[], asker?: string): Promise<readonly Target[]>;
  /** Hears of an exception that a user's function threw. */
  report(error: unknown): void;
}

/** What ends with its user agent. */
export interface Running {
  stop(): Promise<unknown>;
}

export const dialogKey = (callId: string, localTag: string, remoteTag: string): string =>
  `${callId}|${localTag}|${remoteTag}`;

/** What we take within dialogs, and outside of them (RFC 3261 section 20.5). */
export const ALLOW = 'INVITE, ACK, CANCEL, BYE, OPTIONS, UPDATE, INFO, PRACK';
export const SUPPORTED = '100rel, timer';
export const supportedOptions: ReadonlySet<string> = new Set(['100rel', 'timer']);

/** Methods that there are and that we don't take: 405. All others get 501 (sections 8.2.1 and 21.5.2). */
export const otherMethods: ReadonlySet<string> = new Set([
  'REGISTER',
  'SUBSCRIBE',
  'NOTIFY',
  'PUBLISH',
  'MESSAGE',
  'REFER',
]);

/** A branch that nobody has used (section 8.1.1.7). */
export const newBranch = (core: Core): string => MAGIC_COOKIE + randomToken(core.random);

/** A Via for a request over a flow, which asks to be answered where it came from (RFC 3581). */
export const viaOf = ({ target, local }: Flow, branch: string): string =>
  `SIP/2.0/${target.transport.toUpperCase()} ${local.host}:${local.port};branch=${branch};rport`;

/** The Contact that leads a peer back to us; secure where the request is (section 8.1.1.8). */
export function contactOf({ target, local }: Flow, user: string | undefined, requestUri: string): string {
  const scheme = /^sips:/i.test(requestUri) ? 'sips' : 'sip';
  const transport = target.transport === 'udp' ? '' : `;transport=${scheme === 'sips' ? 'tcp' : target.transport}`;
  return `<${scheme}:${user === undefined ? '' : `${user}@`}${local.host}:${local.port}${transport}>`;
}

/** What a request outside of a dialog is made of (section 8.1.1). */
export interface RequestParts {
  method: string;
  uri: string;
  /** With its tag. */
  from: string;
  to: string;
  callId: string;
  cseq: number;
  branch: string;
  routes?: readonly string[];
}

export function startRequest(core: Core, flow: Flow, parts: RequestParts): SipRequest {
  const request = createRequest(parts.method, parts.uri);
  const { headers } = request;
  headers.add('via', viaOf(flow, parts.branch));
  for (const route of parts.routes ?? []) headers.add('route', route);
  headers.add('max-forwards', '70').add('from', parts.from).add('to', parts.to);
  headers.add('call-id', parts.callId).add('cseq', `${parts.cseq} ${parts.method}`);
  headers.add('user-agent', core.userAgent);
  return request;
}

/** Adds what answers to INVITE and OPTIONS tell of us. */
export function addCapabilities(message: SipRequest | SipResponse): void {
  message.headers.set('allow', ALLOW).set('supported', SUPPORTED).set('accept', 'application/sdp');
}
