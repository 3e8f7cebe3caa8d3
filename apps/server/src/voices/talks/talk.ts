import type { Ticket } from '../../foundation/tickets/ticket.ts';

/** What talks are opened by, and their path. */
export const TALK = 'talk';

/** A talk that may begin. */
export interface Talk extends Ticket {
  /** As clients see it. */
  agentId: string;
  variables: Record<string, string>;
}
