import type { SipRequest, SipResponse } from './message.ts';
import { createReply, type Reply } from './reply.ts';
import type { ServerTransaction, TransactionContext } from './transaction.ts';
import { type Flow, isReliable } from './transport.ts';

/** The server transaction of all other requests (RFC 3261 section 17.2.2). */
export class NonInviteServerTransaction implements ServerTransaction {
  readonly request: SipRequest;
  readonly flow: Flow;
  readonly #context: TransactionContext;
  readonly #onEnd: () => void;
  #last: Reply | undefined;
  #isAnswered = false;

  constructor(context: TransactionContext, request: SipRequest, flow: Flow, onEnd: () => void) {
    this.#context = context;
    this.request = request;
    this.flow = flow;
    this.#onEnd = onEnd;
  }

  get isAnswered(): boolean {
    return this.#isAnswered;
  }

  respond(response: SipResponse): void {
    if (this.#isAnswered) return;
    this.#last = createReply(this.#context, this.request, this.flow, response);
    this.#last.send();
    if (response.status < 200) return;
    this.#isAnswered = true;
    // Timer J.
    if (isReliable(this.flow.target.transport)) this.end();
    else this.#context.timers.after(64 * this.#context.values.t1, () => this.end());
  }

  repeat(): void {
    this.#last?.send();
  }

  end(): void {
    this.#onEnd();
  }
}
