import type { Ticket } from '../../../foundation/tickets/ticket.ts';

/** What listening is opened by, and its path. */
export const LISTEN = 'listen';

/** A call that somebody may listen to. */
export interface Listening extends Ticket {
  /** UUID. */
  roomId: string;
  /** Of the key or session that asked: its right to listen ends with it. */
  keyHash: string;
}
