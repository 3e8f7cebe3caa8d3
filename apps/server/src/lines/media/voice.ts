/** Who speaks to the callee: an agent over its WebSocket, or the sound of a test call. Speaks by a playout of the call. */
export interface Voice {
  /** The call is answered: what is heard from now on counts. */
  start(): void;
  /** 20 ms of what the callee says, µ-law. */
  hear(frame: Buffer): void;
  digit(digit: string): void;
  /** All that was said before this mark has been played, or cleared. */
  mark(name: string): void;
  close(): void;
}
