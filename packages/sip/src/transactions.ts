import { InviteClientTransaction } from './invite-client-transaction.ts';
import { InviteServerTransaction } from './invite-server-transaction.ts';
import { callIdOf, createResponse, cseqOf, fromTagOf, type SipRequest, type SipResponse, topViaOf } from './message.ts';
import { NonInviteClientTransaction } from './non-invite-client-transaction.ts';
import { NonInviteServerTransaction } from './non-invite-server-transaction.ts';
import { parseReasons } from './reason.ts';
import { createReply } from './reply.ts';
import type { ClientTransaction, ClientTransactionUser, ServerTransaction, TransactionContext } from './transaction.ts';
import type { Flow, Received } from './transport.ts';
import { MAGIC_COOKIE } from './via.ts';

/** So many requests are answered at a time; what comes beyond is dropped, as UDP may. */
const MAX_SERVER_TRANSACTIONS = 20_000;

/** Who hears of what no transaction knows yet. */
export interface TransactionsUser {
  onRequest(transaction: ServerTransaction): void;
  /** The ACK of a 2xx, which is a transaction of its own. */
  onAck(ack: SipRequest): void;
  /** A response to no request that is known any more. */
  onStray(response: SipResponse, flow: Flow): void;
}

/** All transactions (RFC 3261 section 17): responses and repeated requests find theirs, from whatever address they come. */
export class Transactions {
  readonly #context: TransactionContext;
  readonly #user: TransactionsUser;
  readonly #clients = new Map<string, ClientTransaction>();
  readonly #servers = new Map<string, ServerTransaction>();

  constructor(context: TransactionContext, user: TransactionsUser) {
    this.#context = context;
    this.#user = user;
  }

  /**
   * Sends a request other than ACK.
   *
   * @param limitMs how long a final response may take, of requests other than INVITE
   * @throws SipSyntaxError where it can't be written
   */
  send(request: SipRequest, flow: Flow, user: ClientTransactionUser, limitMs?: number): ClientTransaction {
    if (request.method === 'INVITE') {
      const invite = this.#addInvite(request, flow, user);
      invite.start();
      return invite;
    }
    const key = clientKey(request, request.method);
    const transaction = new NonInviteClientTransaction(this.#context, request, flow, user, () =>
      this.#clients.delete(key),
    );
    this.#clients.set(key, transaction);
    transaction.start(limitMs);
    return transaction;
  }

  /** Waits for the responses to an INVITE that another process has sent. */
  resumeInvite(request: SipRequest, flow: Flow, user: ClientTransactionUser): ClientTransaction {
    const invite = this.#addInvite(request, flow, user);
    invite.resume();
    return invite;
  }

  #addInvite(request: SipRequest, flow: Flow, user: ClientTransactionUser): InviteClientTransaction {
    const key = clientKey(request, 'INVITE');
    const invite = new InviteClientTransaction(this.#context, request, flow, user, () => this.#clients.delete(key));
    this.#clients.set(key, invite);
    return invite;
  }

  /** Sends a 2xx again, which its transaction leaves to who answered the call. */
  repeatAnswer({ request, flow }: ServerTransaction, response: SipResponse): void {
    createReply(this.#context, request, flow, response).send();
  }

  receive({ message, flow }: Received): void {
    if (message.kind === 'request') {
      if (message.method === 'ACK') this.#receiveAck(message);
      else this.#receiveRequest(message, flow);
      return;
    }
    const transaction = this.#clients.get(clientKey(message, cseqOf(message).method));
    if (transaction) transaction.receive(message, flow);
    else this.#user.onStray(message, flow);
  }

  get count(): number {
    return this.#clients.size + this.#servers.size;
  }

  endAll(): void {
    for (const transaction of [...this.#clients.values(), ...this.#servers.values()]) transaction.end();
  }

  #receiveRequest(request: SipRequest, flow: Flow): void {
    const key = serverKey(request, request.method);
    const known = this.#servers.get(key);
    known?.repeat();
    if (known || this.#servers.size >= MAX_SERVER_TRANSACTIONS) return;
    const onEnd = () => this.#servers.delete(key);
    const transaction =
      request.method === 'INVITE'
        ? new InviteServerTransaction(this.#context, request, flow, onEnd)
        : new NonInviteServerTransaction(this.#context, request, flow, onEnd);
    this.#servers.set(key, transaction);
    if (request.method !== 'CANCEL' || !this.#cancel(request, transaction)) this.#user.onRequest(transaction);
  }

  #receiveAck(ack: SipRequest): void {
    const invite = this.#servers.get(serverKey(ack, 'INVITE'));
    if (!(invite instanceof InviteServerTransaction) || invite.isAccepted) this.#user.onAck(ack);
    else invite.acknowledge();
  }

  /** Section 9.2. False where no INVITE is known that it could mean. */
  #cancel(cancel: SipRequest, transaction: ServerTransaction): boolean {
    const invite = this.#servers.get(serverKey(cancel, 'INVITE'));
    if (!(invite instanceof InviteServerTransaction)) return false;
    transaction.respond(createResponse(cancel, 200));
    if (!invite.isAnswered) invite.onCancel?.(parseReasons(cancel.headers.all('reason')));
    return true;
  }
}

/** Section 17.1.3. */
const clientKey = (message: SipRequest | SipResponse, method: string): string =>
  `${topViaOf(message).parameters.get('branch')}|${method}`;

/** Section 17.2.3; of a peer older than RFC 3261, whose branch says nothing, by what that names. */
function serverKey(request: SipRequest, method: string): string {
  const via = topViaOf(request);
  const branch = via.parameters.get('branch') ?? '';
  if (branch.startsWith(MAGIC_COOKIE)) return `${branch}|${via.host.toLowerCase()}:${via.port ?? ''}|${method}`;
  return `${callIdOf(request)}|${cseqOf(request).number}|${fromTagOf(request)}|${branch}|${via.host}|${method}`;
}
