import type { SipRequest, SipResponse } from './message.ts';
import type { Timer } from './timers.ts';
import type { ClientTransaction, ClientTransactionUser, TransactionContext } from './transaction.ts';
import { type Flow, isReliable, TransportError } from './transport.ts';
import { type Outgoing, prepare } from './wire.ts';

type State = 'trying' | 'proceeding' | 'terminated';

/**
 * The client transaction of all other requests (RFC 3261 section 17.1.2). It ends with the final response: one that comes
 * again, which timer K would wait for, is dropped as a stray.
 */
export class NonInviteClientTransaction implements ClientTransaction {
  readonly request: SipRequest;
  readonly flow: Flow;
  user: ClientTransactionUser;
  readonly #outgoing: Outgoing;
  readonly #context: TransactionContext;
  readonly #onEnd: () => void;
  readonly #stopWatching: () => void;
  #state: State = 'trying';
  #mayHaveLeft = false;
  /** Timer E. */
  #again: Timer | undefined;
  /** Timer F. */
  #limit: Timer | undefined;

  constructor(
    context: TransactionContext,
    request: SipRequest,
    flow: Flow,
    user: ClientTransactionUser,
    onEnd: () => void,
  ) {
    this.#context = context;
    this.request = request;
    this.flow = flow;
    this.user = user;
    this.#onEnd = onEnd;
    this.#outgoing = prepare(request);
    this.#stopWatching = flow.onClosed(() =>
      this.#fail(new TransportError('lost', 'The connection closed before an answer came.')),
    );
  }

  /** @param limitMs how long a final response may take; 64 × T1 unless told otherwise */
  start(limitMs = 64 * this.#context.values.t1): void {
    const { timers, values } = this.#context;
    this.#limit = timers.after(limitMs, () => {
      this.end();
      this.user.onTimeout();
    });
    if (!isReliable(this.flow.target.transport)) this.#sendAgainAfter(values.t1);
    this.#send();
  }

  receive(response: SipResponse, flow: Flow): void {
    if (this.#state !== 'trying' && this.#state !== 'proceeding') return;
    if (response.status < 200) this.#state = 'proceeding';
    else this.end();
    this.user.onResponse(response, flow);
  }

  end(): void {
    if (this.#state === 'terminated') return;
    this.#state = 'terminated';
    this.#again?.clear();
    this.#limit?.clear();
    this.#stopWatching();
    this.#onEnd();
  }

  #send(): void {
    this.#context.wire.send(this.#outgoing, this.flow).then(
      () => {
        this.#mayHaveLeft = true;
      },
      (error: TransportError) => {
        if (!this.#mayHaveLeft) this.#fail(error);
      },
    );
  }

  #sendAgainAfter(ms: number): void {
    this.#again = this.#context.timers.after(ms, () => {
      this.#send();
      const { t2 } = this.#context.values;
      this.#sendAgainAfter(this.#state === 'proceeding' ? t2 : Math.min(2 * ms, t2));
    });
  }

  #fail(error: TransportError): void {
    if (this.#state !== 'trying' && this.#state !== 'proceeding') return;
    this.end();
    this.user.onFailure(error, this.#mayHaveLeft);
  }
}
