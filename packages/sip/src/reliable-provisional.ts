import type { Core } from './core.ts';
import { cseqOf, type SipResponse, sdpOf } from './message.ts';
import type { Session } from './session.ts';
import type { Timer } from './timers.ts';
import type { ServerTransaction } from './transaction.ts';

/** Sends provisional responses until the caller acknowledges them by PRACK, one at a time (RFC 3262 section 3). */
export class ReliableProvisional {
  /** Called once when the one that waits is acknowledged. */
  onAcknowledged: (() => void) | undefined;
  readonly #core: Core;
  readonly #transaction: ServerTransaction;
  readonly #onLost: () => void;
  #rseq: number;
  #timers: Timer[] = [];

  /** @param onLost no PRACK came in 64 × T1 */
  constructor(core: Core, transaction: ServerTransaction, session: Session, onLost: () => void) {
    this.#core = core;
    this.#transaction = transaction;
    this.#onLost = onLost;
    // Section 3: from 1 to 2**31 - 1.
    this.#rseq = 1 + Math.floor(core.random.number() * 2 ** 30);
    session.onPrack = (prack) => this.#receive(session, prack);
  }

  get isWaiting(): boolean {
    return this.#timers.length > 0;
  }

  send(response: SipResponse): void {
    if (this.isWaiting) return;
    this.#rseq += 1;
    response.headers.add('require', '100rel').add('rseq', String(this.#rseq));
    this.#transaction.respond(response);
    const { t1 } = this.#core.values;
    this.#timers.push(
      this.#core.timers.after(64 * t1, () => {
        this.stop();
        this.#onLost();
      }),
    );
    this.#sendAgainAfter(response, t1);
  }

  stop(): void {
    for (const timer of this.#timers) timer.clear();
    this.#timers = [];
  }

  #sendAgainAfter(response: SipResponse, ms: number): void {
    const timers = this.#timers;
    timers.push(
      this.#core.timers.after(ms, () => {
        if (this.#timers !== timers) return;
        this.#transaction.repeat();
        this.#sendAgainAfter(response, 2 * ms);
      }),
    );
  }

  #receive(session: Session, prack: ServerTransaction): void {
    const rack = /^(\d+)\s+(\d+)\s+(\S+)$/.exec(prack.request.headers.get('rack') ?? '');
    const isMine = Number(rack?.[1]) === this.#rseq && Number(rack?.[2]) === cseqOf(this.#transaction.request).number;
    if (this.isWaiting && isMine && rack?.[3] === 'INVITE') this.#acknowledge(session, prack);
    else session.respond(prack, 481);
  }

  #acknowledge(session: Session, prack: ServerTransaction): void {
    this.stop();
    const answer = sdpOf(prack.request);
    session.respond(prack, 200);
    if (answer !== undefined) session.tell('onAnswer', answer);
    const { onAcknowledged } = this;
    this.onAcknowledged = undefined;
    onAcknowledged?.();
  }
}
