import type { SipRequest, SipResponse } from './message.ts';
import type { Reason } from './reason.ts';
import { createReply, type Reply } from './reply.ts';
import type { Timer } from './timers.ts';
import type { ServerTransaction, TransactionContext } from './transaction.ts';
import { type Flow, isReliable } from './transport.ts';

type State = 'proceeding' | 'completed' | 'confirmed' | 'accepted' | 'terminated';

/**
 * The INVITE server transaction (RFC 3261 section 17.2.1, with the Accepted state of RFC 6026 section 7.1). A 2xx is sent
 * once by it: who answers the call sends it again until the ACK comes (section 13.3.1.4).
 */
export class InviteServerTransaction implements ServerTransaction {
  readonly request: SipRequest;
  readonly flow: Flow;
  /** Called when the caller cancels before the final response. */
  onCancel: ((reasons: Reason[]) => void) | undefined;
  readonly #context: TransactionContext;
  readonly #onEnd: () => void;
  #state: State = 'proceeding';
  #last: Reply | undefined;
  /** Timer G. */
  #again: Timer | undefined;
  /** Timer H, I or L. */
  #limit: Timer | undefined;

  constructor(context: TransactionContext, request: SipRequest, flow: Flow, onEnd: () => void) {
    this.#context = context;
    this.request = request;
    this.flow = flow;
    this.#onEnd = onEnd;
  }

  get isAnswered(): boolean {
    return this.#state !== 'proceeding';
  }

  /** Its 2xx was sent: the ACK is for who answered the call, whatever branch it bears. */
  get isAccepted(): boolean {
    return this.#state === 'accepted';
  }

  respond(response: SipResponse): void {
    if (this.isAnswered) return;
    const { values } = this.#context;
    this.#last = createReply(this.#context, this.request, this.flow, response);
    this.#last.send();
    if (response.status < 200) return;
    this.#state = response.status < 300 ? 'accepted' : 'completed';
    this.#stay(64 * values.t1);
    if (this.#state === 'completed' && !isReliable(this.flow.target.transport)) this.#sendAgainAfter(values.t1);
  }

  repeat(): void {
    if (this.#state === 'proceeding' || this.#state === 'completed') this.#last?.send();
  }

  /** The ACK of a response that is no 2xx came. */
  acknowledge(): void {
    if (this.#state !== 'completed') return;
    this.#state = 'confirmed';
    this.#again?.clear();
    if (isReliable(this.flow.target.transport)) this.end();
    else this.#stay(this.#context.values.t4);
  }

  end(): void {
    if (this.#state === 'terminated') return;
    this.#state = 'terminated';
    this.#again?.clear();
    this.#limit?.clear();
    this.#onEnd();
  }

  #stay(ms: number): void {
    this.#limit?.clear();
    this.#limit = this.#context.timers.after(ms, () => this.end());
  }

  #sendAgainAfter(ms: number): void {
    this.#again = this.#context.timers.after(ms, () => {
      this.#last?.send();
      this.#sendAgainAfter(Math.min(2 * ms, this.#context.values.t2));
    });
  }
}
