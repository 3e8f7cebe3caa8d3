import type { Lease } from '../../../foundation/database/lease.ts';
import type { Clock } from '../../../foundation/values/clock.ts';
import { every, type Repeating } from '../../../platform/jobs/every.ts';
import type { ServeAgents } from '../../conversation/agent-desk.ts';
import type { AgentWords } from '../../conversation/briefing.ts';
import { Conversation, type ConversationParts, type Recorder } from '../../conversation/conversation.ts';
import { meaningOfEnd } from '../../conversation/meaning-of-end.ts';
import { OtherParty } from '../../conversation/other-party.ts';
import { systemTimers } from '../../conversation/placement.ts';
import { testSentence } from '../../conversation/test-sentence.ts';
import { voiceOf } from '../../conversation/voice-of.ts';
import type { DigitsSent } from '../../media/digits.ts';
import type { Media } from '../../media/media.ts';
import type { AgentConnection } from '../agent-connection.ts';
import type {
  CallEvent,
  CallEventListener,
  CallGateway,
  CallReference,
  CallRequest,
  CallState,
  InboundAnswer,
  InboundCall,
  Listener,
  PlaceResult,
} from '../call-gateway.ts';
import type { Trunk } from '../trunk.ts';
import type { TrunkProbe, TrunkProber } from '../trunk-prober.ts';
import { askOfVoicemail, type Voicemail } from '../voicemail.ts';
import { ArrivingCalls } from './arriving-calls.ts';
import { type CallMessages, callMessages } from './call-messages.ts';
import type { CallStore } from './call-store.ts';
import { HeldCalls } from './held-calls.ts';
import { CalleeLeg, type LegParts } from './place-call.ts';
import { askTarget, probeTrunk } from './probe-trunk.ts';
import { openSignalling, type Signalling, type SignallingOptions } from './signalling.ts';
import { endedState, storedState, timesOf } from './stored-state.ts';
import { CallerLeg } from './take-call.ts';
import { trunkAddress } from './trunk-address.ts';
import { createTrunkTargets, type TrunkTargets } from './trunk-targets.ts';

/** How an agent takes calls, as far as the adapter needs to know it. */
export interface CallAgent {
  connection?: AgentConnection;
  maxCallSeconds?: number;
  recording?: boolean;
  voicemail?: Voicemail;
  knowledgeBaseIds?: string[];
}

export interface SipGatewayOptions extends Omit<SignallingOptions, 'serverId'> {
  lease: Pick<Lease, 'serverId' | 'leftMs'>;
  clock: Clock;
  /** The same on all servers; makes what names calls on the wire. */
  secret: string;
  media: Media;
  store: CallStore;
  recorder: Recorder;
  resolveAgent: (agentId: string, workspaceId: string) => Promise<CallAgent | undefined>;
  /** What the agent of a call is told of it, beside its variables. */
  brief: (call: { workspaceId: string; roomId: string }) => Promise<object | undefined>;
  words: AgentWords;
  /** Does what an agent asks for in its call. */
  serve: ServeAgents;
  /** Whether what callees say can be written down. */
  transcribes?: boolean;
}

/** How long a call that we hang up may take to be over, in milliseconds. */
const OVER_MS = 3000;

/** Calls over SIP trunks, put through to agents without a media server in between. */
export const openSipGateway = async (options: SipGatewayOptions): Promise<CallGateway & TrunkProber> => {
  const { lease } = options;
  return new SipGateway(options, await openSignalling({ ...options, serverId: () => lease.serverId() }));
};

class SipGateway implements CallGateway, TrunkProber {
  readonly capabilities = { simulated: false };
  readonly #options: SipGatewayOptions;
  readonly #signalling: Signalling;
  readonly #calls: HeldCalls;
  readonly #arriving: ArrivingCalls;
  readonly #messages: CallMessages;
  readonly #targets: TrunkTargets;
  #checks: Repeating | undefined;
  readonly #listeners = new Set<CallEventListener>();
  /** The legs that calls are handed on to, by the rooms of these. */
  readonly #legs = new Map<string, Conversation>();
  readonly moveCalls: CallStore['move'];
  #isDraining = false;

  constructor(options: SipGatewayOptions, signalling: Signalling) {
    const { store, log, clock } = options;
    this.#options = options;
    this.#signalling = signalling;
    this.#calls = new HeldCalls(log);
    this.#arriving = new ArrivingCalls(clock, log);
    this.#targets = createTrunkTargets(log);
    this.moveCalls = store.move;
    const isPeer = (address: string) => signalling.knows(address);
    this.#messages = callMessages({ keep: store.keepMessages, isPeer, log });
  }

  async start(): Promise<void> {
    const receive: Parameters<Signalling['start']>[0] = (incoming, lookups) =>
      this.#arriving.receive(incoming, lookups, this.#isDraining);
    await this.#signalling.start(receive, this.#messages.onMessage);
    const { settings, log } = this.#options;
    const check = () =>
      this.#targets.check((trunk, target) => askTarget(this.#signalling.agentOf(trunk.workspaceId)!, trunk, target));
    this.#checks = every(settings.optionsSeconds * 1000, check, { name: 'targets of trunks', log });
  }

  async drain(): Promise<void> {
    this.#isDraining = true;
    await this.#signalling.unregister();
    await this.#calls.allOver(this.#options.settings.drainSeconds * 1000);
    this.#calls.endAll();
    await this.#calls.allOver(OVER_MS);
  }

  async stop(): Promise<void> {
    this.#listeners.clear();
    await this.#checks?.close();
    await this.#signalling.stop();
    await this.#calls.allOver(OVER_MS);
    await this.#messages.flush();
    await this.#options.store.idle();
    await this.#options.media.stop();
  }

  onEvents(listener: CallEventListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  onInbound(listener: (call: InboundCall) => void): () => void {
    return this.#arriving.onInbound(listener);
  }

  #emit(event: CallEvent): void {
    for (const listener of this.#listeners) listener([event]);
  }

  #conversationParts(): ConversationParts {
    const { clock, log, media, recorder, serve } = this.#options;
    return {
      clock,
      log,
      media,
      recorder,
      serve,
      timers: systemTimers,
      emit: (event) => this.#emit(event),
      onOver: (conversation, ended) => {
        this.#calls.over(conversation, ended);
        // Nobody is left to be handed on to whom it rings.
        this.#legs.get(conversation.roomId)?.end();
        this.#legs.delete(conversation.terms.handsOn?.roomId ?? conversation.roomId);
      },
    };
  }

  /** @param userAgent the one that is there as the call is placed or taken */
  #legParts(userAgent: LegParts['userAgent']): LegParts {
    const { clock, log, store, secret, lease } = this.#options;
    const serverId = lease.serverId();
    return {
      clock,
      log,
      store,
      secret,
      userAgent,
      serverId,
      isGivenUp: () => lease.leftMs() === 0 || lease.serverId() !== serverId,
      addressFor: (peer) => this.#signalling.addressFor(peer),
      locate: (address) => this.#signalling.locate(address),
      targets: this.#targets,
      onEnd: (roomId, callId) => this.#messages.over(roomId, callId),
    };
  }

  async placeCall(request: CallRequest): Promise<PlaceResult> {
    const { trunk, roomId, workspaceId, agentId, from, to, trace, variables } = request;
    const userAgent = this.#signalling.agentOf(workspaceId);
    const refuse = (detail: string): PlaceResult => ({ status: 'rejected', outcome: 'trunk_error', detail });
    if (!userAgent || this.#isDraining) return refuse('The server is stopping.');
    if (!trunk) return refuse('The number has no SIP trunk.');
    const { agent, told } = await this.#agentOf(agentId, request);
    if (this.#calls.get(roomId)) return { status: 'accepted' };
    const first = request.handsOn === undefined ? undefined : this.#calls.get(request.handsOn);
    if (request.handsOn !== undefined && !first) return refuse('The call that was to be handed on has ended.');
    const { words } = this.#options;
    const call = { roomId, workspaceId, trace, variables, told, far: 'callee', numbers: { from, to } } as const;
    const terms = {
      roomId,
      workspaceId,
      handsOn: first,
      voice: first
        ? this.#otherParty(first, request)
        : request.voice === 'test_sentence'
          ? testSentence
          : agent &&
            voiceOf(agent.connection, {
              ...call,
              ...words,
              agentId: agentId!,
              answering: {
                ...askOfVoicemail(request.voicemail ?? agent.voicemail ?? { action: 'continue' }),
                // A speech model has words of its own.
                transcribes: this.#options.transcribes === true && agent.connection?.type !== 'realtime',
              },
            }),
      maxCallSeconds: Math.min(request.maxCallSeconds, agent?.maxCallSeconds ?? request.maxCallSeconds),
      recording: request.recording || agent?.recording === true,
    };
    const parts = this.#legParts(userAgent);
    const conversation = new Conversation(
      this.#conversationParts(),
      terms,
      (tell) => new CalleeLeg(parts, { ...request, trunk }, tell),
    );
    this.#calls.add(conversation);
    if (first) this.#legs.set(first.roomId, conversation);
    return conversation.begin();
  }

  #otherParty(first: Conversation, { workspaceId, owner }: CallRequest): OtherParty {
    const call = { workspaceId, roomId: first.roomId, agentId: first.terms.voice?.agentId ?? '' };
    const joined = () => this.#options.serve(call, { type: 'handed_on', transferId: owner.id });
    return new OtherParty(first, owner.id, joined);
  }

  /** The agent of a call, and what it is told of it. */
  async #agentOf(
    agentId: string | undefined,
    { workspaceId, roomId }: { workspaceId: string; roomId: string },
  ): Promise<{ agent?: CallAgent | undefined; told?: object | undefined }> {
    if (agentId === undefined) return {};
    const { resolveAgent, brief } = this.#options;
    const [agent, told] = await Promise.all([resolveAgent(agentId, workspaceId), brief({ workspaceId, roomId })]);
    return { agent, told: { ...told, ...(agent?.knowledgeBaseIds && { knowledgeBaseIds: agent.knowledgeBaseIds }) } };
  }

  async answerInbound(arrived: InboundCall, answer: InboundAnswer): Promise<void> {
    const { roomId, workspaceId, agentId, variables, maxCallSeconds } = answer;
    const { clock, log, words } = this.#options;
    const userAgent = this.#signalling.agentOf(workspaceId);
    const { agent, told } = await this.#agentOf(agentId, answer).catch((error) => {
      log.warn({ err: error, roomId }, 'the agent of a call could not be looked up');
      return { agent: undefined, told: undefined };
    });
    const ringing = this.#arriving.get(arrived);
    if (!ringing || !userAgent) {
      const gone = meaningOfEnd({ kind: 'cancelled', by: 'far' }, undefined, 'caller');
      return this.#emit({ roomId, at: clock.now(), type: 'ended', ...gone });
    }
    const numbers = { from: arrived.from, to: arrived.to };
    const all = { ...told, ...(arrived.said && { sip: arrived.said }) };
    const call = { roomId, workspaceId, agentId, variables, told: all, far: 'caller', numbers } as const;
    const terms = {
      roomId,
      workspaceId,
      voice: voiceOf(agent?.connection, { ...call, ...words }),
      maxCallSeconds: Math.min(maxCallSeconds, agent?.maxCallSeconds ?? maxCallSeconds),
      recording: agent?.recording === true,
    };
    const parts = this.#legParts(userAgent);
    const conversation = new Conversation(
      this.#conversationParts(),
      terms,
      (tell) => new CallerLeg(parts, call, ringing, tell),
    );
    this.#calls.add(conversation);
    await conversation.begin();
  }

  async rejectInbound(call: InboundCall, why: Parameters<ArrivingCalls['reject']>[1]): Promise<void> {
    this.#arriving.reject(call, why);
  }

  async endCall(reference: CallReference): Promise<'ending' | 'already_ended' | 'absent'> {
    const { roomId } = reference;
    const held = this.#calls.get(roomId);
    if (held) return held.end() ? 'ending' : 'already_ended';
    const stored = this.#calls.justEnded(roomId) ? undefined : await this.#options.store.find(roomId);
    if (this.#calls.justEnded(roomId) || stored?.ended) return 'already_ended';
    // The server that holds it looks for what is to be hung up.
    if (stored?.isOwned && stored.serverId !== this.#options.lease.serverId() && !stored.isRefused) return 'ending';
    const state = await this.#storedState(reference);
    if (state.state === 'absent') return 'absent';
    if (state.state !== 'ended') throw new Error(state.state === 'undetermined' ? state.detail : 'The call is up.');
    const { state: _state, endedAt: at, ringingAt: _ringing, answeredAt: _answered, ...end } = state;
    this.#emit({ roomId, at, type: 'ended', ...end });
    return 'ending';
  }

  async sendDigits(roomId: string, digits: string): Promise<DigitsSent> {
    return (await this.#calls.get(roomId)?.sendDigits(digits)) ?? { isSent: false, reason: 'call_ended' };
  }

  listen(roomId: string, listener: Listener): (() => void) | undefined {
    return this.#calls.get(roomId)?.listen(listener);
  }

  async lookup(reference: CallReference): Promise<CallState> {
    const held = this.#calls.get(reference.roomId);
    return held ? { state: 'live', phase: held.phase, ...timesOf(held.times) } : this.#storedState(reference);
  }

  /** A call that this process doesn't hold. */
  async #storedState(reference: CallReference): Promise<CallState> {
    const just = this.#calls.justEnded(reference.roomId);
    if (just) return endedState(just, {});
    return storedState({ ...this.#options, userAgent: this.#signalling.agentOf(reference.workspaceId) }, reference);
  }

  async probeTrunk(trunk: Trunk): Promise<TrunkProbe> {
    const userAgent = this.#signalling.agentOf(trunk.workspaceId);
    if (!userAgent) return { valid: false, reachable: false, credentials: 'unverified', reason: 'unreachable' };
    // An address that the settings allow by its name is known once the name was asked for.
    await this.#signalling.locate(trunkAddress(trunk)).catch(() => {});
    return probeTrunk(userAgent, trunk);
  }
}
