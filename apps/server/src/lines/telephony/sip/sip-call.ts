import { isIPv6 } from 'node:net';
import { MediaFault, type MediaStats } from '@trunkline/media';
import { type Call, type CallEnd, type CallHandlers, type Info, SdpSession, type Target } from '@trunkline/sip';
import type { Logger } from 'pino';
import { callSpanId, partOf, tracer } from '../../../foundation/observe/tracing.ts';
import type { Clock } from '../../../foundation/values/clock.ts';
import { toId } from '../../../foundation/values/ids.ts';
import type { CallMedia, CallMediaEvent, Media } from '../../media/media.ts';
import { testCallSound } from '../../media/test-sound.ts';
import type { AgentConnection } from '../agent-connection.ts';
import type { CallEvent, CallTimes } from '../call-gateway.ts';
import type { MediaReport, TestCallMedia } from '../call-outcome.ts';
import type { CallEnded, CallStore } from './call-store.ts';
import { meaningOfEnd, type OwnEnd } from './end-of-call.ts';

/** Where recordings are written. */
export interface Recorder {
  pathOf(call: { workspaceId: string; roomId: string }): string;
  finish(call: { workspaceId: string; roomId: string }, as: 'whole' | 'failed'): Promise<void>;
}

/** What all calls of a process share. */
export interface CallParts {
  clock: Clock;
  log: Logger;
  media: Media;
  store: CallStore;
  recorder: Recorder;
  emit: (event: CallEvent) => void;
  /** The call is over. @param ended what was told; nothing of one that came to nothing */
  onOver: (call: SipCall, ended?: CallEnded) => void;
}

/** What a call is held with. */
export interface CallTerms {
  roomId: string;
  workspaceId: string;
  /** Absent for a test call, which says a sentence and echoes. */
  agent: AgentConnection | undefined;
  variables: Record<string, unknown> | undefined;
  /** What the agent is told of the call beside them. */
  told: object | undefined;
  maxCallSeconds: number;
  recording: boolean;
  /** UUID of what its trace begins with; the room where it is absent. */
  trace?: string | undefined;
  far: 'callee' | 'caller';
  /** E.164; the caller's is absent where it is withheld. */
  numbers: { from: string | undefined; to: string };
}

/** Without one packet for so long an answered call is over, in milliseconds. */
const SILENCE_MS = 30_000;

/** One call: signalling on one side, the agent on the other, and their sound between them. */
export class SipCall {
  readonly terms: CallTerms;
  readonly times: CallTimes = {};
  /** Set by whoever places or takes the call. */
  call: Call | undefined;
  session: SdpSession | undefined;
  /** Addresses that media may be sent to although they are private: the trunk's, judged already. */
  trusted: string[] = [];
  /** Where its INVITE went. */
  sentTo: Target | undefined;
  #address = '';
  readonly #parts: CallParts;
  #media: CallMedia | undefined;
  #agent: Promise<boolean> | undefined;
  #own: OwnEnd | undefined;
  #limit: NodeJS.Timeout | undefined;
  #isOver = false;
  #report: MediaReport | undefined;

  constructor(parts: CallParts, terms: CallTerms) {
    this.#parts = parts;
    this.terms = terms;
  }

  get roomId(): string {
    return this.terms.roomId;
  }

  /** Whether somebody has asked for its end, or it is over. */
  get isEnding(): boolean {
    return this.#own !== undefined || this.#isOver;
  }

  get phase(): 'dialing' | 'ringing' | 'answered' {
    if (this.times.answeredAt) return 'answered';
    return this.times.ringingAt ? 'ringing' : 'dialing';
  }

  /**
   * Opens the sockets of the call's sound.
   * @param address ours, as the peer sees it
   * @throws NoMediaRoomError, MediaFault
   */
  async openMedia(address: string, codecs: readonly ('PCMU' | 'PCMA')[]): Promise<SdpSession> {
    const media = await this.#parts.media.openCall({
      owner: this.terms.workspaceId,
      silenceMs: SILENCE_MS,
      onEvent: (event) => this.#hear(event),
    });
    if (this.#isOver) {
      await media.close().catch(() => {});
      throw new MediaFault('The call has ended.', undefined);
    }
    this.#media = media;
    this.#address = address;
    this.session = new SdpSession({ address, port: media.rtpPort, codecs });
    return this.session;
  }

  /** Frees the sockets of a call that came to nothing, and tells nobody. */
  async discard(): Promise<void> {
    this.#isOver = true;
    clearTimeout(this.#limit);
    await this.#media?.close().catch(() => {});
    this.#parts.onOver(this);
  }

  /** It rings. */
  rings(): void {
    if (this.times.ringingAt || this.times.answeredAt) return;
    this.times.ringingAt = this.#parts.clock.now();
    this.#parts.emit({ roomId: this.roomId, at: this.times.ringingAt, type: 'ringing' });
    this.#note();
    if (this.terms.agent?.connectAt === 'ringing') void this.connectAgent();
  }

  /**
   * Takes the other side's answer to our offer, early or final.
   * @returns whether it can be taken
   */
  async takeAnswer(sdp: string): Promise<boolean> {
    const read = this.session!.readAnswer(sdp);
    if (read.refused) {
      this.#parts.log.warn({ roomId: this.roomId, reason: read.refused.text }, 'an answer can not be taken');
      return false;
    }
    return this.#setStream();
  }

  async #setStream(): Promise<boolean> {
    const { audio } = this.session!;
    try {
      await this.#media!.setStream(audio!, this.trusted);
      return true;
    } catch (error) {
      this.#parts.log.warn({ err: error, roomId: this.roomId }, 'sound can not be sent');
      return false;
    }
  }

  /** The other side has answered, or we have. */
  noteAnswered(): void {
    if (this.times.answeredAt || this.#isOver) return;
    this.times.answeredAt = this.#parts.clock.now();
    this.#parts.emit({ roomId: this.roomId, at: this.times.answeredAt, type: 'answered' });
    this.#note();
  }

  /** Sound begins, and the clock of the longest talk. */
  async talk(): Promise<void> {
    if (this.#isOver) return;
    const { log, recorder } = this.#parts;
    this.#limit = setTimeout(() => this.hangUp({ endedBy: 'time_limit' }), this.terms.maxCallSeconds * 1000);
    try {
      await this.#media!.answer(this.terms.recording ? recorder.pathOf(this.terms) : undefined);
    } catch (error) {
      log.warn({ err: error, roomId: this.roomId }, 'the sound of a call was lost');
      this.hangUp({ endedBy: 'error' });
      return;
    }
    if (!(await this.connectAgent())) this.hangUp({ endedBy: 'error', outcome: 'agent_error' });
  }

  /** @returns whether the agent is there; asked twice it is connected once */
  connectAgent(): Promise<boolean> {
    this.#agent ??= this.#connect();
    return this.#agent;
  }

  async #connect(): Promise<boolean> {
    const { agent, roomId } = this.terms;
    try {
      if (agent) return await this.#connectTo(agent);
      await this.#media!.speak('sound', { path: testCallSound });
      return true;
    } catch (error) {
      this.#parts.log.warn({ err: error, roomId }, 'an agent could not be connected');
      return false;
    }
  }

  async #connectTo(agent: AgentConnection): Promise<boolean> {
    const { workspaceId, roomId, numbers, variables = {}, told = {}, far } = this.terms;
    const { url, headers, secret, reconnect, connectTimeoutSeconds } = agent;
    const direction = far === 'callee' ? 'outbound' : 'inbound';
    const { from: caller, to } = numbers;
    // Under these names bridges of Twilio, and Pipecat's, look for them; a column of the contact is the user's own word.
    const said = { direction, to, to_number: to, ...(caller && { from: caller, from_number: caller }) };
    const from = tracer && Date.now();
    const connectTimeoutMs = connectTimeoutSeconds * 1000;
    const connection = {
      url,
      headers,
      secret,
      reconnect,
      connectTimeoutMs,
      accountSid: toId('ws', workspaceId),
      callSid: toId('room', roomId),
      customParameters: { ...said, ...texts(variables), trunkline: JSON.stringify(told) },
    };
    // A second connection may follow the first.
    const found = await this.#media!.speak('agent', connection, connectTimeoutMs);
    tracer?.record(
      partOf(this.terms.trace ?? roomId, {
        ...({ name: 'agent', kind: 'client', parent: callSpanId(roomId) } as const),
        ...{ from: from ?? Date.now(), to: Date.now(), attributes: {}, hasFailed: !found.connected },
      }),
    );
    if (!found.connected) this.#parts.log.warn({ roomId, reason: found.text }, 'an agent was not ready for its call');
    return found.connected;
  }

  /** Ends the call, whatever it is doing. @returns false where it was ending already */
  hangUp(own: OwnEnd): boolean {
    if (this.#isOver || this.#own) return false;
    this.#own = own;
    this.call
      ?.hangUp()
      .catch((error) => this.#parts.log.error({ err: error, roomId: this.roomId }, 'a call could not be hung up'));
    return true;
  }

  #hear(event: CallMediaEvent): void {
    const { log } = this.#parts;
    const { roomId } = this;
    const beforeAnswer: OwnEnd = { endedBy: 'error', ...(!this.times.answeredAt && { outcome: 'agent_error' }) };
    if (event.type === 'voice_ended') {
      const { reason } = event.end;
      if (reason === 'hung_up') return void this.hangUp({ endedBy: 'agent' });
      if (reason === 'silence') return void this.hangUp({ endedBy: 'service' });
      log.warn({ roomId, ...event.end }, 'the agent of a call was lost');
      this.hangUp(beforeAnswer);
    } else if (event.type === 'no_media' || event.type === 'media_lost') {
      log.warn({ roomId, event: event.type }, 'a call without sound is ended');
      this.hangUp(beforeAnswer);
    }
  }

  /** What signalling tells, but for the answer and the end. */
  handlers(): Pick<CallHandlers, 'onOffer' | 'onAnswerUnsent' | 'onAnswer' | 'onInfo'> {
    return {
      onOffer: async (offer) => {
        const session = this.session!;
        if (offer === undefined) return session.offer();
        const answered = session.answer(offer);
        if (answered.refused) {
          this.#parts.log.info({ roomId: this.roomId, reason: answered.refused.text }, 'an offer was refused');
          return undefined;
        }
        if (await this.#setStream()) return answered.answer;
        session.withdraw();
        return undefined;
      },
      onAnswerUnsent: () => {
        this.session!.withdraw();
        if (this.session!.audio) void this.#setStream();
      },
      onAnswer: (sdp) => void this.takeAnswer(sdp),
      onInfo: (info) => {
        const digit = digitOf(info);
        if (digit !== undefined) void this.#media?.digit(digit).catch(() => {});
      },
    };
  }

  /** Signalling has ended: the sound is ended too, and the end told once all is known. */
  async over(end: CallEnd): Promise<void> {
    if (this.#isOver) return;
    const { clock, emit, onOver } = this.#parts;
    this.#isOver = true;
    clearTimeout(this.#limit);
    const at = clock.now();
    const stats = await this.#closeMedia();
    const meaning = meaningOfEnd(end, this.#own, this.terms.far);
    const test = this.terms.agent ? {} : { test: this.#seen(stats) };
    const ended = { roomId: this.roomId, at, type: 'ended' as const, ...meaning, ...this.#report, ...test };
    onOver(this, ended);
    emit(ended);
  }

  /** What a test call tells of its way. */
  #seen(stats: MediaStats | undefined): TestCallMedia {
    const remote = this.session?.audio?.remote;
    const { codec, remoteAddress: heardFrom, packetsLostByPeer } = stats ?? {};
    return {
      ...(this.sentTo && { trunkAddress: atPort(this.sentTo.address, this.sentTo.port) }),
      ...(this.#media && { localAddress: atPort(this.#address, this.#media.rtpPort) }),
      ...(remote && { remoteAddress: atPort(remote.address, remote.port) }),
      ...(codec && { codec }),
      ...(heardFrom !== undefined && { heardFrom: bracketed(heardFrom) }),
      ...(packetsLostByPeer !== undefined && { packetsLostByPeer }),
      ...(stats && {
        packetsSent: stats.packetsSent,
        packetsReceived: stats.packetsReceived,
        packetsLost: stats.packetsLost,
      }),
    };
  }

  async #closeMedia(): Promise<MediaStats | undefined> {
    const { log, recorder } = this.#parts;
    let stats: MediaStats | undefined;
    try {
      stats = await this.#media?.close();
    } catch (error) {
      log.debug({ err: error, roomId: this.roomId }, 'the sound of a call was gone before its end');
    }
    if (stats && this.times.answeredAt) {
      const { codec, packetsReceived, packetsLost } = stats;
      this.#report = { ...(codec && { codec }), packetsReceived, packetsLost };
    }
    // What a thread that died has left is taken up by itself, once nobody writes to it any more.
    if (!this.terms.recording || !this.times.answeredAt || !stats) return stats;
    const failed = stats.recording?.failure !== undefined;
    await recorder
      .finish(this.terms, failed ? 'failed' : 'whole')
      .catch((error) => log.warn({ err: error, roomId: this.roomId }, 'a recording could not be handed on'));
    return stats;
  }

  /** Keeps how far the call is; what the peer's answer changed in it is kept too. */
  #note(): void {
    void this.#parts.store
      .note({ roomId: this.roomId, ...this.times })
      .catch((error) => this.#parts.log.warn({ err: error, roomId: this.roomId }, 'a call could not be kept'));
  }
}

/** `Signal=5` of application/dtmf-relay, or the digit alone of application/dtmf. */
function digitOf({ contentType, body }: Info): string | undefined {
  if (/^application\/dtmf-relay/i.test(contentType)) return /^\s*signal\s*=\s*([0-9A-D*#])\s*$/im.exec(body)?.[1];
  return /^application\/dtmf\b/i.test(contentType) ? /^\s*([0-9A-D*#])\s*$/i.exec(body)?.[1] : undefined;
}

/** An address and port as media has them: IPv6 bare, and IPv4 as a socket of both families says it. */
function bracketed(heardFrom: string): string {
  const colon = heardFrom.lastIndexOf(':');
  const address = heardFrom.slice(0, colon).replace(/^::ffff:(?=[0-9.]+$)/i, '');
  return atPort(address, Number(heardFrom.slice(colon + 1)));
}

const atPort = (address: string, port: number): string => `${isIPv6(address) ? `[${address}]` : address}:${port}`;

const texts = (values: Record<string, unknown>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
  );
