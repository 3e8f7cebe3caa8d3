import { randomBytes } from 'node:crypto';
import type { ClientRequest, IncomingMessage } from 'node:http';
import { WebSocket } from 'ws';
import type { AddressGuard } from '../../foundation/outbound-http/address-guard.ts';
import { urlFault } from '../../foundation/outbound-http/url-fault.ts';
import { type AgentFailure, agentFailure } from './agent-failure.ts';
import { type AgentMessage, readAgentMessage, StreamWriter } from './agent-messages.ts';
import { agentSignature } from './agent-signature.ts';

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
  accountSid: string;
  callSid: string;
  customParameters: Record<string, string>;
}

/** Whether the agent has taken the connection, and why not. */
export type AgentConnected = { connected: true } | ({ connected: false } & AgentFailure);

/** How a stream ended from the agent's side: it hung up, or the connection broke. */
export type AgentEnd = { kind: 'hung_up' } | { kind: 'dropped'; text: string };

interface Heard {
  message(message: AgentMessage): void;
  /** A message that means nothing. */
  ignored(): void;
  ended(end: AgentEnd): void;
}

/** The longest message: six minutes of sound. */
const MAX_MESSAGE = 4 * 1024 * 1024;
/** What an agent may leave unread before frames are left out, and for how long. */
const MAX_UNREAD = 64 * 1024;
const MAX_UNREAD_MS = 10_000;
/** What is kept for an agent that isn't connected yet, or again: five seconds. */
const MAX_KEPT = 250;
/** An agent that doesn't answer a close is let go of after this. */
const CLOSE_MS = 2000;
/** Closes that mean that the agent is done; 1005: it gave no code (RFC 6455, 7.4.1). */
const HANG_UPS = [1000, 1005];

/** The agent of a call: a WebSocket that we open, and the media-stream protocol over it. */
export class AgentStream {
  /** Frames that a slow agent has missed. */
  framesLeftOut = 0;
  #connection: AgentConnection;
  #guard: AddressGuard;
  #heard: Heard;
  #socket: WebSocket | undefined;
  #writer: StreamWriter | undefined;
  #started = false;
  #ended = false;
  #reconnected = false;
  /** Frames and digits. */
  #kept: (Buffer | string)[] = [];
  #unreadSince: number | undefined;

  constructor(connection: AgentConnection, guard: AddressGuard, heard: Heard) {
    this.#connection = connection;
    this.#guard = guard;
    this.#heard = heard;
  }

  /** Opens the connection. Nothing is thrown. */
  async connect(): Promise<AgentConnected> {
    const { url, accountSid, callSid } = this.#connection;
    const fault = urlFault(this.#guard, url, 'wss:');
    if (fault) return { connected: false, reason: 'address_refused', text: `The agent's URL ${fault}.` };
    const opened = await this.#open();
    if (!(opened instanceof WebSocket)) return { connected: false, ...opened };
    if (this.#ended) {
      opened.close(1000);
      return { connected: false, reason: 'closed', text: 'The call has ended.' };
    }
    this.#socket = opened;
    this.#writer = new StreamWriter({ accountSid, callSid, streamSid: `MZ${randomBytes(16).toString('hex')}` });
    this.#send(this.#writer.connected());
    if (this.#started) this.#begin();
    return { connected: true };
  }

  /** @returns the open socket, or why there is none */
  async #open(): Promise<WebSocket | AgentFailure> {
    const { url, headers, secret, accountSid, callSid, connectTimeoutMs } = this.#connection;
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
    socket.on('message', (data: Buffer, isBinary: boolean) => this.#receive(data, isBinary));
    socket.on('close', (code) => this.#closed(socket, code));
    return await new Promise((resolve) => {
      const timer = setTimeout(
        () => fail({ reason: 'timed_out', text: `The agent took no connection within ${connectTimeoutMs} ms.` }),
        connectTimeoutMs,
      );
      const fail = (failure: AgentFailure) => {
        clearTimeout(timer);
        resolve(failure);
        socket.terminate();
      };
      // Stays for the life of the socket, where 'close' follows an error.
      socket.on('error', (error) => fail(agentFailure(error)));
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
    if (this.#ended) return;
    if (!this.#socket || !this.#started) this.#keep(frame);
    else if (this.#isBehind(this.#socket)) this.framesLeftOut += 1;
    else this.#send(this.#writer!.media(frame));
  }

  #keep(heard: Buffer | string): void {
    this.#kept.push(heard);
    if (this.#kept.length > MAX_KEPT) this.#kept.shift();
  }

  #isBehind(socket: WebSocket): boolean {
    if (socket.bufferedAmount <= MAX_UNREAD) {
      this.#unreadSince = undefined;
      return false;
    }
    const now = performance.now();
    this.#unreadSince ??= now;
    if (now - this.#unreadSince > MAX_UNREAD_MS) socket.terminate();
    return true;
  }

  digit(digit: string): void {
    if (this.#ended) return;
    if (!this.#socket || !this.#started) this.#keep(digit);
    else this.#send(this.#writer!.dtmf(digit));
  }

  mark(name: string): void {
    if (this.#socket) this.#send(this.#writer!.mark(name));
  }

  #send(text: string): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(text);
  }

  #receive(data: Buffer, isBinary: boolean): void {
    if (this.#ended) return;
    const message = isBinary ? undefined : readAgentMessage(data);
    if (message) this.#heard.message(message);
    else this.#heard.ignored();
  }

  #closed(socket: WebSocket, code: number): void {
    if (socket !== this.#socket || this.#ended) return;
    this.#socket = undefined;
    this.#unreadSince = undefined;
    if (HANG_UPS.includes(code)) this.#end({ kind: 'hung_up' });
    else if (this.#connection.reconnect && !this.#reconnected) void this.#connectAgain(code);
    else this.#end({ kind: 'dropped', text: `The agent's connection was closed with ${code}.` });
  }

  async #connectAgain(code: number): Promise<void> {
    this.#reconnected = true;
    const result = await this.connect();
    if (result.connected || this.#ended) return;
    this.#end({
      kind: 'dropped',
      text: `The agent's connection was closed with ${code}, and made no more: ${result.text}`,
    });
  }

  #end(end: AgentEnd): void {
    this.#ended = true;
    this.#kept = [];
    this.#heard.ended(end);
  }

  close(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#kept = [];
    if (this.#writer && this.#started) this.#send(this.#writer.stop());
    const socket = this.#socket;
    socket?.close(1000);
    if (socket) setTimeout(() => socket.terminate(), CLOSE_MS).unref();
  }
}
