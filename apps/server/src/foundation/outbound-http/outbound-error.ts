/**
 * Why a request to a customer's address brought no answer: the URL or a header is none that can be sent; the address
 * lies in the server's network; no connection came about; it broke; the time ran out; the answer is too large; the
 * caller gave up.
 */
export type OutboundErrorCode =
  | 'invalid_request'
  | 'blocked_address'
  | 'connect_failed'
  | 'connection_lost'
  | 'timeout'
  | 'response_too_large'
  | 'aborted';

/** The message is for the client, and names no address that a name stands for. */
export class OutboundError extends Error {
  readonly code: OutboundErrorCode;

  constructor(code: OutboundErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}
