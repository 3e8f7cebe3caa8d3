/** What one request may have of its own. */
export interface RequestOptions {
  /** Ends the request; it then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** Milliseconds that one attempt may take, answer and all; the client's by default. */
  timeoutMs?: number;
  /** How often it is sent again where that is safe; the client's by default. */
  maxRetries?: number;
  /** Sent beside those of the client. */
  headers?: Record<string, string>;
}
