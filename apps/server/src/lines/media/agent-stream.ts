import { randomBytes } from 'node:crypto';
import type { AddressGuard } from '../../foundation/outbound-http/address-guard.ts';
import { AgentBudget } from './agent-budget.ts';
import { cleanText, type StreamEnd } from './agent-end.ts';
import type { AgentFailure } from './agent-failure.ts';
import { type AgentMessage, readAgentMessage, StreamWriter, type ToldOfAgent } from './agent-messages.ts';
import { askPlace, isAsked } from './agent-place.ts';
import { agentSignature } from './agent-signature.ts';
import { type AgentPlace, AgentSocket } from './agent-socket.ts';

/** How an agent is reached, and for which call. It can be sent to another thread. */
export interface AgentConnection {
  /** `wss://`; or `https://`, which is asked where each call's stream goes. Plain ones to addresses that the settings allow. */
  url: string;
  headers: Record<string, string>;
  /** Signs the handshake: see `agent-signature.ts`. */
  secret?: string | undefined;
  connectTimeoutMs: number;
  /** Whether a dropped connection is made once more. */
  reconnect: boolean;
  /** A call in which it makes no sound for so long is ended; 30 seconds without it. */
  silenceMs?: number;
  accountSid: string;
  callSid: string;
  customParameters: Record<string, string>;
}

/** Whether the agent has taken the connection, and why not. */
export type AgentConnected = { connected: true } | ({ connected: false } & AgentFailure);

interface Heard {
  message(message: AgentMessage): void;
  /** A message that means nothing. */
  ignored(): void;
  /** Its part is over, by itself. */
  ended(end: StreamEnd): void;
}

/** What is kept for an agent that isn't connected yet, or again: five seconds. */
const MAX_KEPT = 250;
/** The callee hears nothing while a connection is made once more, in ms; less of it if nothing was heard before. */
const AGAIN_MS = 4000;
const AGAIN_AFTER_SILENCE_MS = 2000;

/** The agent of a call: a WebSocket that we open, and the media-stream protocol over it. */
export class AgentStream {
  /** Frames that the agent was not given. */
  framesMissed = 0;
  #connection: AgentConnection;
  #guard: AddressGuard;
  #heard: Heard;
  #socket: AgentSocket | undefined;
  #budget = new AgentBudget(performance.now());
  #writer: StreamWriter | undefined;
  #started = false;
  #end: StreamEnd | undefined;
  #reconnected = false;
  /** Frames and digits. */
  #kept: (Buffer | string)[] = [];

  constructor(connection: AgentConnection, guard: AddressGuard, heard: Heard) {
    this.#connection = connection;
    this.#guard = guard;
    this.#heard = heard;
  }

  /** Opens the connection. Nothing is thrown; that it could not be opened is how the agent's part ended. */
  async connect(): Promise<AgentConnected> {
    const failure = await this.#connect(this.#connection.connectTimeoutMs);
    if (!failure) return { connected: true };
    this.#over({ reason: failure.reason, text: failure.text });
    return { connected: false, ...failure };
  }

  /** Where the stream goes. */
  async #place(timeoutMs: number): Promise<AgentPlace | AgentFailure> {
    const { url, headers, secret, accountSid, callSid, customParameters } = this.#connection;
    const own: Record<string, string> = { 'X-Trunkline-Call-Id': callSid };
    if (secret) own['X-Trunkline-Signature'] = agentSignature(secret, callSid, new Date());
    if (!isAsked(url)) return { url, headers: { ...headers, ...own }, accountSid };
    return askPlace({ url, headers, own, accountSid, callSid, customParameters }, this.#guard, timeoutMs);
  }

  async #connect(timeoutMs: number): Promise<AgentFailure | undefined> {
    const { accountSid, callSid } = this.#connection;
    const until = performance.now() + timeoutMs;
    const place = await this.#place(timeoutMs);
    if ('reason' in place) return { ...place, text: this.#clean(place.text) };
    if (this.#end) return { reason: 'call_ended', text: 'The call has ended.' };
    const told = {
      message: (data: Buffer, isBinary: boolean) => this.#receive(data, isBinary),
      closed: (end: StreamEnd) => this.#closed(end),
    };
    const leftMs = Math.max(1, Math.round(until - performance.now()));
    const opened = await AgentSocket.open(place, this.#guard, { timeoutMs: leftMs, budget: this.#budget, told });
    if (!(opened instanceof AgentSocket)) return { ...opened, text: this.#clean(opened.text) };
    if (this.#end) {
      opened.close();
      return { reason: 'call_ended', text: 'The call has ended.' };
    }
    this.#socket = opened;
    this.#writer = new StreamWriter({ accountSid, callSid, streamSid: `MZ${randomBytes(16).toString('hex')}` });
    this.#socket.send(this.#writer.connected());
    if (this.#started) this.#begin();
    return undefined;
  }

  start(): void {
    if (this.#started) return;
    this.#started = true;
    if (this.#socket) this.#begin();
  }

  #begin(): void {
    this.#send(this.#writer!.start(this.#connection.customParameters));
    for (const heard of this.#kept.splice(0))
      this.#send(typeof heard === 'string' ? this.#writer!.dtmf(heard) : this.#writer!.media(heard));
  }

  hear(frame: Buffer): void {
    if (this.#end) return;
    if (!this.#socket || !this.#started) this.#keep(frame);
    else if (this.#socket.isBehind) this.framesMissed += 1;
    else {
      this.#socket.frameSent();
      this.#send(this.#writer!.media(frame));
    }
  }

  #keep(heard: Buffer | string): void {
    this.#kept.push(heard);
    if (this.#kept.length > MAX_KEPT && typeof this.#kept.shift() !== 'string') this.framesMissed += 1;
  }

  /** To be told each second. */
  beat(): void {
    this.#socket?.beat();
  }

  digit(digit: string): void {
    if (this.#end) return;
    if (!this.#socket || !this.#started) this.#keep(digit);
    else this.#send(this.#writer!.dtmf(digit));
  }

  /** Tells what the protocol of Twilio has no word for. */
  told(told: ToldOfAgent): void {
    if (this.#writer && this.#started) this.#send(this.#writer.trunkline(told));
  }

  mark(name: string): void {
    if (this.#socket) this.#send(this.#writer!.mark(name));
  }

  #send(text: string): void {
    this.#socket?.send(text);
  }

  #receive(data: Buffer, isBinary: boolean): void {
    const message = isBinary ? undefined : readAgentMessage(data);
    if (message) this.#heard.message(message);
    else this.#heard.ignored();
  }

  #closed(end: StreamEnd): void {
    this.#socket = undefined;
    if (end.reason === 'hung_up' || !this.#connection.reconnect || this.#reconnected) this.#tell(end);
    else void this.#connectAgain(end);
  }

  async #connectAgain(end: StreamEnd): Promise<void> {
    this.#reconnected = true;
    const wasSilent = end.reason === 'frozen' || end.reason === 'vanished';
    const mostMs = wasSilent ? AGAIN_AFTER_SILENCE_MS : AGAIN_MS;
    const failure = await this.#connect(Math.min(this.#connection.connectTimeoutMs, mostMs));
    if (failure) this.#tell({ ...end, text: `${end.text ?? 'It broke off.'} It was not there again: ${failure.text}` });
  }

  /** Ends the agent's part, and tells. */
  #tell(end: StreamEnd): void {
    if (!this.#over(end)) return;
    this.#heard.ended(this.#end!);
  }

  /** @returns false where it was over before */
  #over({ text, ...end }: StreamEnd): boolean {
    if (this.#end) return false;
    this.#end = { ...end, ...(text && { text: this.#clean(text) }) };
    this.#kept = [];
    return true;
  }

  #clean(text: string): string {
    const { headers, secret } = this.#connection;
    return cleanText(text, [...Object.values(headers), ...(secret ? [secret] : [])]);
  }

  /** Lets the agent go in order, as its call's end does, and tells. */
  letGo(end: StreamEnd): void {
    if (!this.#end) this.#goodbye();
    this.#tell(end);
  }

  /** The call is over. @returns how the agent's part ended: by this, or before */
  close(): StreamEnd {
    if (this.#over({ reason: 'call_ended' })) this.#goodbye();
    return this.#end!;
  }

  #goodbye(): void {
    if (this.#writer && this.#started) this.#send(this.#writer.stop());
    this.#socket?.close();
  }
}
