import type { Core } from './core.ts';
import type { SipResponse } from './message.ts';
import type { Timer } from './timers.ts';
import type { ServerTransaction } from './transaction.ts';

/** Sends a 2xx to an INVITE, over any transport again and again until its ACK comes (RFC 3261 section 13.3.1.4). */
export class SentAnswer {
  readonly cseq: number;
  readonly #core: Core;
  readonly #transaction: ServerTransaction;
  readonly #response: SipResponse;
  readonly #onLost: () => void;
  readonly #limit: Timer;
  #again: Timer | undefined;

  /** @param onLost no ACK came in 64 × T1 */
  constructor(core: Core, transaction: ServerTransaction, response: SipResponse, cseq: number, onLost: () => void) {
    this.#core = core;
    this.#transaction = transaction;
    this.#response = response;
    this.cseq = cseq;
    this.#onLost = onLost;
    transaction.respond(response);
    const { t1 } = core.values;
    this.#limit = core.timers.after(64 * t1, () => {
      this.stop();
      this.#onLost();
    });
    this.#sendAgainAfter(t1);
  }

  /** The ACK came, or nobody waits for it any more. */
  stop(): void {
    this.#again?.clear();
    this.#limit.clear();
  }

  #sendAgainAfter(ms: number): void {
    this.#again = this.#core.timers.after(ms, () => {
      this.#core.transactions.repeatAnswer(this.#transaction, this.#response);
      this.#sendAgainAfter(Math.min(2 * ms, this.#core.values.t2));
    });
  }
}
