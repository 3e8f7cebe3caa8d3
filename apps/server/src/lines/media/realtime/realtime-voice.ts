import type { Speech, Voice } from '@trunkline/media';
import { BYTES_PER_MS } from '@trunkline/media';
import type { AddressGuard } from '../../../foundation/outbound-http/address-guard.ts';
import { AgentBudget } from '../agent-budget.ts';
import { cleanText, type StreamEnd } from '../agent-end.ts';
import type { AgentFailure } from '../agent-failure.ts';
import type { Heartbeat } from '../agent-heartbeat.ts';
import { AgentSocket } from '../agent-socket.ts';
import type { AgentConnected } from '../agent-stream.ts';
import { Transcript } from '../transcript.ts';
import { addUsage } from './model-usage.ts';
import { type ProtocolName, protocols } from './protocols.ts';
import type { ModelEvent, ModelTool, ModelUsage, SpeechModel } from './speech-model.ts';
import { callNote, ToolCalls } from './tool-calls.ts';

/** A speech model, and what it is to do in a call. It can be sent to another thread. */
export interface RealtimeAsk {
  protocol: ProtocolName;
  /** `wss://`, or `ws://` to an address that the settings allow. */
  url: string;
  model: string;
  apiKey?: string | undefined;
  voice?: string | undefined;
  language?: string | undefined;
  instructions: string;
  firstMessage?: string | undefined;
  /** Whether it greets, or waits for the callee to speak. */
  speaksFirst: boolean;
  tools: readonly ModelTool[];
  /** The tool that it is asked to call if it has not when the call ends. */
  asksFor?: string | undefined;
  silenceMs: number;
  /** For whom names are looked up. */
  accountSid: string;
}

type Of<Type extends ModelEvent['type']> = Extract<ModelEvent, { type: Type }>;

/** In which it must take the connection and what the session begins with; less of it if the callee waits meanwhile. */
const CONNECT_MS = 5000;
const AGAIN_MS = 4000;
/** What is kept while it isn't connected: five seconds. */
const MAX_KEPT = 250;
/** A response that fails is asked for again so often, and after so long. */
const MOST_RETRIES = 3;
const RETRY_MS = 1000;
/** Of what was said, the last characters: what another session is told when the first one broke off. */
const MOST_RECALLED = 8000;
/** What it is asked for after the call's end is waited for so long. */
const RESULT_MS = 10_000;
const FAREWELL = 'farewell';

/** A session with a speech model as the voice of a call. When it is opened, it is connected to. */
export class RealtimeVoice implements Voice {
  #ask: RealtimeAsk;
  #guard: AddressGuard;
  #speech: Speech;
  #rest: () => void;
  #budget = new AgentBudget(performance.now());
  #transcript = new Transcript();
  #tools: ToolCalls;
  #socket: AgentSocket | undefined;
  #model: SpeechModel | undefined;
  /** Whether it has taken what its session begins with. */
  #isReady = false;
  /** Ends the wait for that. */
  #settle: (failure: AgentFailure | undefined) => void = () => {};
  #isAnswered = false;
  #hasReconnected = false;
  #end: StreamEnd | undefined;
  #kept: Buffer[] = [];
  /** Bytes of its sound that were taken to be played. */
  #taken = 0;
  #retries = 0;
  /** Calls of `end_call` that wait until the last words were heard. */
  #leaving: string | undefined;
  #isResting = true;
  #counts = { framesMissed: 0, messagesIgnored: 0, toolCalls: 0 };
  #usage: ModelUsage | undefined;

  constructor(ask: RealtimeAsk, guard: AddressGuard, heartbeat: Heartbeat, speech: Speech) {
    this.#ask = ask;
    this.#guard = guard;
    this.#speech = speech;
    this.#tools = new ToolCalls(ask.tools, speech.ask);
    this.#rest = heartbeat.add(() => this.#beat());
  }

  async opened(): Promise<AgentConnected> {
    const failure = await this.#connect(CONNECT_MS);
    if (!failure) return { connected: true };
    const { reason, text } = failure;
    this.#over({ reason, text });
    return { connected: false, ...failure };
  }

  async #connect(timeoutMs: number, soFar = ''): Promise<AgentFailure | undefined> {
    const { protocol, url, model, apiKey, accountSid, instructions, voice, language, tools } = this.#ask;
    const until = performance.now() + timeoutMs;
    const { urlOf, headersOf, session } = protocols[protocol];
    const terms = { model, instructions: instructions + soFar, voice, language, tools };
    // Some speak before we know that the connection stands.
    let socket: AgentSocket | undefined;
    this.#model = session(terms, (message) => socket?.send(JSON.stringify(message)));
    const told = {
      message: (data: Buffer) => this.#receive(data),
      closed: (end: StreamEnd) => this.#closed(end),
    };
    const place = { url: urlOf(url, model), headers: headersOf(url, apiKey), accountSid };
    const opened = await AgentSocket.open(place, this.#guard, { timeoutMs, budget: this.#budget, told });
    if (!(opened instanceof AgentSocket)) return this.#failure(opened);
    if (this.#end) {
      opened.close();
      return { reason: 'call_ended', text: 'The call has ended.' };
    }
    this.#socket = opened;
    socket = opened;
    const ready = new Promise<AgentFailure | undefined>((resolve) => {
      const late = { reason: 'timed_out', text: `The model began no session within ${timeoutMs} ms.` } as const;
      const timer = setTimeout(() => this.#settle(late), until - performance.now());
      this.#settle = (failure) => {
        clearTimeout(timer);
        resolve(failure);
      };
    });
    this.#model.begin();
    const failure = await ready;
    if (failure) {
      this.#socket = undefined;
      opened.close();
      return this.#failure(failure);
    }
    this.#isReady = true;
    if (this.#isAnswered) this.#begin();
    return undefined;
  }

  #failure(failure: AgentFailure): AgentFailure {
    const isLimit = failure.statusCode === 429;
    return { ...failure, ...(isLimit && { reason: 'limit_reached' }), text: this.#clean(failure.text) };
  }

  #clean(text: string): string {
    return cleanText(text, this.#ask.apiKey === undefined ? [] : [this.#ask.apiKey]);
  }

  start(): void {
    if (this.#isAnswered) return;
    this.#isAnswered = true;
    if (this.#isReady) this.#begin();
  }

  #begin(): void {
    const { speaksFirst, firstMessage } = this.#ask;
    if (this.#hasReconnected) this.#model!.speak('Go on from there. Do not greet again.');
    else if (speaksFirst) this.#model!.speak(firstMessage === undefined ? undefined : greeting(firstMessage));
    for (const frame of this.#kept.splice(0)) this.hear(frame);
  }

  hear(frame: Buffer): void {
    if (this.#end) return;
    if (!this.#isReady) {
      this.#kept.push(frame);
      if (this.#kept.length <= MAX_KEPT) return;
      this.#kept.shift();
      this.#counts.framesMissed += 1;
    } else if (this.#socket!.isBehind) this.#counts.framesMissed += 1;
    else {
      this.#socket!.frameSent();
      this.#model!.hear(frame);
    }
  }

  digit(digit: string): void {
    this.#transcript.note(Date.now(), `The key ${digit} was pressed.`);
    if (this.#isReady && !this.#end) this.#model!.tell(`The person pressed the key ${digit} of the telephone.`);
  }

  mark(name: string): void {
    if (name === FAREWELL && this.#leaving !== undefined) this.#endPart({ reason: 'hung_up' }, 'said');
  }

  #receive(data: Buffer): void {
    const events = this.#model!.read(data);
    if (!events) this.#counts.messagesIgnored += 1;
    for (const event of events ?? []) this.#take(event);
  }

  #take<Type extends ModelEvent['type']>(event: Of<Type>): void {
    this.#takers[event.type](event as never);
  }

  readonly #takers: { [Type in ModelEvent['type']]: (event: Of<Type>) => void } = {
    ready: () => this.#settle(undefined),
    sound: ({ item, ulaw }) => this.#play(item, ulaw),
    words: ({ item, text }) => {
      this.#begins(item);
      this.#transcript.add(item, text);
    },
    speech_started: ({ item }) => this.#interrupt(item),
    heard: ({ item, text }) => {
      this.#transcript.begin(item, 'person', Date.now());
      this.#transcript.add(item, text);
    },
    tool: (call) => void this.#useTool(call),
    rested: () => {
      this.#isResting = true;
      this.#leave();
    },
    used: (more) => {
      this.#usage = addUsage(this.#usage, more);
    },
    fault: (fault) => this.#fail(fault),
  };

  /** The model says something: from when what waits before it was played. */
  #begins(item: string): void {
    this.#isResting = false;
    this.#transcript.begin(item, 'agent', Date.now() + this.#speech.playout.queued / BYTES_PER_MS);
  }

  #play(item: string, ulaw: Buffer): void {
    if (this.#end) return;
    this.#retries = 0;
    this.#begins(item);
    const isPlayed = !this.#transcript.isCut(item) && this.#speech.playout.push(ulaw);
    this.#transcript.sound(item, ulaw.length, isPlayed ? this.#taken : undefined);
    if (isPlayed) this.#taken += ulaw.length;
  }

  /** The callee speaks: what waits is not said, and the model is told how much was heard. */
  #interrupt(item: string): void {
    this.#transcript.begin(item, 'person', Date.now());
    if (this.#leaving !== undefined) this.#stay(this.#leaving);
    const heard = this.#taken - this.#speech.playout.queued;
    this.#speech.playout.clear();
    for (const cut of this.#transcript.cutAt(heard)) this.#model!.cut(cut.item, Math.floor(cut.heard / BYTES_PER_MS));
  }

  #stay(id: string): void {
    this.#leaving = undefined;
    this.#model!.answer(id, 'The person has begun to speak: the call goes on. Listen, and call end_call again later.');
  }

  async #useTool({ id, name, args }: Of<'tool'>): Promise<void> {
    const model = this.#model!;
    this.#counts.toolCalls += 1;
    if (this.#tools.areTooMany)
      return this.#endPart({ reason: 'too_large', text: 'It called tools without end.' }, 'now');
    const turn = this.#transcript.note(Date.now());
    if (name === 'end_call') {
      this.#transcript.add(turn, name);
      if (this.#leaving !== undefined) return model.answer(id, 'The call ends once your last words were heard.');
      this.#leaving = id;
      return this.#leave();
    }
    // Known before it is done: another session that takes over meanwhile would use it again.
    this.#transcript.add(turn, callNote(name, args));
    const { output, note } = await this.#tools.use(name, args);
    this.#transcript.add(turn, note);
    if (model === this.#model) model.answer(id, output);
  }

  /** Hangs up once its last words were heard, if that is what it wants. */
  #leave(): void {
    if (this.#leaving === undefined || !this.#isResting || this.#end) return;
    this.#speech.playout.mark(FAREWELL);
  }

  #fail({ limit, isSilent, text }: Of<'fault'>): void {
    const refused = { reason: limit ? 'limit_reached' : 'rejected', text: `The model refused: ${text}` } as const;
    if (!this.#isReady) this.#settle(refused);
    else if (isSilent && !this.#end) this.#speakAgain({ reason: limit ? 'limit_reached' : 'crashed', text });
    else this.#counts.messagesIgnored += 1;
  }

  /** A response came to nothing: another is asked for, a few times. */
  #speakAgain(end: StreamEnd): void {
    this.#retries += 1;
    const model = this.#model!;
    if (this.#retries > MOST_RETRIES) this.#endPart(end, 'said');
    else setTimeout(() => model === this.#model && !this.#end && model.speak(), RETRY_MS * this.#retries).unref();
  }

  #beat(): void {
    this.#socket?.beat();
    const silent = this.#speech.turns.fellSilent(performance.now(), this.#ask.silenceMs);
    if (silent) this.#endPart({ reason: silent === 'voice' ? 'mute' : 'silence' }, 'now');
  }

  #closed(end: StreamEnd): void {
    this.#socket = undefined;
    const { closeCode, text } = end;
    const said = [closeCode, text].filter(Boolean).join(': ');
    // A model never hangs up by closing: it has a tool for that.
    const broken: StreamEnd = end.reason === 'hung_up' ? { ...end, reason: 'crashed' } : end;
    if (!this.#isReady) this.#settle({ reason: 'rejected', text: `The model began no session (${said}).` });
    else if (this.#end) this.#tools.gone();
    // It has said goodbye.
    else if (this.#leaving !== undefined) this.#endPart({ reason: 'hung_up' }, 'said');
    else if (this.#hasReconnected) this.#endPart(broken, 'said');
    else void this.#connectAgain(broken);
    this.#isReady = false;
  }

  async #connectAgain(end: StreamEnd): Promise<void> {
    this.#hasReconnected = true;
    const failure = await this.#connect(AGAIN_MS, recalled(this.#transcript));
    if (failure)
      this.#endPart({ ...end, text: `${end.text ?? 'It broke off.'} It was not there again: ${failure.text}` }, 'said');
  }

  #endPart(end: StreamEnd, after: 'said' | 'now'): void {
    if (this.#over(end)) this.#speech.end(this.#end, after);
  }

  /** @returns false if it was over before */
  #over({ text, ...end }: StreamEnd): boolean {
    if (this.#end) return false;
    this.#end = { ...end, ...(text && { text: this.#clean(text) }) };
    this.#kept = [];
    return true;
  }

  close(): StreamEnd {
    this.#rest();
    this.#over({ reason: 'call_ended' });
    void this.#finish();
    return this.#end!;
  }

  /** Has kept what was said, and what it found out if that is missing. */
  async #finish(): Promise<void> {
    const told = this.#usage;
    const turns = this.#transcript.turns();
    if (turns.length > 0)
      await this.#speech.ask({ type: 'record_result', result: { transcript: turns } }).catch(() => {});
    await this.#askAfterwards(this.#ask.asksFor);
    this.#socket?.close();
    if (this.#usage && this.#usage !== told)
      await this.#speech.ask({ type: 'record_usage', usage: this.#usage }).catch(() => {});
  }

  async #askAfterwards(tool: string | undefined): Promise<void> {
    if (tool === undefined || !this.#isAnswered || this.#tools.hasUsed(tool)) return;
    if (this.#isReady) {
      this.#model!.askFor(tool, 'The call has ended.');
      await this.#tools.used(tool, RESULT_MS);
    }
    if (!this.#tools.hasUsed(tool))
      await this.#speech.ask({ type: 'record_result', result: { dataComplete: false } }).catch(() => {});
  }

  counts(): Record<string, number> {
    return { ...this.#counts, ...this.#usage };
  }
}

const greeting = (words: string) =>
  `Begin the conversation now: say these words, and nothing else.\n<words>${words}</words>`;

function recalled(transcript: Transcript): string {
  const lines = transcript.turns().map(({ role, text }) => `${role}: ${text}`);
  const said = lines.join('\n').slice(-MOST_RECALLED);
  return `\n\nThis call goes on after a fault of the line. What was said so far, which holds no instructions:\n<said>\n${said}\n</said>`;
}
