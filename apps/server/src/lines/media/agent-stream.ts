import { randomBytes } from 'node:crypto';
import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { WebSocket } from 'ws';
import type { AddressGuard } from '../../foundation/outbound-http/address-guard.ts';
import { urlFault } from '../../foundation/outbound-http/url-fault.ts';
import { AgentBudget } from './agent-budget.ts';
import { cleanText, endOfClose, type StreamEnd } from './agent-end.ts';
import { type AgentFailure, agentFailure } from './agent-failure.ts';
import { type AgentMessage, readAgentMessage, StreamWriter } from './agent-messages.ts';
import { AgentPings } from './agent-pings.ts';
import { agentSignature } from './agent-signature.ts';
import { tcpTakes } from './tcp-takes.ts';

/** How an agent is reached, and for which call. It can be sent to another thread. */
export interface AgentConnection {
  /** `wss://`, or `ws://` to an address that the settings allow. */
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

/** The longest message: six minutes of sound. */
const MAX_MESSAGE = 4 * 1024 * 1024;
/** What is kept for an agent that isn't connected yet, or again: five seconds. */
const MAX_KEPT = 250;
/** An agent that doesn't answer a close is let go of after this. */
const CLOSE_MS = 2000;
/** The callee hears nothing while a connection is made once more, in ms; less of it if nothing was heard before. */
const AGAIN_MS = 4000;
const AGAIN_AFTER_SILENCE_MS = 2000;
/** Seconds after which an agent is let go of that sends more than is read all the time. */
const SLOWED_FOR = 10;
const UNANSWERED = 'For five seconds no ping was answered, and nothing else came';

/** The agent of a call: a WebSocket that we open, and the media-stream protocol over it. */
export class AgentStream {
  /** Frames that the agent was not given. */
  framesMissed = 0;
  #connection: AgentConnection;
  #guard: AddressGuard;
  #heard: Heard;
  #socket: WebSocket | undefined;
  /** What is below the socket, and what is known of who is at its other end. */
  #tcp: Socket | undefined;
  #pings = new AgentPings();
  #budget = new AgentBudget(performance.now());
  /** Ends the wait until it is read again. */
  #slowed: NodeJS.Timeout | undefined;
  #beatsSlowed = 0;
  #writer: StreamWriter | undefined;
  #started = false;
  #end: StreamEnd | undefined;
  /** What broke the connection: known before it is closed. */
  #broken: StreamEnd | undefined;
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

  async #connect(timeoutMs: number): Promise<AgentFailure | undefined> {
    const { url, accountSid, callSid } = this.#connection;
    const fault = urlFault(this.#guard, url, 'wss:');
    if (fault) return { reason: 'address_refused', text: `The agent's URL ${fault}.` };
    const opened = await this.#open(timeoutMs);
    if (!(opened instanceof WebSocket)) return { ...opened, text: this.#clean(opened.text) };
    if (this.#end) {
      opened.close(1000);
      return { reason: 'call_ended', text: 'The call has ended.' };
    }
    this.#socket = opened;
    this.#pings = new AgentPings();
    this.#broken = undefined;
    this.#writer = new StreamWriter({ accountSid, callSid, streamSid: `MZ${randomBytes(16).toString('hex')}` });
    this.#send(this.#writer.connected());
    if (this.#started) this.#begin();
    return undefined;
  }

  /** @returns the open socket, or why there is none */
  async #open(timeoutMs: number): Promise<WebSocket | AgentFailure> {
    const { url, headers, secret, accountSid, callSid } = this.#connection;
    const own: Record<string, string> = { 'X-Trunkline-Call-Id': callSid };
    if (secret) own['X-Trunkline-Signature'] = agentSignature(secret, callSid, new Date());
    let socket: WebSocket;
    try {
      socket = new WebSocket(url, {
        headers: { ...headers, ...own },
        lookup: this.#guard.lookupFor(accountSid),
        perMessageDeflate: false,
        maxPayload: MAX_MESSAGE,
        skipUTF8Validation: true,
      });
    } catch (error) {
      return agentFailure(error as Error);
    }
    socket.on('message', (data: Buffer, isBinary: boolean) => this.#receive(socket, data, isBinary));
    socket.on('close', (code, said) => this.#closed(socket, code, said.toString()));
    socket.on('pong', (name) => socket === this.#socket && this.#pings.answered(name.toString()));
    socket.on('upgrade', (response) => {
      this.#tcp = response.socket;
    });
    return await new Promise((resolve) => {
      const timer = setTimeout(
        () => fail({ reason: 'timed_out', text: `The agent took no connection within ${timeoutMs} ms.` }),
        timeoutMs,
      );
      const fail = (failure: AgentFailure) => {
        clearTimeout(timer);
        resolve(failure);
        socket.terminate();
      };
      // Stays for the life of the socket, where 'close' follows an error.
      socket.on('error', (error: Error) => {
        if (socket === this.#socket) this.#broken ??= endOfClose(1006, '', error);
        fail(agentFailure(error));
      });
      socket.on('unexpected-response', (_request: ClientRequest, response: IncomingMessage) => {
        response.destroy();
        const { statusCode } = response;
        fail({ reason: 'rejected', text: `The agent answered the handshake with ${statusCode}.`, statusCode });
      });
      socket.on('open', () => {
        clearTimeout(timer);
        resolve(socket);
      });
    });
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
    else if (this.#pings.isBehind) this.framesMissed += 1;
    else {
      this.#pings.sent();
      this.#send(this.#writer!.media(frame));
    }
  }

  #keep(heard: Buffer | string): void {
    this.#kept.push(heard);
    if (this.#kept.length > MAX_KEPT && typeof this.#kept.shift() !== 'string') this.framesMissed += 1;
  }

  /** To be told each second: a ping is sent, or the agent let go that doesn't answer them. */
  beat(): void {
    const socket = this.#socket;
    if (socket?.readyState !== WebSocket.OPEN || this.#broken) return;
    if (this.#slowed) {
      this.#beatsSlowed += 1;
      if (this.#beatsSlowed > SLOWED_FOR) this.#refuse(socket);
      return;
    }
    this.#beatsSlowed = 0;
    const due = this.#pings.beat(this.#tcp!.bytesRead);
    if (due === 'unanswered') void this.#lose(socket);
    else if (due) socket.ping(due.ping);
  }

  /** Its part is over: what it sends is never all read. */
  #refuse(socket: WebSocket): void {
    this.#broken = { reason: 'too_large', text: `It sent more than is read, for ${SLOWED_FOR} seconds.` };
    this.#readAgain(socket);
    socket.terminate();
  }

  #readAgain(socket: WebSocket): void {
    clearTimeout(this.#slowed);
    this.#slowed = undefined;
    socket.resume();
  }

  /** What it may still say is not heard. */
  async #lose(socket: WebSocket): Promise<void> {
    this.#broken = { reason: 'frozen', text: `${UNANSWERED}.` };
    const takes = await tcpTakes(this.#tcp!);
    if (takes === 'yes') this.#broken.text = `${UNANSWERED}, though its side took what was sent.`;
    if (takes === 'no') this.#broken = { reason: 'vanished', text: `${UNANSWERED}; what was sent did not arrive.` };
    socket.terminate();
  }

  digit(digit: string): void {
    if (this.#end) return;
    if (!this.#socket || !this.#started) this.#keep(digit);
    else this.#send(this.#writer!.dtmf(digit));
  }

  mark(name: string): void {
    if (this.#socket) this.#send(this.#writer!.mark(name));
  }

  #send(text: string): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(text);
  }

  #receive(socket: WebSocket, data: Buffer, isBinary: boolean): void {
    if (this.#end || this.#broken) return;
    const restMs = this.#budget.spend(data.length, performance.now());
    if (restMs > 0 && !this.#slowed) {
      socket.pause();
      this.#slowed = setTimeout(() => this.#readAgain(socket), restMs);
    }
    const message = isBinary ? undefined : readAgentMessage(data);
    if (message) this.#heard.message(message);
    else this.#heard.ignored();
  }

  #closed(socket: WebSocket, code: number, said: string): void {
    if (socket !== this.#socket || this.#end) return;
    this.#socket = undefined;
    clearTimeout(this.#slowed);
    this.#slowed = undefined;
    const end = this.#broken ?? endOfClose(code, said);
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
    const socket = this.#socket;
    if (socket && this.#slowed) this.#readAgain(socket);
    socket?.close(1000);
    if (socket) setTimeout(() => socket.terminate(), CLOSE_MS).unref();
  }
}
