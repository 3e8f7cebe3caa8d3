import { cachedResolver, type Turns } from './cached-resolver.ts';
import { type Clock, systemClock } from './clock.ts';
import type { Core } from './core.ts';
import { type Authentication, DigestServer } from './digest-server.ts';
import { type EndStoredOptions, endStored, type StoredEnd } from './end-stored.ts';
import { HeardPeers } from './heard-peers.ts';
import type { IncomingCall } from './incoming-call.ts';
import type { InviteOptions } from './invite-request.ts';
import { Keepalives } from './keepalive.ts';
import { locate } from './locate.ts';
import type { SipMessage, SipRequest } from './message.ts';
import { OutgoingCall } from './outgoing-call.ts';
import { type ProbeOptions, type ProbeReport, probe } from './probe.ts';
import { type Random, systemRandom } from './random.ts';
import { type Admission, RequestReceiver } from './receive-request.ts';
import { type RegisterOptions, Registration } from './registration.ts';
import { type Resolver, systemResolver } from './resolver.ts';
import type { StoredDialog } from './stored-dialog.ts';
import { SipSyntaxError } from './syntax.ts';
import { standardTimers, Timers, type TimerValues } from './timers.ts';
import { Transactions } from './transactions.ts';
import { type Flow, type Received, type Target, TransportError, type TransportName } from './transport.ts';
import { openTransports, type TransportOptions } from './transports.ts';
import { bareHost, parseUri, type SipUri } from './uri.ts';
import { createWire } from './wire.ts';

export interface UserAgentOptions extends TransportOptions {
  /** The value of User-Agent. */
  userAgent?: string;
  /** Takes the calls that come in. Without it they get 480. */
  onInvite?: (call: IncomingCall) => void;
  /** Judges who may ask for anything, by request and source. By default everybody may. */
  admit?: (request: SipRequest, source: Target) => Admission;
  /** Whom `admit` answers `challenge` must know a password. */
  authentication?: Authentication;
  /** Sees each message that is sent or received; `createLadder` makes one that keeps them, redacted. */
  onMessage?: (direction: 'sent' | 'received', message: SipMessage, flow: Flow) => void;
  /** Hears of exceptions that functions given to the user agent throw. By default they end the process, since nobody catches them. */
  onError?: (error: unknown) => void;
  /** Empty lines are sent so often while calls and registrations need a NAT open; 20 by default, 0 for none. */
  keepaliveSeconds?: number;
  /** How long incoming sessions hold without a refresh (RFC 4028); 1,800 by default, 0 for ever. */
  sessionSeconds?: number;
  /** How long an incoming call may stay unanswered; 180,000 by default. */
  ringTimeoutMs?: number;
  /** The user part of the Contact of incoming calls. */
  contactUser?: string;
  resolver?: Resolver;
  /** When each question to the DNS begins; at once by default. One that may not in 4 seconds is a failure, `dns`. */
  turns?: Turns;
  /**
   * Picks the targets that may be reached on somebody's behalf; by default all. If it leaves none, that is a failure, `not_granted`.
   * @param host of the URI of what begins; undefined within a dialog, whose peer names where it goes on
   */
  grant?: (asker: string, host: string | undefined, targets: Target[]) => Promise<Target[]>;
  clock?: Clock;
  random?: Random;
  /** T1, T2 and T4, where those of RFC 3261 don't fit. */
  timers?: Partial<TimerValues>;
}

export interface UserAgent {
  /** Of UDP and TCP. */
  readonly port: number;
  readonly tlsPort: number | undefined;
  /** Places a call. What can't be placed ends as `not_sent`; nothing is thrown. */
  invite(options: InviteOptions): OutgoingCall;
  /** Registers, and stays registered until `stop` (RFC 3261 section 10). */
  register(options: RegisterOptions): Registration;
  /** Finds out whether a trunk is there, and whether its credentials are right. */
  probe(options: ProbeOptions): Promise<ProbeReport>;
  /** Ends a call that another process has stored: by CANCEL, or by BYE. */
  endStored(stored: StoredDialog, options?: EndStoredOptions): Promise<StoredEnd>;
  /** Where a URI leads (RFC 3263), as far as `grant` lets it. Rejects with a `TransportError`. @param asker on whose behalf */
  locate(uri: string, transport?: TransportName, asker?: string): Promise<Target[]>;
  /** How much is held at the moment. */
  counts(): { calls: number; dialogs: number; transactions: number; timers: number };
  /**
   * Hangs up all calls, unregisters, and closes: no timer and no socket stays.
   *
   * @param graceMs how long peers may take to answer; 2,000 by default, 0 leaves without a word
   */
  stop(graceMs?: number): Promise<void>;
}

const GRACE_MS = 2000;
const SESSION_SECONDS = 1800;
const RING_MS = 180_000;

/** Starts a SIP user agent. Rejects where its ports can't be opened. */
export async function createUserAgent(options: UserAgentOptions = {}): Promise<UserAgent> {
  const { clock = systemClock, random = systemRandom, keepaliveSeconds = 20 } = options;
  const report = options.onError ?? throwLater;
  const timers = new Timers(clock);
  const values = { ...standardTimers, ...options.timers };
  const resolverOf = cachedResolver(options.resolver ?? systemResolver, clock, options.turns);
  const wire = createWire(options.onMessage);
  let receive = (_received: Received) => {};
  const transports = await openTransports(options, timers, (received) => receive(received));

  const context = {
    wire,
    timers,
    values,
    openBack: (request: SipRequest, flow: Flow) => transports.openBack(request, flow),
  };
  const transactions: Transactions = new Transactions(context, {
    onRequest: (transaction) => receiver.receive(transaction),
    onAck: (ack) => receiver.receiveAck(ack),
    onStray() {},
  });
  const judge = async (asker: string, host: string | undefined, targets: Target[]) => {
    if (!options.grant || asker === '') return targets;
    const granted = await options.grant(asker, host, targets);
    if (granted.length > 0) return granted;
    throw new TransportError('not_granted', `${host ?? targets[0]!.address} is not granted to the workspace.`);
  };
  const find = (uri: string | SipUri, transport: TransportName | undefined, asker: string) =>
    locate(uri, transport, resolverOf(asker), random);
  const core: Core = {
    userAgent: options.userAgent ?? 'trunkline',
    timers,
    values,
    random,
    transactions,
    wire,
    heard: new HeardPeers(),
    keepalives: new Keepalives(timers, keepaliveSeconds, (target) => transports.open(target)),
    dialogs: new Map(),
    running: new Set(),
    open: (target) => transports.open(target),
    locate: async (uri, transport, asker = '') => judge(asker, undefined, await find(uri, transport, asker)),
    locateGranted: async (uri, transport, asker = '') => judge(asker, hostOf(uri), await find(uri, transport, asker)),
    granted: async (uri, targets, asker = '') => judge(asker, hostOf(uri), [...targets]),
    report,
  };
  /** The same, whose names are all asked for on somebody's behalf. */
  const coreOf = (asker = ''): Core => ({
    ...core,
    locate: (uri, transport) => core.locate(uri, transport, asker),
    locateGranted: (uri, transport) => core.locateGranted(uri, transport, asker),
    granted: (uri, targets) => core.granted(uri, targets, asker),
  });
  const receiver = new RequestReceiver(core, {
    admit: options.admit ?? (() => 'accept'),
    digest: options.authentication && new DigestServer(options.authentication, random.bytes(32), clock),
    onInvite: options.onInvite,
    sessionSeconds: options.sessionSeconds ?? SESSION_SECONDS,
    ringTimeoutMs: options.ringTimeoutMs ?? RING_MS,
    contactUser: options.contactUser,
  });
  receive = (received) => {
    core.heard.note(received.flow.target);
    options.onMessage?.('received', received.message, received.flow);
    try {
      transactions.receive(received);
    } catch (error) {
      // What only now shows to be no SIP is dropped as well.
      if (!(error instanceof SipSyntaxError)) report(error);
    }
  };

  let isStopped = false;
  return {
    port: transports.port,
    tlsPort: transports.tlsPort,
    invite: (invite) => new OutgoingCall(coreOf(invite.asker), invite),
    register: (registration) => new Registration(coreOf(registration.asker), registration),
    probe: (what) => probe(coreOf(what.asker), what),
    endStored: (stored, how) => endStored(coreOf(how?.asker), stored, how),
    locate: core.locateGranted,
    counts: () => ({
      calls: core.running.size,
      dialogs: core.dialogs.size,
      transactions: transactions.count,
      timers: timers.count,
    }),
    async stop(graceMs = GRACE_MS) {
      if (isStopped) return;
      isStopped = true;
      if (graceMs > 0) await Promise.race([stopAll(core), timers.wait(graceMs)]);
      transactions.endAll();
      transports.close();
      timers.clearAll();
      core.dialogs.clear();
      core.running.clear();
    },
  };
}

const hostOf = (uri: string | SipUri) => bareHost((typeof uri === 'string' ? parseUri(uri) : uri).host);

const stopAll = (core: Core) => Promise.allSettled([...core.running].map((each) => each.stop()));

/** Not where it happened, which is in the middle of a message. */
function throwLater(error: unknown): void {
  queueMicrotask(() => {
    throw error;
  });
}
