import type { AddressGuard } from '../../../foundation/outbound-http/address-guard.ts';
import type { AgentBudget } from '../agent-budget.ts';
import { cleanText, type StreamEnd } from '../agent-end.ts';
import type { AgentFailure } from '../agent-failure.ts';
import { AgentSocket } from '../agent-socket.ts';
import { type ProtocolName, protocols } from './protocols.ts';
import type { ModelEvent, ModelTool, SpeechModel } from './speech-model.ts';

/** A speech model, and what it is to do in a call. It can be sent to another thread. */
export interface RealtimeAsk {
  protocol: ProtocolName;
  /** `wss://`, or `ws://` to an address that the settings allow. */
  url: string;
  model: string;
  apiKey?: string | undefined;
  voice?: string | undefined;
  language?: string | undefined;
  backendModel?: string | undefined;
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
  /** Whether what is said is told at once. */
  isFollowed?: boolean;
}

/** How a session begins that isn't the first of its call. */
export interface Begun {
  /** What was said so far, in words for the model. */
  soFar?: string | undefined;
  /** What the vendor has kept of it. */
  resume?: string;
}

/** What a session is opened with. */
interface Means {
  guard: AddressGuard;
  budget: AgentBudget;
  timeoutMs: number;
  /** It is wanted no longer. */
  signal: AbortSignal;
}

/** What a session tells. */
interface Told {
  /** It has taken what it begins with; before that it tells nothing. */
  ready(session: ModelSession): void;
  event(event: ModelEvent): void;
  /** A message meant nothing. */
  ignored(): void;
  /** Its connection has ended, by whatever; once. */
  closed(end: StreamEnd): void;
}

/** A session with a speech model, and the connection that it has. */
export class ModelSession {
  readonly model: SpeechModel;
  readonly #ask: RealtimeAsk;
  readonly #told: Told;
  #socket: AgentSocket | undefined;
  #isReady = false;
  /** Ends the wait for that. */
  #settle: (failure: AgentFailure | undefined) => void = () => {};

  private constructor(ask: RealtimeAsk, { soFar = '', resume }: Begun, told: Told) {
    const { model, instructions, voice, language, backendModel, tools } = ask;
    const terms = { model, instructions: instructions + soFar, voice, language, backendModel, tools, resume };
    this.#ask = ask;
    this.#told = told;
    // Some speak before we know that the connection stands.
    this.model = protocols[ask.protocol].session(terms, (message) => this.#socket?.send(JSON.stringify(message)));
  }

  /** Opens one. Nothing is thrown. @returns why there is none */
  static async open(ask: RealtimeAsk, begun: Begun, means: Means, told: Told): Promise<AgentFailure | undefined> {
    const failure = await new ModelSession(ask, begun, told).#open(means);
    const isLimit = failure?.statusCode === 429;
    return failure && { ...failure, ...(isLimit && { reason: 'limit_reached' }), text: clean(failure.text, ask) };
  }

  async #open({ guard, budget, timeoutMs, signal }: Means): Promise<AgentFailure | undefined> {
    const { protocol, url, model, apiKey, accountSid } = this.#ask;
    const until = performance.now() + timeoutMs;
    const { urlOf, headersOf } = protocols[protocol];
    const told = {
      message: (data: Buffer) => this.#receive(data),
      closed: (end: StreamEnd) => this.#closed(end),
    };
    const place = { url: urlOf(url, model), headers: headersOf(url, apiKey), accountSid };
    const opened = await AgentSocket.open(place, guard, { timeoutMs, budget, told });
    if (!(opened instanceof AgentSocket)) return opened;
    this.#socket = opened;
    const failure = signal.aborted ? GONE : await this.#readyBy(until, timeoutMs, signal);
    if (failure) this.#socket?.close();
    return failure;
  }

  #readyBy(until: number, timeoutMs: number, signal: AbortSignal): Promise<AgentFailure | undefined> {
    return new Promise((resolve) => {
      const late = { reason: 'timed_out', text: `The model began no session within ${timeoutMs} ms.` } as const;
      const timer = setTimeout(() => this.#settle(late), until - performance.now());
      const gone = () => this.#settle(GONE);
      signal.addEventListener('abort', gone);
      this.#settle = (failure) => {
        clearTimeout(timer);
        signal.removeEventListener('abort', gone);
        resolve(failure);
      };
      this.model.begin();
    });
  }

  #receive(data: Buffer): void {
    const events = this.model.read(data);
    if (!events) this.#told.ignored();
    for (const event of events ?? []) {
      if (this.#isReady) this.#told.event(event);
      else this.#begins(event);
    }
  }

  #begins(event: ModelEvent): void {
    if (event.type === 'fault')
      this.#settle({ reason: event.limit ? 'limit_reached' : 'rejected', text: `The model refused: ${event.text}` });
    if (event.type !== 'ready') return;
    this.#isReady = true;
    this.#settle(undefined);
    this.#told.ready(this);
  }

  #closed(end: StreamEnd): void {
    this.#socket = undefined;
    const fault = protocols[this.#ask.protocol].faultOf?.(end.text ?? '');
    // A model never hangs up by closing: it has a tool for that.
    const reason = end.reason === 'hung_up' ? 'crashed' : end.reason;
    const said = [end.closeCode, end.text].filter(Boolean).join(': ');
    if (this.#isReady) this.#told.closed({ ...end, reason: fault === 'limit' ? 'limit_reached' : reason });
    // Nobody waits any more if it was ready.
    this.#settle({
      ...{ reason: fault === 'limit' ? 'limit_reached' : 'rejected', text: `The model began no session (${said}).` },
      ...(fault === 'key' && { isKeyRefused: true }),
    });
  }

  /** Whether no more sound is to be sent: so much is under way that it would be heard late. */
  get isBehind(): boolean {
    return this.#socket?.isBehind ?? false;
  }

  /** 20 ms of the callee. @returns what that tells */
  hear(ulaw: Buffer): readonly ModelEvent[] {
    this.#socket?.frameSent();
    return this.model.hear(ulaw);
  }

  /** To be told each second. */
  beat(): void {
    this.#socket?.beat();
  }

  /** Ends it in order; nothing is told any more. */
  close(): void {
    this.model.end?.();
    this.#socket?.close();
  }
}

const GONE: AgentFailure = { reason: 'call_ended', text: 'The call has ended.' };

/** A text of the vendor's that may be kept and shown. */
export const clean = (text: string, { apiKey }: RealtimeAsk): string =>
  cleanText(text, apiKey === undefined ? [] : [apiKey]);
