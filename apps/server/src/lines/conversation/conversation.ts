import type { Logger } from 'pino';
import type { Clock } from '../../foundation/values/clock.ts';
import type { Answered } from '../media/answered/answered-voice.ts';
import type { DigitsSent } from '../media/digits.ts';
import type { CallMediaStats, Media } from '../media/media.ts';
import type { CallEvent, CallTimes, Listener, PlaceResult } from '../telephony/call-gateway.ts';
import type { MediaReport } from '../telephony/call-outcome.ts';
import type { ServeAgents } from './agent-desk.ts';
import { agentEndOf, withAgent } from './agent-end-of.ts';
import type { AgentRequest } from './agent-request.ts';
import { decide, type Effect, type Input, type Setting, type Standing } from './decide.ts';
import { DigitLine } from './digit-line.ts';
import type { EndedCall, Leg } from './leg.ts';
import { byMachine, meaningOfEnd, resultOfNotSent, resultOfUnready } from './meaning-of-end.ts';
import { takesDigits } from './modes.ts';
import { Placement, type Timers } from './placement.ts';
import { Sound, type VoiceEnd } from './sound.ts';
import { testCallMedia } from './test-call-media.ts';
import type { Voice } from './voice.ts';

/** Where recordings are written. */
export interface Recorder {
  pathOf(call: { workspaceId: string; roomId: string }): string;
  finish(call: { workspaceId: string; roomId: string }, as: 'whole' | 'failed'): Promise<void>;
}

type Of<Type extends Input['type']> = Extract<Input, { type: Type }>;

/** What all conversations of a process share. */
export interface ConversationParts {
  clock: Clock;
  timers: Timers;
  log: Logger;
  media: Media;
  recorder: Recorder;
  emit: (event: CallEvent) => void;
  serve: ServeAgents;
  /** It is over. @param ended what was told; nothing of a call that came to nothing */
  onOver: (conversation: Conversation, ended?: EndedCall) => void;
}

/** What a conversation is held with. */
export interface ConversationTerms {
  roomId: string;
  workspaceId: string;
  /** Nobody, if no agent can be reached. */
  voice: Voice | undefined;
  maxCallSeconds: number;
  recording: boolean;
  /** The call whose far side is handed on to this one's. */
  handsOn?: Conversation | undefined;
}

/**
 * One call, from its placement or arrival to its end. Its leg, its voice and its sound tell it what happens; what follows is
 * decided in `decide.ts`, and done here.
 */
export class Conversation {
  readonly terms: ConversationTerms;
  readonly leg: Leg;
  readonly #setting: Setting;
  readonly #parts: ConversationParts;
  readonly #sound: Sound;
  readonly #placement: Placement;
  #standing: Standing;
  #heard: Input[] = [];
  readonly #digits = new DigitLine();
  #answered: Answered | undefined;
  #clearLimit = () => {};

  /** @param legOf makes its leg, which tells it by the function that it is given */
  constructor(parts: ConversationParts, terms: ConversationTerms, legOf: (tell: (input: Input) => void) => Leg) {
    this.#parts = parts;
    this.terms = terms;
    this.leg = legOf((input) => this.tell(input));
    this.#setting = { far: this.leg.far, joinsAt: terms.voice?.joinsAt ?? 'answered' };
    this.#placement = new Placement(parts.timers);
    this.#sound = new Sound(
      parts.media,
      terms.workspaceId,
      {
        tell: (input) => this.tell(input),
        serve: (request) => this.#serve(request as AgentRequest),
      },
      terms.handsOn ? terms.handsOn.#sound : undefined,
    );
    this.#standing =
      this.leg.far === 'callee'
        ? { mode: 'opening', times: {} }
        : // The caller hears it ring since it has arrived.
          { mode: 'arriving', times: { ringingAt: parts.clock.now() } };
  }

  get roomId(): string {
    return this.terms.roomId;
  }

  get times(): CallTimes {
    return this.#standing.times;
  }

  get phase(): 'dialing' | 'ringing' | 'answered' {
    if (this.times.answeredAt) return 'answered';
    return this.times.ringingAt ? 'ringing' : 'dialing';
  }

  /** Begins it. @returns once the call is taken, or surely isn't */
  begin(): Promise<PlaceResult> {
    void this.#prepare().then((input) => this.tell(input));
    return this.#placement.result;
  }

  async #prepare(): Promise<Input> {
    const text = 'The agent has no connection that a call could reach it by.';
    if (!this.terms.voice) return { type: 'unready', unready: { why: 'no_voice', text } };
    try {
      const unready = await this.leg.prepare(this.#sound);
      return unready ? { type: 'unready', unready } : { type: 'prepared' };
    } catch (error) {
      return { type: 'unready', unready: { why: 'fault', text: (error as Error).message, error } };
    }
  }

  /** Has somebody hear both sides of it. @returns what ends that; nothing if nobody has answered, or it is over */
  listen(listener: Listener): (() => void) | undefined {
    const { mode } = this.#standing;
    return mode === 'joining' || mode === 'talking' ? this.#sound.listen(listener) : undefined;
  }

  /** Ends it, whatever it is doing. @returns false if it is ending already */
  end(): boolean {
    const before = this.#standing;
    this.tell({ type: 'end_asked' });
    return this.#standing !== before;
  }

  /** Sends digits to the far side, after those that were asked for before. @returns what came of them; nothing is thrown */
  sendDigits(digits: string): Promise<DigitsSent> {
    return this.#digits.send(async () => {
      if (!takesDigits.has(this.#standing.mode)) return { isSent: false, reason: 'call_ended' };
      return await this.leg.sendDigits(digits, this.#sound);
    });
  }

  /**
   * Gives the far side another party to talk with, who waits for it; its voice has done its part.
   * @returns false if the call is ending, or the other party is gone
   */
  async joinOther(pair: string): Promise<boolean> {
    // A voice that is still being connected would be told as one that was refused.
    if (this.#standing.mode !== 'talking') return false;
    return await this.#sound.speak('relay', { pair, isFirst: false }).then(
      () => true,
      () => false,
    );
  }

  /** Takes in what has happened. What happens while something is done about it comes after that. */
  tell(input: Input): void {
    this.#heard.push(input);
    if (this.#heard.length > 1) return;
    for (let next: Input | undefined = input; next; next = this.#heard[0]) {
      this.#orLog(next, () => this.#take(next));
      this.#heard.shift();
    }
  }

  #take(input: Input): void {
    const { clock, log } = this.#parts;
    const before = this.#standing;
    const { standing, effects } = decide(before, input, { setting: this.#setting, at: clock.now() });
    this.#standing = standing;
    if (standing.mode !== before.mode) logFault(log, this.roomId, input);
    for (const effect of effects) this.#orLog(input, () => this.#effects[effect](input));
  }

  /** What fails keeps nothing else from being done: a call must end, whatever is wrong with one of its steps. */
  #orLog(input: Input, act: () => void): void {
    try {
      act();
    } catch (error) {
      const { log } = this.#parts;
      log.error({ err: error, roomId: this.roomId, input: input.type }, 'a step of a conversation failed');
    }
  }

  readonly #effects: Record<Effect, (input: Input) => void> = {
    connect_leg: () => this.leg.connect(),
    end_leg: () => this.leg.end(this.#standing.ending ?? 'hang_up'),
    accept: () => this.#placement.accept(),
    accept_soon: () => this.#placement.acceptSoon(),
    refuse: () => this.#refuse(),
    tell_ringing: () => this.#tellStep('ringing', this.times.ringingAt!),
    tell_answered: () => this.#tellStep('answered', this.times.answeredAt!),
    tell_heard: () => this.#tellHeard(),
    begin_sound: () => void this.#beginSound().then((told) => this.tell(told)),
    join_voice: () => void this.#join().then((told) => this.tell(told)),
    pass_digit: (input) => void this.#sound.digit((input as Of<'digit'>).digit).catch(() => {}),
    close_sound: () => void this.#closeSound().then((stats) => this.tell({ type: 'closed', stats })),
    tell_end: () => this.#tellEnd(),
  };

  #tellStep(type: 'ringing' | 'answered', at: Date): void {
    this.#parts.emit({ roomId: this.roomId, at, type });
    void this.leg
      .keepTimes(this.times)
      .catch((error) => this.#parts.log.warn({ err: error, roomId: this.roomId }, 'a call could not be kept'));
  }

  #tellHeard(): void {
    const agentId = this.terms.voice?.agentId;
    if (agentId !== undefined)
      this.#parts.emit({ roomId: this.roomId, at: this.#parts.clock.now(), type: 'agent_heard', agentId });
  }

  /** Sound begins, and the clock of the longest talk. */
  async #beginSound(): Promise<Input> {
    const { timers, recorder } = this.#parts;
    const { maxCallSeconds, recording } = this.terms;
    this.#clearLimit = timers.after(maxCallSeconds * 1000, () => this.tell({ type: 'time_limit' }));
    try {
      if (!(await this.leg.agree())) return { type: 'sound_failed', outcome: 'trunk_error' };
      await this.#sound.begin(recording ? recorder.pathOf(this.terms) : undefined);
      return { type: 'sound_agreed' };
    } catch (error) {
      return { type: 'sound_failed', error };
    }
  }

  async #join(): Promise<Input> {
    try {
      const end = await this.terms.voice!.join(this.#sound);
      return end ? { type: 'voice_refused', end } : { type: 'voice_joined' };
    } catch (error) {
      return { type: 'voice_refused', end: { reason: 'media_lost', text: (error as Error).message } };
    }
  }

  /** Nothing of it is decided by what its voice asks for: that is done for the call as it is. */
  async #serve(request: AgentRequest): Promise<unknown> {
    if (request.type === 'send_digits') return this.sendDigits(request.digits);
    if (request.type === 'answered_by') {
      this.#answered = request.answered;
      return this.#parts.emit({ roomId: this.roomId, at: this.#parts.clock.now(), ...request });
    }
    const { roomId, workspaceId, voice } = this.terms;
    return await this.#parts.serve({ roomId, workspaceId, agentId: voice!.agentId! }, request);
  }

  async #closeSound(): Promise<CallMediaStats | undefined> {
    this.#clearLimit();
    const stats = await this.#sound.close();
    if (this.terms.voice?.agentId !== undefined) void this.#serve({ type: 'over' }).catch(() => {});
    // What a thread that died has left is taken up by itself, once nobody writes to it any more.
    if (!this.terms.recording || !this.times.answeredAt || !stats) return stats;
    const { recorder, log } = this.#parts;
    await recorder
      .finish(this.terms, stats.recording?.failure === undefined ? 'whole' : 'failed')
      .catch((error) => log.warn({ err: error, roomId: this.roomId }, 'a recording could not be handed on'));
    return stats;
  }

  #tellEnd(): void {
    const { legEnd, own, endedAt, stats } = this.#standing;
    const isTest = this.terms.voice?.isTest;
    const agentEnd = isTest ? undefined : agentEndOf(this.#standing);
    const ended: EndedCall = {
      ...{ roomId: this.roomId, at: endedAt!, type: 'ended' },
      ...byMachine(withAgent(meaningOfEnd(legEnd!, own, this.leg.far), agentEnd), this.#answered),
      ...(this.times.answeredAt && stats && reportOf(stats)),
      ...(agentEnd && { agentEnd }),
      ...(this.#answered && { answered: this.#answered }),
      ...(isTest && { test: testCallMedia(this.leg.wire(), stats) }),
    };
    this.#parts.onOver(this, ended);
    this.#parts.emit(ended);
  }

  /** Nothing was sent, and whoever placed it hears why. */
  #refuse(): void {
    const { unready, legEnd, mode } = this.#standing;
    if (mode === 'discarded') this.#parts.onOver(this);
    if (unready?.why === 'fault') this.#placement.fail(unready.error);
    else if (unready) this.#placement.refuse(resultOfUnready(unready));
    else if (legEnd?.kind === 'not_sent') this.#placement.refuse(resultOfNotSent(legEnd));
  }
}

const reportOf = (stats: CallMediaStats): MediaReport => {
  const { codec, encryption, packetsReceived, packetsLost, packetsUndeciphered } = stats;
  return {
    ...(codec && { codec }),
    ...(encryption && { encryptedWith: encryption }),
    ...(packetsUndeciphered > 0 && { packetsUndeciphered }),
    ...{ packetsReceived, packetsLost },
  };
};

const faultless = new Set<VoiceEnd['reason']>(['hung_up', 'silence']);

function logFault(log: Logger, roomId: string, input: Input): void {
  if (input.type === 'silent' || input.type === 'media_lost')
    log.warn({ roomId, event: input.type }, 'a call without sound is ended');
  const isAtFault =
    (input.type === 'voice_refused' || input.type === 'voice_ended') && !faultless.has(input.end.reason);
  if (isAtFault) log.warn({ roomId, ...input.end }, 'the agent of a call is not there, or was lost');
  if (input.type === 'sound_failed') log.warn({ err: input.error, roomId }, 'the sound of a call was lost');
  if (input.type === 'unready') log.warn({ roomId, reason: input.unready.text }, 'a call can not be gone on with');
}
