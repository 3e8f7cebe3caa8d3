import { createRequest, cseqOf, type SipRequest, type SipResponse } from './message.ts';
import type { Timer } from './timers.ts';
import type { ClientTransaction, ClientTransactionUser, TransactionContext } from './transaction.ts';
import { type Flow, isReliable, TransportError } from './transport.ts';
import { type Outgoing, prepare } from './wire.ts';

type State = 'calling' | 'proceeding' | 'completed' | 'accepted' | 'terminated';

/** The INVITE client transaction (RFC 3261 section 17.1.1, with the Accepted state of RFC 6026 section 7.2). */
export class InviteClientTransaction implements ClientTransaction {
  readonly request: SipRequest;
  readonly flow: Flow;
  user: ClientTransactionUser;
  /** Until a final response. */
  #outgoing: Outgoing | undefined;
  readonly #context: TransactionContext;
  readonly #onEnd: () => void;
  readonly #stopWatching: () => void;
  #state: State = 'calling';
  #mayHaveLeft = false;
  /** Timer A. */
  #again: Timer | undefined;
  /** Timer B, D or M. */
  #limit: Timer | undefined;
  #ack: Outgoing | undefined;

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
    this.#stopWatching = flow.onClosed(() => this.#lose());
  }

  start(): void {
    const { timers, values } = this.#context;
    this.#limit = timers.after(64 * values.t1, () => this.#timeOut());
    if (!isReliable(this.flow.target.transport)) this.#sendAgainAfter(values.t1);
    this.#send();
  }

  /** Takes up a transaction whose INVITE another process has sent: waits for its final response. */
  resume(): void {
    this.#state = 'proceeding';
    this.#mayHaveLeft = true;
  }

  receive(response: SipResponse, flow: Flow): void {
    if (response.status < 200) this.#receiveProvisional(response, flow);
    else if (response.status < 300) this.#receiveSuccess(response, flow);
    else this.#receiveRefusal(response, flow);
  }

  end(): void {
    if (this.#state === 'terminated') return;
    this.#state = 'terminated';
    this.#again?.clear();
    this.#limit?.clear();
    this.#stopWatching();
    this.#onEnd();
  }

  get #isOpen(): boolean {
    return this.#state === 'calling' || this.#state === 'proceeding';
  }

  #send(): void {
    if (!this.#outgoing) return;
    this.#context.wire.send(this.#outgoing, this.flow).then(
      () => {
        this.#mayHaveLeft = true;
      },
      (error: TransportError) => this.#fail(error),
    );
  }

  #sendAgainAfter(ms: number): void {
    this.#again = this.#context.timers.after(ms, () => {
      this.#send();
      this.#sendAgainAfter(2 * ms);
    });
  }

  #receiveProvisional(response: SipResponse, flow: Flow): void {
    if (!this.#isOpen) return;
    this.#state = 'proceeding';
    this.#again?.clear();
    this.#limit?.clear();
    this.user.onResponse(response, flow);
  }

  #receiveSuccess(response: SipResponse, flow: Flow): void {
    if (this.#state === 'completed' || this.#state === 'terminated') return;
    // It stays for 2xx that come again, and for those of other forks.
    if (this.#isOpen) this.#close('accepted', 64 * this.#context.values.t1);
    this.user.onResponse(response, flow);
  }

  #receiveRefusal(response: SipResponse, flow: Flow): void {
    if (this.#state === 'completed') this.#acknowledge();
    if (!this.#isOpen) return;
    this.#ack = prepare(ackOf(this.request, response));
    this.#acknowledge();
    this.#close('completed', isReliable(this.flow.target.transport) ? 0 : 64 * this.#context.values.t1);
    this.user.onResponse(response, flow);
  }

  #acknowledge(): void {
    if (this.#ack) this.#context.wire.send(this.#ack, this.flow).catch(() => {});
  }

  #close(state: State, staysMs: number): void {
    this.#state = state;
    this.#outgoing = undefined;
    this.#again?.clear();
    this.#limit?.clear();
    if (staysMs === 0) this.end();
    else this.#limit = this.#context.timers.after(staysMs, () => this.end());
  }

  #timeOut(): void {
    this.end();
    this.user.onTimeout();
  }

  /** The connection closed. While it rings the peer may still answer over another one (RFC 3261 section 18.2.2). */
  #lose(): void {
    if (this.#state === 'calling')
      this.#fail(new TransportError('lost', 'The connection closed before an answer came.'));
  }

  #fail(error: TransportError): void {
    if (this.#state !== 'calling' || (this.#mayHaveLeft && error.code !== 'lost')) return;
    this.end();
    this.user.onFailure(error, this.#mayHaveLeft);
  }
}

/** The ACK of a response that is no 2xx (section 17.1.1.3). */
function ackOf(request: SipRequest, response: SipResponse): SipRequest {
  const ack = createRequest('ACK', request.uri);
  ack.headers.add('via', request.headers.get('via')!);
  for (const route of request.headers.all('route')) ack.headers.add('route', route);
  ack.headers.add('max-forwards', '70');
  ack.headers.add('from', request.headers.get('from')!).add('to', response.headers.get('to')!);
  ack.headers.add('call-id', request.headers.get('call-id')!).add('cseq', `${cseqOf(request).number} ACK`);
  return ack;
}
