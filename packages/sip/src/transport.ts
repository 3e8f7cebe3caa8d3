import type { SipMessage } from './message.ts';

export type TransportName = 'udp' | 'tcp' | 'tls';

/** An address that a message can be sent to. */
export interface Target {
  transport: TransportName;
  /** An IP address. */
  address: string;
  port: number;
  /** TLS: the name that the peer's certificate must bear. An IP address where there is no name. */
  serverName?: string;
}

/** Why a message could not be handed over. `dns`, `not_allowed` and `not_granted` come from choosing the target, the rest from sockets. */
export type TransportErrorCode =
  | 'dns'
  | 'not_allowed'
  | 'not_granted'
  | 'unsupported'
  | 'refused'
  | 'timeout'
  | 'unreachable'
  | 'tls'
  | 'lost'
  | 'stopped';

/** Nothing was sent, or nobody can know whether it was: what throws it says which. */
export class TransportError extends Error {
  override name = 'TransportError';
  readonly code: TransportErrorCode;

  constructor(code: TransportErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** A way to one peer: an address behind our UDP socket, or a connection. */
export interface Flow {
  readonly target: Target;
  /** What Via and Contact name for this peer (RFC 3261 sections 18.1.1 and 8.1.1.8). */
  readonly local: { host: string; port: number };
  /** Whether the peer opened it, from a port that says nothing. */
  readonly isInbound: boolean;
  /** False once the connection is closed. */
  readonly isOpen: boolean;
  /** Hands bytes to the operating system. Rejects with a `TransportError` where it didn't take them. */
  send(bytes: Buffer): Promise<void>;
  /** Calls once when the connection is closed; returns how to stop that. UDP never closes. */
  onClosed(run: () => void): () => void;
}

/** A message that came in, and the way back. */
export interface Received {
  message: SipMessage;
  flow: Flow;
}

export const defaultPort = (transport: TransportName): number => (transport === 'tls' ? 5061 : 5060);

/** UDP alone repeats and loses messages (RFC 3261 section 17). */
export const isReliable = (transport: TransportName): boolean => transport !== 'udp';
