import type { DigitsSent } from '../media/digits.ts';

/** Requests for digits that may wait in a call. */
export const MOST_WAITING = 8;

/** The digits that a call is to be sent: one request after the other, each once. */
export class DigitLine {
  #waiting = 0;
  #last: Promise<unknown> = Promise.resolve();

  /** @param act sends those of this request, once its turn has come @returns what came of it; nothing is thrown */
  async send(act: () => Promise<DigitsSent>): Promise<DigitsSent> {
    if (this.#waiting >= MOST_WAITING) return { isSent: false, reason: 'too_many' };
    this.#waiting += 1;
    const sent = this.#last.then(act).catch((): DigitsSent => ({ isSent: false, reason: 'error' }));
    this.#last = sent;
    return await sent.finally(() => {
      this.#waiting -= 1;
    });
  }
}
