import type { ClientRequest, IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { WebSocket } from 'ws';
import type { AddressGuard } from '../../foundation/outbound-http/address-guard.ts';
import { urlFault } from '../../foundation/outbound-http/url-fault.ts';
import type { AgentBudget } from './agent-budget.ts';
import { endOfClose, type StreamEnd } from './agent-end.ts';
import { type AgentFailure, agentFailure } from './agent-failure.ts';
import { AgentPings } from './agent-pings.ts';
import { tcpTakes } from './tcp-takes.ts';

/** Where an agent is. */
export interface AgentPlace {
  /** `wss://`, or `ws://` to an address that the settings allow. */
  url: string;
  headers: Record<string, string>;
  /** For whom names are looked up. */
  accountSid: string;
}

/** What a connection tells, once it is open. */
interface Told {
  message(data: Buffer, isBinary: boolean): void;
  /** It has ended, by whatever; once. */
  closed(end: StreamEnd): void;
}

/** The longest message: six minutes of sound. */
const MAX_MESSAGE = 4 * 1024 * 1024;
/** An agent that doesn't answer a close is let go of after this. */
const CLOSE_MS = 2000;
/** Seconds after which an agent is let go of that sends more than is read all the time. */
const SLOWED_FOR = 10;
const UNANSWERED = 'For five seconds no ping was answered, and nothing else came';

/** One connection to an agent: read as fast as its budget lets, asked whether it is still there, and closed. */
export class AgentSocket {
  #socket: WebSocket;
  #budget: AgentBudget;
  #told: Told;
  /** What is below the socket, and what is known of who is at its other end. */
  #tcp: Socket | undefined;
  #pings = new AgentPings();
  /** Ends the wait until it is read again. */
  #slowed: NodeJS.Timeout | undefined;
  #beatsSlowed = 0;
  /** What broke the connection: known before it is closed. */
  #broken: StreamEnd | undefined;
  #isClosing = false;

  private constructor(socket: WebSocket, budget: AgentBudget, told: Told) {
    this.#socket = socket;
    this.#budget = budget;
    this.#told = told;
  }

  /** Opens one. Nothing is thrown. @returns it, or why there is none */
  static async open(
    { url, headers, accountSid }: AgentPlace,
    guard: AddressGuard,
    { timeoutMs, budget, told }: { timeoutMs: number; budget: AgentBudget; told: Told },
  ): Promise<AgentSocket | AgentFailure> {
    const fault = urlFault(guard, url, 'wss:');
    if (fault) return { reason: 'address_refused', text: `The agent's URL ${fault}.` };
    try {
      const socket = new WebSocket(url, {
        headers,
        lookup: guard.lookupFor(accountSid),
        perMessageDeflate: false,
        maxPayload: MAX_MESSAGE,
        skipUTF8Validation: true,
      });
      return await new AgentSocket(socket, budget, told).#open(timeoutMs);
    } catch (error) {
      return agentFailure(error as Error);
    }
  }

  #open(timeoutMs: number): Promise<AgentSocket | AgentFailure> {
    const socket = this.#socket;
    let isOpen = false;
    socket.on('message', (data: Buffer, isBinary: boolean) => this.#receive(data, isBinary));
    socket.on('close', (code, said) => isOpen && this.#closed(code, said.toString()));
    socket.on('pong', (name) => this.#pings.answered(name.toString()));
    socket.on('upgrade', (response) => {
      this.#tcp = response.socket;
    });
    return new Promise((resolve) => {
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
        if (isOpen) this.#broken ??= endOfClose(1006, '', error);
        fail(agentFailure(error));
      });
      socket.on('unexpected-response', (_request: ClientRequest, response: IncomingMessage) => {
        response.destroy();
        const { statusCode } = response;
        fail({ reason: 'rejected', text: `The agent answered the handshake with ${statusCode}.`, statusCode });
      });
      socket.on('open', () => {
        isOpen = true;
        clearTimeout(timer);
        resolve(this);
      });
    });
  }

  send(text: string): void {
    if (this.#socket.readyState === WebSocket.OPEN) this.#socket.send(text);
  }

  /** Whether no more sound is to be sent: so much is under way that it would be heard late. */
  get isBehind(): boolean {
    return this.#pings.isBehind;
  }

  /** 20 ms of sound are sent. */
  frameSent(): void {
    this.#pings.sent();
  }

  /** To be told each second: a ping is sent, or the agent let go that doesn't answer them. */
  beat(): void {
    if (this.#socket.readyState !== WebSocket.OPEN || this.#broken) return;
    if (this.#slowed) {
      this.#beatsSlowed += 1;
      if (this.#beatsSlowed > SLOWED_FOR) this.#refuse();
      return;
    }
    this.#beatsSlowed = 0;
    const due = this.#pings.beat(this.#tcp!.bytesRead);
    if (due === 'unanswered') void this.#lose();
    else if (due) this.#socket.ping(due.ping);
  }

  /** Its part is over: what it sends is never all read. */
  #refuse(): void {
    this.#broken = { reason: 'too_large', text: `It sent more than is read, for ${SLOWED_FOR} seconds.` };
    this.#readAgain();
    this.#socket.terminate();
  }

  #readAgain(): void {
    clearTimeout(this.#slowed);
    this.#slowed = undefined;
    this.#socket.resume();
  }

  /** What it may still say is not heard. */
  async #lose(): Promise<void> {
    this.#broken = { reason: 'frozen', text: `${UNANSWERED}.` };
    const takes = await tcpTakes(this.#tcp!);
    if (takes === 'yes') this.#broken.text = `${UNANSWERED}, though its side took what was sent.`;
    if (takes === 'no') this.#broken = { reason: 'vanished', text: `${UNANSWERED}; what was sent did not arrive.` };
    this.#socket.terminate();
  }

  #receive(data: Buffer, isBinary: boolean): void {
    if (this.#isClosing || this.#broken) return;
    const restMs = this.#budget.spend(data.length, performance.now());
    if (restMs > 0 && !this.#slowed) {
      this.#socket.pause();
      this.#slowed = setTimeout(() => this.#readAgain(), restMs);
    }
    this.#told.message(data, isBinary);
  }

  #closed(code: number, said: string): void {
    clearTimeout(this.#slowed);
    this.#slowed = undefined;
    if (!this.#isClosing) this.#told.closed(this.#broken ?? endOfClose(code, said));
  }

  /** Ends it in order; nothing is told any more. */
  close(): void {
    this.#isClosing = true;
    if (this.#slowed) this.#readAgain();
    this.#socket.close(1000);
    setTimeout(() => this.#socket.terminate(), CLOSE_MS).unref();
  }
}
