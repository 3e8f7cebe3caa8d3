import type { EngineTx } from '../../foundation/database/database.ts';
import type { AgentEnd } from '../media/agent-end.ts';
import type { Answered } from '../media/answered/answered-voice.ts';
import type { DigitsSent } from '../media/digits.ts';
import type { CallOutcome, EndedBy, MediaReport, SipAnswer, TestCallMedia } from './call-outcome.ts';
import type { Trunk } from './trunk.ts';
import type { Voicemail } from './voicemail.ts';

/** One call to place. */
export interface CallRequest {
  /** Whose call it is, a UUID. */
  workspaceId: string;
  /** The call's identity: a UUID that we chose and committed before the provider hears of it. */
  roomId: string;
  /** Counts every dial of this contact, from 1. */
  attempt: number;
  /** Whose it is: what is kept of the call bears that. IDs are UUIDs. */
  owner: { kind: string; id: string; campaignId?: string };
  /** E.164. */
  to: string;
  /** E.164. */
  from: string;
  /** Who speaks on it, unless `voice` says what does. */
  agentId?: string;
  /** In the place of an agent: a sentence is said, and then what is heard. */
  voice?: 'test_sentence';
  /** In the place of an agent: the far side of that call, a UUID, which this process holds, once this one is answered. */
  handsOn?: string;
  trunk?: Trunk;
  variables?: Record<string, unknown>;
  metadata?: Record<string, string>;
  /** Seconds of ringing after which the call ends as `no_answer`. */
  ringTimeoutSeconds: number;
  /** Seconds of talk after which the call is hung up. */
  maxCallSeconds: number;
  /** Whether it is to be recorded; an agent may want it too. */
  recording: boolean;
  /** What is done if a machine answers; what its agent says without it. */
  voicemail?: Voicemail;
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
  /** Absent if the caller has withheld it. */
  from?: string;
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
  /** The callee was sent the first of what its agent said. */
  | { roomId: string; at: Date; type: 'agent_heard'; agentId: string }
  /** What is known of who answered has changed. */
  | { roomId: string; at: Date; type: 'answered_by'; answered: Answered }
  | ({ roomId: string; at: Date; type: 'ended'; outcome: CallOutcome; endedBy: EndedBy } & SipAnswer &
      MediaReport & {
        agentEnd?: AgentEnd;
        answered?: Answered;
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
  /** Whose number it is, a UUID, if where the call comes from tells. */
  workspaceId?: string;
  /** The caller, E.164; absent where withheld. */
  from?: string;
  /** What else the signalling says of it, for the agent. */
  said?: object;
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

/** Who listens to both sides of a call. */
export interface Listener {
  /** @param ulaw a piece of what one side says */
  sound(side: 'callee' | 'voice', ulaw: Uint8Array): void;
  /** There is nothing more to hear. */
  ended(): void;
}

/** What differs between carriers of calls, where a yes or no is all. */
export interface CallCapabilities {
  /** No real phone rings. */
  simulated: boolean;
}

/** What places calls and takes those that arrive. Every adapter passes `test/lines/telephony/call-conformance.ts`. */
export interface CallGateway {
  readonly capabilities: CallCapabilities;

  /** Places a call. Placing a room again never makes a second call. */
  placeCall(request: CallRequest): Promise<PlaceResult>;
  /** Cancels a ringing call or hangs up; an `ended` event by `service` follows. Throws if the provider can't be asked. */
  endCall(call: CallReference): Promise<'ending' | 'already_ended' | 'absent'>;
  /**
   * Sends digits in a call that this process holds, after those that were asked for before. Nothing is thrown.
   * @param digits those of a telephone, and between them `w` for a pause of half a second and `W` for one of a second
   */
  sendDigits(roomId: string, digits: string): Promise<DigitsSent>;
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

  /** Has somebody hear a call that this process holds. @returns what ends that; nothing if it holds none that is answered */
  listen?(roomId: string, listener: Listener): (() => void) | undefined;

  /** Makes it ready to place calls. */
  start(): Promise<void>;
  /** Takes no new call, and resolves once those that are up are over, by themselves or by us. */
  drain?(): Promise<void>;
  /** No event and no timer after it; calls that are up stay up at the provider. Safe to call twice. */
  stop(): Promise<void>;
}
