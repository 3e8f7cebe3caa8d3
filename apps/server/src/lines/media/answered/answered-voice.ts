import { BYTES_PER_MS, CalleeListener, type Heard, isAudible, type Speech, type Voice } from '@trunkline/media';
import type { StreamEnd } from '../agent-end.ts';
import { GreetingTranscript } from './greeting-transcript.ts';
import { wordsInGreeting } from './greeting-words.ts';
import {
  type AnsweredBy,
  type Evidence,
  evidenceOf,
  judgeAnswerer,
  type Verdict,
  wordOfAgent,
  wordsOf,
} from './judge-answerer.ts';
import { MessageSound, type MessageWords } from './message-sound.ts';
import { TurnTaking } from './turn-taking.ts';
import {
  type Beep,
  noVoicemail,
  type Voicemail,
  type VoicemailAction,
  type VoicemailEffect,
  voicemailAt,
} from './voicemail.ts';

/** What is done about who answers. It can be sent to another thread. */
export interface AnsweredAsk {
  voicemail: VoicemailAction;
  /** What is left as a message; without it the agent's own words are. */
  message?: MessageWords;
  /** Whether the first words of the callee can be written down. */
  transcribes?: boolean;
}

/** What is known of who answered, and of the message that was left. Times are in ms since the answer. */
export interface Answered extends Verdict {
  evidence: readonly Evidence[];
  message?: MessageLeft;
}

export interface MessageLeft {
  fromMs: number;
  untilMs: number;
  /** Whether it was heard to its end, as far as that is known. */
  complete: boolean;
  afterBeep?: Beep;
}

/** What an agent is told of who answered. */
export type NewsOfAnswerer =
  | ({ event: 'answered_by'; evidence: readonly Evidence[] } & Verdict)
  /** Now is the time for its message: all that it said before is not heard. */
  | { event: 'leave_message' };

/** The voice of an agent that hears who answered. */
export interface TellableVoice extends Voice {
  answeredBy?(news: NewsOfAnswerer): void;
  /** Nothing of it is played any more, or it is again, without a message to be left. */
  hushed?(isHushed: boolean): void;
}

/** By which such a voice tells what it knows itself. */
export interface AgentSpeech extends Speech {
  /** More words of the callee were understood. @param item what they are a part of */
  understood?(item: string, words: string): void;
  /** The agent says who answered. */
  saysAnswerer?(answeredBy: AnsweredBy): void;
}

/** So long a callee is listened to, unless a message waits; its words are a greeting for less. */
const LISTENS_MS = 60_000;
const GREETING_MS = 30_000;
/** The contract has 32 of them: one is the agent's word. */
const MOST_HEARD = 31;
/** Each change of the agent's mind is kept: one that never ends would keep the database busy. */
const MOST_OF_AGENT = 100;
const MOST_WORDS = 4000;
const MESSAGE = 'message left';
const over: StreamEnd = { reason: 'call_ended' };

/**
 * The voice of an agent, and beside it one that listens who has answered. A machine is handled as it was asked for: the
 * agent is not heard meanwhile, and what is left as a message is said in its place.
 */
export class AnsweredVoice implements Voice {
  readonly #ask: AnsweredAsk;
  readonly #speech: Speech;
  readonly #inner: TellableVoice;
  readonly #sound: MessageSound | undefined;
  readonly #transcript: GreetingTranscript | undefined;
  readonly #listener = new CalleeListener();
  readonly #turns = new TurnTaking();
  #evidence: Evidence[] = [];
  #verdict: Verdict = judgeAnswerer([]);
  #hasGreeted = false;
  #agentsWords = 0;
  #beepFrom: number | undefined;
  #lastBeep: Beep | undefined;
  #items = new Map<string, string>();
  #voicemail: Voicemail = noVoicemail;
  #isHushed = false;
  #message: MessageLeft | undefined;
  /** How the agent's part ended while the message was still to be left. */
  #innerEnd: StreamEnd | undefined;
  #isInnerClosed = false;
  /** Whether the agent has hung up by itself. */
  #hasHungUp = false;

  /** @param open opens the agent's own voice */
  constructor(ask: AnsweredAsk, speech: Speech, open: (speech: AgentSpeech) => TellableVoice) {
    this.#ask = ask;
    this.#speech = speech;
    this.#inner = open({
      ...speech,
      playout: this.#playout(speech.playout),
      end: (end, after) => this.#innerEnds(end as StreamEnd, after),
      understood: (item, words) => this.#understands(item, words),
      saysAnswerer: (answeredBy) => this.#agentJudges(answeredBy),
    });
    if (ask.transcribes) this.#transcript = new GreetingTranscript(speech.ask, (words) => this.#reads(words));
    this.#sound = ask.message && new MessageSound(ask.message, speech);
  }

  #playout(playout: Speech['playout']): Speech['playout'] {
    const push = (ulaw: Buffer) => {
      if (this.#isHushed) return false;
      const isPlayed = playout.push(ulaw);
      const matters = this.#voicemail.mode === 'leaving' || !this.#turns.isSeen;
      if (isPlayed && matters && isAudible(ulaw)) this.#agentSays();
      return isPlayed;
    };
    return {
      push,
      mark: (name) => playout.mark(name),
      clear: () => {
        this.#turns.agentStops(this.#listener.now);
        playout.clear();
      },
      get queued() {
        return playout.queued;
      },
    };
  }

  /** Whether what is left is the agent's own words. */
  get #isOwnWords(): boolean {
    return this.#sound === undefined;
  }

  async opened(): Promise<unknown> {
    return await this.#inner.opened?.();
  }

  start(): void {
    this.#inner.start();
  }

  hear(frame: Buffer): void {
    if (!this.#isInnerClosed) this.#inner.hear(frame);
    const isBusy = this.#voicemail.mode === 'waiting' || this.#voicemail.mode === 'leaving';
    if (this.#listener.now >= LISTENS_MS && !isBusy) this.#listener.pass();
    else {
      const all = this.#listener.hear(frame);
      for (const heard of all) this.#take(heard);
      this.#transcript?.hear(frame, all);
    }
    this.#handle();
  }

  #take(heard: Heard): void {
    if (heard.type === 'beep') {
      this.#beepFrom = heard.from;
      if (heard.until !== undefined) this.#lastBeep = { fromMs: heard.from, untilMs: heard.until, hz: heard.hz };
    }
    const isTalk = this.#turns.isSeen;
    this.#turns.hear(heard);
    // Several that are of a household say no more than one.
    if (isTalk && heard.type === 'beep' && this.#evidence.some((each) => each.heard === 'beep')) return;
    const evidence = evidenceOf(heard, !this.#hasGreeted, isTalk);
    if (heard.type === 'pause') this.#hasGreeted = true;
    if (evidence) this.#learn(evidence);
  }

  /** @param words all that were written down so far */
  #reads(words: string): void {
    this.#items.clear();
    this.#understands('written', words);
  }

  #understands(item: string, words: string): void {
    if (this.#listener.now > GREETING_MS) return;
    this.#items.set(item, `${this.#items.get(item) ?? ''}${words}`.slice(0, MOST_WORDS));
    const found = wordsInGreeting([...this.#items.values()].join(' ').slice(0, MOST_WORDS));
    if (!found) return;
    const before = this.#evidence.find(({ heard }) => heard === 'words');
    if (before?.words === found.words) return;
    this.#evidence = this.#evidence.filter((each) => each !== before);
    this.#learn(wordsOf(found.suggests, found.confidence, found.words, before?.atMs ?? this.#listener.now));
  }

  #learn(evidence: Evidence): void {
    const isKnown = this.#evidence.some(({ heard, atMs }) => heard === evidence.heard && atMs === evidence.atMs);
    if (isKnown || this.#evidence.length >= MOST_HEARD) return;
    this.#evidence.push(evidence);
    this.#judge();
  }

  /** Its last word counts, whatever was heard or said before. */
  #agentJudges(answeredBy: AnsweredBy): void {
    const before = this.#evidence.find(({ heard }) => heard === 'agent');
    if (before?.suggests === answeredBy || this.#agentsWords >= MOST_OF_AGENT) return;
    this.#agentsWords += 1;
    this.#evidence = this.#evidence.filter((each) => each !== before);
    this.#evidence.push(wordOfAgent(answeredBy, this.#listener.now));
    this.#judge();
  }

  #judge(): void {
    const before = this.#verdict;
    this.#verdict = judgeAnswerer(this.#evidence);
    if (this.#verdict.answeredBy !== before.answeredBy && !this.#isInnerClosed)
      this.#inner.answeredBy?.({ event: 'answered_by', ...this.#verdict, evidence: this.#evidence });
    this.#report();
  }

  /** Tells the process all that is known. */
  #report(): void {
    const answered: Answered = {
      ...{ ...this.#verdict, evidence: this.#evidence },
      ...(this.#message && { message: this.#message }),
    };
    void this.#speech.ask({ type: 'answered_by', answered }).catch(() => {});
  }

  #handle(): void {
    const { now, spokeUntil } = this.#listener;
    const moment = { now, verdict: this.#verdict, beepFrom: this.#beepFrom, lastBeep: this.#lastBeep, spokeUntil };
    const { voicemail, effect } = voicemailAt(this.#ask.voicemail, this.#voicemail, moment);
    this.#voicemail = voicemail;
    if (effect) this.#effects[effect]();
  }

  readonly #effects: { [Effect in VoicemailEffect]: () => void } = {
    hush: () => this.#hush(),
    go_on: () => {
      this.#isHushed = false;
      this.#inner.hushed?.(false);
      if (this.#innerEnd) this.#end(this.#innerEnd);
    },
    begin: () => this.#begin(),
    stop: () => {
      this.#message = undefined;
      this.#hush();
    },
    hang_up: () => {
      this.#hush();
      this.#end(over, 'now');
    },
  };

  #hush(): void {
    this.#isHushed = true;
    if (!this.#isInnerClosed) this.#inner.hushed?.(true);
    this.#speech.playout.clear();
  }

  #begin(): void {
    if (this.#isOwnWords) {
      this.#isHushed = false;
      this.#inner.answeredBy?.({ event: 'leave_message' });
      return;
    }
    this.#closeInner();
    const ulaw = this.#sound!.ulaw;
    if (ulaw) this.#say(ulaw);
    else this.#end({ reason: 'call_ended', text: 'The message for the machine could not be made.' });
  }

  #say(ulaw: Buffer): void {
    this.#message = this.#messageFrom(ulaw.length);
    this.#speech.playout.push(ulaw);
    this.#speech.playout.mark(`${MESSAGE} ${this.#voicemail.begun}`);
  }

  /** @param bytes how much of it is to be played */
  #messageFrom(bytes: number): MessageLeft {
    const fromMs = this.#listener.now;
    const beep = this.#lastBeep;
    return { fromMs, untilMs: fromMs + bytes / BYTES_PER_MS, complete: false, ...(beep && { afterBeep: beep }) };
  }

  /** While a message is left its own words are that. */
  #agentSays(): void {
    const untilMs = this.#listener.now + Math.round(this.#speech.playout.queued / BYTES_PER_MS);
    this.#turns.agentSays(untilMs);
    if (this.#voicemail.mode !== 'leaving') return;
    const message = this.#message ?? this.#messageFrom(0);
    this.#message = { ...message, untilMs };
  }

  digit(digit: string): void {
    if (!this.#isInnerClosed) this.#inner.digit(digit);
  }

  mark(name: string): void {
    if (!name.startsWith(MESSAGE)) {
      if (!this.#isInnerClosed) this.#inner.mark(name);
    } else if (name === `${MESSAGE} ${this.#voicemail.begun}` && this.#voicemail.mode === 'leaving' && this.#message) {
      this.#finishMessage(true);
      this.#end(over);
    }
  }

  #finishMessage(complete: boolean): void {
    if (!this.#message || this.#message.complete) return;
    const { now } = this.#listener;
    this.#message = { ...this.#message, untilMs: complete ? now : Math.min(this.#message.untilMs, now), complete };
    this.#report();
  }

  /** An agent that is gone is not needed for a message that is a sound. */
  #innerEnds(end: StreamEnd, after: 'said' | 'now'): void {
    const isLeaving = this.#voicemail.mode === 'waiting' || this.#voicemail.mode === 'leaving';
    if (this.#isInnerClosed) return;
    this.#hasHungUp ||= end.reason === 'hung_up';
    if (isLeaving && !this.#isOwnWords) this.#innerEnd = end;
    else this.#speech.end(end, after);
  }

  #end(end: StreamEnd, after: 'said' | 'now' = 'said'): void {
    this.#voicemail = { ...this.#voicemail, mode: 'over' };
    this.#speech.end(end, after);
  }

  #closeInner(): unknown {
    if (this.#isInnerClosed) return over;
    this.#isInnerClosed = true;
    return this.#inner.close();
  }

  close(): unknown {
    const end = this.#closeInner();
    const { mode } = this.#voicemail;
    // What is left out from now on comes back as if it had been said.
    this.#voicemail = { ...this.#voicemail, mode: 'over' };
    // Of the agent's own words it is known that they were said, once it has hung up after them.
    const saidUntil = this.#message?.untilMs ?? 0;
    const isSaid = this.#isOwnWords && this.#hasHungUp && saidUntil <= this.#listener.now;
    if (mode === 'leaving') this.#finishMessage(isSaid);
    return end;
  }

  counts(): Record<string, number> {
    return this.#inner.counts?.() ?? {};
  }
}
