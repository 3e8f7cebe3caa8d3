import type { SipRequest, SipResponse } from './message.ts';
import type { Timers, TimerValues } from './timers.ts';
import type { Flow, TransportError } from './transport.ts';
import type { Wire } from './wire.ts';

/** What transactions work with. */
export interface TransactionContext {
  wire: Wire;
  timers: Timers;
  values: TimerValues;
  /** The way back to who sent a request. */
  openBack(request: SipRequest, flow: Flow): Flow | Promise<Flow>;
}

/** Who sent a request, and hears what comes of it (RFC 3261 section 17.1). */
export interface ClientTransactionUser {
  /** Provisional responses, then a final one; of an INVITE each 2xx that arrives, again too. */
  onResponse(response: SipResponse, flow: Flow): void;
  /** No final response came in time, or none at all to an INVITE. */
  onTimeout(): void;
  /** The request could not be handed over. Where `mayHaveLeft` is false, the peer surely has none of it. */
  onFailure(error: TransportError, mayHaveLeft: boolean): void;
}

export interface ClientTransaction {
  readonly request: SipRequest;
  readonly flow: Flow;
  /** May change: when a call is over, its INVITE's transaction stays for 64 × T1, and the call need not. */
  user: ClientTransactionUser;
  receive(response: SipResponse, flow: Flow): void;
  /** Ends it without a word to its user. */
  end(): void;
}

export interface ServerTransaction {
  readonly request: SipRequest;
  readonly flow: Flow;
  /** Sends a response, which is kept for requests that come again. After a final one nothing is sent. */
  respond(response: SipResponse): void;
  readonly isAnswered: boolean;
  /** The request came again. */
  repeat(): void;
  end(): void;
}
