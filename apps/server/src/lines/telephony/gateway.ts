import type { EngineTx } from '../../foundation/database/database.ts';
import type { AgentEnd } from '../media/agent-end.ts';

/** How a call ended, in the contract's words. */
export const callOutcomes = [
  'answered',
  'voicemail',
  'busy',
  'no_answer',
  'declined',
  'invalid_number',
  'do_not_call',
  'trunk_error',
  'agent_error',
  'cancelled',
  'unknown',
] as const;
export type CallOutcome = (typeof callOutcomes)[number];

/** Who ended a call: `service` is us (end call, cancel), `time_limit` its longest duration. */
export type EndedBy = 'caller' | 'callee' | 'agent' | 'service' | 'time_limit' | 'error';

/** A customer's SIP trunk, as the contract has it: its texts hold no control characters, its addresses no parameter but `transport`. */
export interface Trunk {
  /** UUID. */
  id: string;
  /** UUID. */
  workspaceId: string;
  /** Raised with each change: what an adapter keeps by the ID holds for one revision. */
  revision: number;
  /** A SIP URI without a user part, or a host, with or without a port. Its address is still to be judged at connect. */
  terminationUrl: string;
  transport: 'auto' | 'udp' | 'tcp' | 'tls';
  /** As `terminationUrl`. */
  outboundProxy?: string;
  username?: string;
  password?: string;
  /** The name in digest answers; `username` without it. */
  authUsername?: string;
  /** The user part of From; the number that calls without it. */
  fromUser?: string;
  fromDomain?: string;
  register: boolean;
  registerExpiresSeconds: number;
  /** Addresses and networks in CIDR form, from which calls may arrive. */
  ipAllowlist: readonly string[];
  /** Whether calls may arrive from anywhere else, from who knows the username and password. */
  inboundDigest: boolean;
  probe: 'options' | 'register' | 'none';
  /** Calls that may be up at once; the switchboard keeps it for calls that it places. */
  maxChannels?: number;
  /** The switchboard keeps it. */
  callsPerSecond: number;
  numberFormat: 'e164_plus' | 'e164' | 'national' | 'international_prefix';
  /** ISO 3166-1 alpha-2; there where `numberFormat` needs it. */
  country?: string;
  dialPrefix?: string;
  callerIdHeader: 'from' | 'pai' | 'ppi' | 'rpid';
  /** The best first. */
  codecs: readonly ('PCMU' | 'PCMA')[];
  mediaEncryption: 'none';
  /** Names begin with `X-`. */
  headers: Readonly<Record<string, string>>;
}

/** What a trunk said as it ended a call, or refused it. */
export interface SipAnswer {
  /** The final status of the INVITE. */
  sipStatus?: number;
  /** Its reason phrase, or the text of a Reason header (RFC 3326), which says more. */
  sipReason?: string;
  /** The cause of a Reason header with protocol Q.850. */
  q850Cause?: number;
}

/** What of the sound of a call was counted. */
export interface MediaReport {
  /** Such as `PCMU`. */
  codec?: string;
  /** RTP packets from the other side; 0 where none came. Absent where nobody counted. */
  packetsReceived?: number;
  packetsLost?: number;
}

/** What a test call saw on the wire, as far as it came. Addresses with their ports. */
export interface TestCallMedia {
  codec?: string;
  /** Where the call was sent by SIP. */
  trunkAddress?: string;
  /** Where the trunk was told to send sound. */
  localAddress?: string;
  /** Where the trunk told us to send sound. */
  remoteAddress?: string;
  heardFrom?: string;
  packetsSent?: number;
  packetsReceived?: number;
  packetsLost?: number;
  /** Of those that were sent, as the other side says. */
  packetsLostByPeer?: number;
}

/** How a voice agent is reached, as the contract's `AgentConnection` with its secrets. */
export interface AgentConnection {
  type: 'stream';
  /** `wss://`, or `ws://` to an address that the settings allow. */
  url: string;
  headers: Record<string, string>;
  /** Signs the connection; absent where a directory gives none. */
  secret?: string;
  connectAt: 'answered' | 'ringing';
  connectTimeoutSeconds: number;
  /** Whether a connection that drops in a call is made once more. */
  reconnect: boolean;
}

/** What an adapter can do, so that features ask for nothing that it lacks. */
export interface GatewayCapabilities {
  /** Numbers can be searched, bought and released. */
  numbers: boolean;
  /** Calls go out through the trunk of the request. */
  trunks: boolean;
  /** No real phone rings. */
  simulated: boolean;
}

/** One call to place. */
export interface CallRequest {
  /** Whose call it is, a UUID. */
  workspaceId: string;
  /** The call's identity: a UUID that we chose and committed before the provider hears of it. */
  roomId: string;
  /** Counts every dial of this contact, from 1. */
  attempt: number;
  /** Whose it is, where it is not one by itself. IDs are UUIDs. */
  owner?: { kind: 'contact' | 'run'; id: string; campaignId?: string };
  /** E.164. */
  to: string;
  /** E.164. */
  from: string;
  /** Absent for a test call: a sentence is said, and then what is heard. */
  agentId?: string;
  trunk?: Trunk;
  variables?: Record<string, unknown>;
  metadata?: Record<string, string>;
  /** Seconds of ringing after which the call ends as `no_answer`. */
  ringTimeoutSeconds: number;
  /** Seconds of talk after which the call is hung up. */
  maxCallSeconds: number;
  /** Whether it is to be recorded; an agent may want it too. */
  recording: boolean;
  /**
   * By which the callee was found not to be on the workspace's do-not-call list: it rises with what is added to that. Without it
   * that is asked again.
   */
  doNotCallRevision?: number;
  /** UUID of what its trace begins with; the room where it is absent. */
  trace?: string;
}

/**
 * - `accepted`: the provider has the call; events follow.
 * - `rejected`: it surely has not, and no event follows.
 * - `withheld`: it surely has not, and the call goes back to its owner at no cost: what was to be kept of it can't be.
 * - `unknown`: it may have it (a timeout, a reset, a 5xx). Only `lookup` may decide; never place it again before.
 */
export type PlaceResult =
  | { status: 'accepted' }
  | ({ status: 'rejected'; outcome: CallOutcome; detail: string } & SipAnswer)
  | { status: 'withheld'; detail: string }
  | { status: 'unknown'; detail: string };

/** What names a placed call to a provider. Some know it by the room, some only by the numbers and the time. */
export interface CallReference {
  /** A UUID. */
  workspaceId: string;
  roomId: string;
  /** A room that was given back before anything was sent is placed again under a higher one. */
  attempt: number;
  to: string;
  from: string;
  /** When `placeCall` was asked. */
  placedAt: Date;
}

/** When a call rang and was answered, as far as it came. */
export interface CallTimes {
  ringingAt?: Date;
  answeredAt?: Date;
}

/** `absent`: no such call was ever placed. `undetermined`: the provider can't be asked now; ask later. */
export type CallState =
  | ({ state: 'live'; phase: 'dialing' | 'ringing' | 'answered' } & CallTimes)
  | ({ state: 'ended'; outcome: CallOutcome; endedBy: EndedBy; endedAt: Date; agentEnd?: AgentEnd } & SipAnswer &
      MediaReport &
      CallTimes)
  | { state: 'absent' }
  | { state: 'undetermined'; detail: string };

/** One step of a call. `at` is when it happened at the provider. */
export type CallEvent =
  | { roomId: string; at: Date; type: 'ringing' | 'answered' }
  | ({ roomId: string; at: Date; type: 'ended'; outcome: CallOutcome; endedBy: EndedBy } & SipAnswer &
      MediaReport & {
        agentEnd?: AgentEnd;
        /** Of a test call, from the server that made it. */
        test?: TestCallMedia;
      });

/** Takes a set of events. They may come twice, late, out of order, or before `placeCall` has answered. */
export type CallEventListener = (events: CallEvent[]) => void;

/** A call that has arrived at one of our numbers and rings until it is answered or rejected. */
export interface InboundCall {
  /** The provider's own name of it. */
  providerCallId: string;
  /** The number that is called, E.164. */
  to: string;
  /** The caller, E.164; absent where withheld. */
  from?: string;
  at: Date;
}

/** Who takes an inbound call, and the room in which it goes on: its events bear that. */
export interface InboundAnswer {
  /** Whose number is called, a UUID. */
  workspaceId: string;
  /** A UUID that we chose and committed before. */
  roomId: string;
  agentId: string;
  variables?: Record<string, string>;
  /** Seconds of talk after which the call is hung up. */
  maxCallSeconds: number;
}

/** A number on offer, or one bought. */
export interface ProviderNumber {
  /** E.164. */
  phoneNumber: string;
  /** The provider's own name of a bought number, where it has one. */
  providerNumberId?: string;
  monthlyCost?: number;
  /** ISO 4217. */
  currency?: string;
}

export interface NumberSearch {
  /** ISO 3166-1 alpha-2. */
  country: string;
  areaCode?: string;
  /** Digits that the national number must contain. */
  contains?: string;
  /** The most numbers to answer with. */
  limit: number;
}

/** `temporary`: the provider failed or its answer was lost; after a purchase, look it up before buying again. */
export type NumberErrorReason = 'billing' | 'unavailable' | 'invalid' | 'temporary';

/** A number could not be searched, bought or released. `message` and `cause` are for the log, not for clients. */
export class NumberError extends Error {
  readonly reason: NumberErrorReason;

  constructor(reason: NumberErrorReason, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.reason = reason;
  }
}

/** What a trunk answered. Reachability and credentials are judged apart. */
export interface TrunkProbe {
  /** Calls can be tried: reachable, and the credentials not rejected. */
  valid: boolean;
  reachable: boolean;
  credentials: 'verified' | 'rejected' | 'unverified' | 'not_given';
  reason: 'ok' | 'simulated' | 'unreachable' | 'credentials_rejected' | 'tls_failure' | 'dns_failure';
  /** Milliseconds from request to answer. */
  rttMs?: number;
}

/** A telephony provider. Every adapter passes `test/lines/telephony/conformance.ts`. */
export interface TelephonyGateway {
  /** The provider's name in the contract: `simulator`, `sip`, `twilio`, `telnyx`. */
  readonly name: string;
  readonly capabilities: GatewayCapabilities;

  /** Numbers on offer, none that is taken. Throws `NumberError`. */
  searchNumbers(search: NumberSearch): Promise<ProviderNumber[]>;
  /** Buys a number. Asked twice with one key it buys once. Throws `NumberError`. */
  buyNumber(purchase: { phoneNumber: string; idempotencyKey: string }): Promise<ProviderNumber>;
  /** What was bought with a key, if anything: settles a purchase whose answer was lost. Throws `NumberError`. */
  lookupNumberPurchase(idempotencyKey: string): Promise<ProviderNumber | undefined>;
  /** Gives a number back; one that is not ours is given back already. Throws `NumberError`. */
  releaseNumber(number: ProviderNumber): Promise<void>;

  /** Asks a trunk whether it is there and takes the credentials. A fault of the trunk is an answer, no error. */
  probeTrunk(trunk: Trunk, signal: AbortSignal): Promise<TrunkProbe>;

  /** Places a call. Placing a room again never makes a second call. */
  placeCall(request: CallRequest): Promise<PlaceResult>;
  /** Cancels a ringing call or hangs up; an `ended` event by `service` follows. Throws if the provider can't be asked. */
  endCall(call: CallReference): Promise<'ending' | 'already_ended' | 'absent'>;
  /** The call as the provider sees it. One found live is followed: its later events come to this process too. */
  lookup(call: CallReference): Promise<CallState>;
  /** Keeps, in the transaction that moves them, that calls are held by this process under another server ID from now on. */
  moveCalls?(tx: EngineTx, roomIds: readonly string[], serverId: string): Promise<void>;
  /** Adds a listener; the answer removes it. */
  onEvents(listener: CallEventListener): () => void;

  /** Adds a listener for calls that arrive in this process; the answer removes it. */
  onInbound(listener: (call: InboundCall) => void): () => void;
  /** Puts an agent on an inbound call; events follow. Throws where that may not have come about: look the room up. */
  answerInbound(call: InboundCall, answer: InboundAnswer): Promise<void>;
  /**
   * Turns an inbound call away: `declined` for good, `no_room` since its agent has none, so that the caller's side may try
   * again, `unavailable` since this server can't take it, so that it goes to another. No event follows. One that is gone is
   * turned away already.
   */
  rejectInbound(call: InboundCall, why: 'declined' | 'no_room' | 'unavailable'): Promise<void>;

  /** Makes it ready to place calls. */
  start(): Promise<void>;
  /** Takes no new call, and resolves once those that are up are over, by themselves or by us. */
  drain?(): Promise<void>;
  /** No event and no timer after it; calls that are up stay up at the provider. Safe to call twice. */
  stop(): Promise<void>;
}
