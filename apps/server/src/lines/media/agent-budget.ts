/** Bytes that are read at once: some ten minutes of sound; and in a second: that of ten seconds. */
const BYTES = 8 * 1024 * 1024;
const BYTES_A_SECOND = 128 * 1024;
/** Messages that are read at once: two minutes of sound in pieces of 20 ms; and in a second: that of six seconds. */
const MESSAGES = 6000;
const MESSAGES_A_SECOND = 300;

/** What one agent may send that is read, so that the calls beside its own keep their sound. */
export class AgentBudget {
  #bytes = BYTES;
  #messages = MESSAGES;
  #at: number;

  /** @param now milliseconds of a clock that only goes forward */
  constructor(now: number) {
    this.#at = now;
  }

  /**
   * A message was read.
   * @returns for how many milliseconds no other one is
   */
  spend(bytes: number, now: number): number {
    const seconds = Math.max(0, now - this.#at) / 1000;
    this.#at = now;
    this.#bytes = Math.min(BYTES, this.#bytes + seconds * BYTES_A_SECOND) - bytes;
    this.#messages = Math.min(MESSAGES, this.#messages + seconds * MESSAGES_A_SECOND) - 1;
    return 1000 * Math.max(0, -this.#bytes / BYTES_A_SECOND, -this.#messages / MESSAGES_A_SECOND);
  }
}
