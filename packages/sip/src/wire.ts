import type { SipMessage } from './message.ts';
import type { Flow } from './transport.ts';
import { writeMessage } from './write-message.ts';

/** A message as it is sent, and sent again. */
export interface Outgoing {
  message: SipMessage;
  bytes: Buffer;
}

/** Sees each message that is sent, again too, or received. */
export type WireListener = (direction: 'sent' | 'received', message: SipMessage, flow: Flow) => void;

/** Throws a `SipSyntaxError` where the message can't be written. */
export const prepare = (message: SipMessage): Outgoing => ({ message, bytes: Buffer.from(writeMessage(message)) });

/** Where all messages pass. */
export interface Wire {
  /** Rejects with a `TransportError`. */
  send(outgoing: Outgoing, flow: Flow): Promise<void>;
}

export const createWire = (listener: WireListener | undefined): Wire => ({
  send({ message, bytes }, flow) {
    listener?.('sent', message, flow);
    return flow.send(bytes);
  },
});
