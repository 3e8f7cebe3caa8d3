import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Addressing,
  createAddressing,
  createUserAgent,
  type IncomingCall,
  parseUri,
  type Target,
  type TlsOptions,
  type UserAgent,
  type UserAgentOptions,
} from '@trunkline/sip';
import type { Logger } from 'pino';
import type { Lease } from '../../../foundation/database/lease.ts';
import type { HostGuard } from '../../../foundation/outbound-http/url-fault.ts';
import type { Clock } from '../../../foundation/values/clock.ts';
import { newUuid } from '../../../foundation/values/ids.ts';
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
  PlaceResult,
} from '../call-gateway.ts';
import type { Trunk } from '../trunk.ts';
import type { TrunkProbe, TrunkProber } from '../trunk-prober.ts';
import { type CallMessages, callMessages } from './call-messages.ts';
import type { CallEnded, CallStore } from './call-store.ts';
import { type InboundDirectory, type InboundPeers, watchInboundPeers } from './inbound-peers.ts';
import { type PlaceParts, placeCall } from './place-call.ts';
import { probeTrunk } from './probe-trunk.ts';
import { type RegisteredTrunks, type Registrar, startRegistrar } from './registrar.ts';
import { type CallParts, type Recorder, SipCall } from './sip-call.ts';
import { endedState, storedState, timesOf } from './stored-state.ts';
import { agentFull, noRoom, takeCall } from './take-call.ts';
import { type TrunkAddress, trunkAddress } from './trunk-address.ts';

/** Where the server speaks SIP. */
export interface SipSettings {
  host: string;
  port: number;
  tls: TlsOptions;
  /** Of a NAT in front of the server. */
  publicAddress?: string;
  /** Networks whose peers reach the server without that NAT. */
  localNetworks: readonly string[];
  /** How long calls that are up may go on when the server stops. */
  drainSeconds: number;
}

/** How an agent takes calls, as far as the adapter needs to know it. */
export interface CallAgent {
  connection?: AgentConnection;
  maxCallSeconds?: number;
  recording?: boolean;
  knowledgeBaseIds?: string[];
}

export interface SipGatewayOptions {
  settings: SipSettings;
  lease: Pick<Lease, 'serverId' | 'leftMs'>;
  clock: Clock;
  log: Logger;
  /** The same on all servers; makes what names calls on the wire. */
  secret: string;
  media: Media;
  store: CallStore;
  recorder: Recorder;
  /** Judges where trunks may be. */
  trunkGuard: HostGuard;
  /** How names of trunks are looked up, each workspace in its share. */
  trunkNames: Pick<UserAgentOptions, 'resolver' | 'turns'>;
  resolveAgent: (agentId: string, workspaceId: string) => Promise<CallAgent | undefined>;
  /** What the agent of a call is told of it, beside its variables. */
  brief: (call: { workspaceId: string; roomId: string }) => Promise<object | undefined>;
  inbound: InboundDirectory;
  registered: RegisteredTrunks;
  /** For how long trunks are taken to register with. */
  leaseSeconds: number;
}

const NO_CONNECTION = 'The agent has no connection that a call could reach it by.';
/** How long a call that we hang up may take to be over, in milliseconds. */
const OVER_MS = 3000;
const PAUSE_MS = 50;
/** Of challenges to callers. It tells nobody whose server this is. */
const REALM = 'sip';
const REJECTIONS = { declined: [603] as typeof noRoom, no_room: agentFull, unavailable: noRoom };

/** Calls over SIP trunks, put through to agents without a media server in between. */
export const openSipGateway = async (options: SipGatewayOptions): Promise<CallGateway & TrunkProber> => {
  const { host, publicAddress, localNetworks } = options.settings;
  return new SipGateway(options, await createAddressing(host, publicAddress, localNetworks));
};

class SipGateway implements CallGateway, TrunkProber {
  readonly capabilities = { simulated: false };
  readonly #options: SipGatewayOptions;
  readonly #addressing: Addressing;
  readonly #calls = new Map<string, SipCall>();
  /** Ends that are being written. */
  readonly #over = new Map<string, CallEnded>();
  readonly #arriving = new Map<string, IncomingCall>();
  readonly #listeners = new Set<CallEventListener>();
  readonly #inboundListeners = new Set<(call: InboundCall) => void>();
  /** Addresses of trunks whose names the settings allow. */
  readonly #named = new Set<string>();
  #userAgent: UserAgent | undefined;
  #peers: InboundPeers | undefined;
  #registrar: Registrar | undefined;
  readonly #messages: CallMessages;
  readonly moveCalls: CallStore['move'];
  #isDraining = false;

  constructor(options: SipGatewayOptions, addressing: Addressing) {
    this.#options = options;
    this.#addressing = addressing;
    this.moveCalls = options.store.move;
    this.#messages = callMessages({
      keep: options.store.keepMessages,
      isPeer: (address) => this.#peers?.knows(address) === true,
      log: options.log,
    });
  }

  async start(): Promise<void> {
    const { settings, trunkGuard, trunkNames, inbound, registered, lease, leaseSeconds, log } = this.#options;
    const { host, port, tls, publicAddress, localNetworks } = settings;
    const userAgent = await createUserAgent({
      ...{ host, port, tls, localNetworks, ...trunkNames },
      ...(publicAddress !== undefined && { publicAddress }),
      mayConnect: (address) => this.#named.has(address) || trunkGuard.isOpenHost(address),
      admit: (request, source) => this.#peers?.admit(request, source) ?? 'ignore',
      authentication: {
        realm: REALM,
        passwordOf: async (...asked) => this.#peers?.passwordOf(...asked),
        allows: (...asked) => this.#peers?.allows(...asked) ?? false,
      },
      onInvite: (incoming) =>
        void this.#receive(incoming).catch((error) => {
          log.error({ err: error }, 'a call that arrived could not be taken');
          incoming.reject(500);
        }),
      onMessage: this.#messages.onMessage,
      onError: (error) => log.error({ err: error }, 'SIP signalling failed'),
    }).catch((cause: Error) => {
      throw new Error(`SIP can not be opened: see SIP_HOST, SIP_PORT and SIP_TLS_PORT (${cause.message}).`, { cause });
    });
    this.#userAgent = userAgent;
    const locate = (address: TrunkAddress) => this.#locate(address);
    this.#registrar = startRegistrar({
      ...{ trunks: registered, leaseSeconds, locate, log, serverId: lease.serverId },
      register: (options) => userAgent.register(options),
    });
    const registeredAt = this.#registrar.at;
    this.#peers = watchInboundPeers({ directory: inbound, locate, registeredAt, log });
  }

  async drain(): Promise<void> {
    this.#isDraining = true;
    // Another server takes the calls that arrive from now on.
    await this.#registrar?.close();
    await this.#allOver(this.#options.settings.drainSeconds * 1000);
    for (const call of this.#calls.values()) call.hangUp({ endedBy: 'service' });
    await this.#allOver(OVER_MS);
  }

  async stop(): Promise<void> {
    const userAgent = this.#userAgent;
    this.#userAgent = undefined;
    this.#listeners.clear();
    await this.#peers?.close();
    await this.#registrar?.close();
    await userAgent?.stop();
    await this.#allOver(OVER_MS);
    await this.#messages.flush();
    await this.#options.store.idle();
    await this.#options.media.stop();
  }

  /** Waits until no call is held, at most so long. */
  async #allOver(ms: number): Promise<void> {
    const until = performance.now() + ms;
    while (this.#calls.size > 0 && performance.now() < until) await sleep(PAUSE_MS);
  }

  onEvents(listener: CallEventListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  onInbound(listener: (call: InboundCall) => void): () => void {
    this.#inboundListeners.add(listener);
    return () => void this.#inboundListeners.delete(listener);
  }

  #emit(event: CallEvent): void {
    for (const listener of this.#listeners) listener([event]);
  }

  /** What a call works with from when it is placed or taken. */
  #parts(userAgent: UserAgent): CallParts & PlaceParts {
    const { clock, log, media, store, recorder, secret, lease } = this.#options;
    const serverId = lease.serverId();
    return {
      ...{ clock, log, media, store, recorder, secret, userAgent, serverId },
      isGivenUp: () => lease.leftMs() === 0 || lease.serverId() !== serverId,
      emit: (event) => this.#emit(event),
      onOver: (call, ended) => {
        this.#calls.delete(call.roomId);
        if (ended) this.#keepEnd(ended);
        if (ended && call.call) this.#messages.over(call.roomId, call.call.callId);
      },
      addressFor: (peer) => this.#addressing.hostFor(peer).replace(/^\[|\]$/g, ''),
      locate: (address) => this.#locate(address),
    };
  }

  async #locate({ host, uri, transport, outboundProxy, asker }: TrunkAddress): Promise<Target[]> {
    if (!this.#userAgent) return [];
    const targets = await this.#userAgent.locate(outboundProxy ?? uri, transport, asker);
    const asked = outboundProxy === undefined ? host : parseUri(outboundProxy).host;
    if (this.#options.trunkGuard.isAllowedHost(asked)) for (const { address } of targets) this.#named.add(address);
    return targets;
  }

  #keepEnd(ended: CallEnded): void {
    const { store, log } = this.#options;
    this.#over.set(ended.roomId, ended);
    void store
      .end(ended)
      .catch((error) => log.warn({ err: error, roomId: ended.roomId }, 'the end of a call could not be kept'))
      .finally(() => this.#over.delete(ended.roomId));
  }

  async placeCall(request: CallRequest): Promise<PlaceResult> {
    const { trunk, roomId, workspaceId } = request;
    const userAgent = this.#userAgent;
    const refuse = (outcome: 'trunk_error' | 'agent_error', detail: string): PlaceResult => ({
      ...{ status: 'rejected', outcome, detail },
    });
    if (!userAgent || this.#isDraining) return refuse('trunk_error', 'The server is stopping.');
    if (!trunk) return refuse('trunk_error', 'The number has no SIP trunk.');
    const { agentId } = request;
    const { agent, told } = await this.#agentOf(agentId, { workspaceId, roomId });
    if (agentId !== undefined && !agent?.connection) return refuse('agent_error', NO_CONNECTION);
    if (this.#calls.has(roomId)) return { status: 'accepted' };
    const parts = this.#parts(userAgent);
    const call = new SipCall(parts, {
      ...{ roomId, workspaceId, agent: agent?.connection, told, variables: request.variables, far: 'callee' },
      maxCallSeconds: Math.min(request.maxCallSeconds, agent?.maxCallSeconds ?? request.maxCallSeconds),
      ...{ recording: request.recording || agent?.recording === true, trace: request.trace },
      numbers: { from: request.from, to: request.to },
    });
    this.#calls.set(roomId, call);
    return placeCall(parts, call, { ...request, trunk });
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

  async #receive(incoming: IncomingCall): Promise<void> {
    const { request, source, username } = incoming;
    if (this.#isDraining || this.#inboundListeners.size === 0) return incoming.reject(...noRoom);
    const read = await this.#peers!.read(request, source, username);
    if (!read) {
      const { log } = this.#options;
      log.warn({ uri: request.uri, source: source.address }, 'a call to no number of its trunk is refused');
      return incoming.reject(404);
    }
    const providerCallId = newUuid();
    this.#arriving.set(providerCallId, incoming);
    void incoming.ended.then(() => this.#arriving.delete(providerCallId));
    incoming.ring();
    const call = { providerCallId, ...read, at: this.#options.clock.now() };
    for (const listener of this.#inboundListeners) listener(call);
  }

  async answerInbound({ providerCallId, from, to }: InboundCall, answer: InboundAnswer): Promise<void> {
    const incoming = this.#arriving.get(providerCallId);
    const { roomId, workspaceId } = answer;
    const { clock, log } = this.#options;
    const ended = (outcome: 'cancelled' | 'agent_error', endedBy: 'caller' | 'error') =>
      this.#emit({ roomId, at: clock.now(), type: 'ended', outcome, endedBy });
    if (!incoming || !this.#userAgent) return ended('cancelled', 'caller');
    const { agent, told } = await this.#agentOf(answer.agentId, answer).catch((error) => {
      log.warn({ err: error, roomId }, 'the agent of a call could not be looked up');
      return { agent: undefined, told: undefined };
    });
    if (!agent?.connection) {
      log.warn({ roomId, agentId: answer.agentId }, NO_CONNECTION);
      incoming.reject(480);
      return ended('agent_error', 'error');
    }
    const parts = this.#parts(this.#userAgent);
    const call = new SipCall(parts, {
      ...{ roomId, workspaceId, agent: agent.connection, told, variables: answer.variables, far: 'caller' },
      maxCallSeconds: Math.min(answer.maxCallSeconds, agent.maxCallSeconds ?? answer.maxCallSeconds),
      recording: agent.recording === true,
      numbers: { from, to },
    });
    // The caller hears it ring since it has arrived.
    call.times.ringingAt = clock.now();
    this.#calls.set(roomId, call);
    try {
      await takeCall(parts, call, incoming);
    } catch (error) {
      incoming.reject(500);
      throw error;
    }
  }

  async rejectInbound({ providerCallId }: InboundCall, why: keyof typeof REJECTIONS): Promise<void> {
    this.#arriving.get(providerCallId)?.reject(...REJECTIONS[why]);
  }

  async endCall(reference: CallReference): Promise<'ending' | 'already_ended' | 'absent'> {
    const { roomId } = reference;
    const call = this.#calls.get(roomId);
    if (call) return call.hangUp({ endedBy: 'service' }) ? 'ending' : 'already_ended';
    const stored = this.#over.has(roomId) ? undefined : await this.#options.store.find(roomId);
    if (this.#over.has(roomId) || stored?.ended) return 'already_ended';
    // The server that holds it looks for what is to be hung up.
    if (stored?.isOwned && stored.serverId !== this.#options.lease.serverId() && !stored.isRefused) return 'ending';
    const state = await this.#storedState(reference);
    if (state.state === 'absent') return 'absent';
    if (state.state !== 'ended') throw new Error(state.state === 'undetermined' ? state.detail : 'The call is up.');
    const { state: _state, endedAt: at, ringingAt: _ringing, answeredAt: _answered, ...end } = state;
    this.#emit({ roomId, at, type: 'ended', ...end });
    return 'ending';
  }

  async lookup(reference: CallReference): Promise<CallState> {
    const call = this.#calls.get(reference.roomId);
    return call ? { state: 'live', phase: call.phase, ...timesOf(call.times) } : this.#storedState(reference);
  }

  /** A call that this process doesn't hold. */
  async #storedState(reference: CallReference): Promise<CallState> {
    const just = this.#over.get(reference.roomId);
    if (just) return endedState(just, {});
    return storedState({ ...this.#options, userAgent: this.#userAgent }, reference);
  }

  async probeTrunk(trunk: Trunk): Promise<TrunkProbe> {
    if (this.#userAgent) {
      // An address that the settings allow by its name is known once the name was asked for.
      await this.#locate(trunkAddress(trunk)).catch(() => {});
      return probeTrunk(this.#userAgent, trunk);
    }
    return { valid: false, reachable: false, credentials: 'unverified', reason: 'unreachable' };
  }
}
