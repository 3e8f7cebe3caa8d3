import { ALLOW, addCapabilities, type Core, dialogKey, otherMethods, supportedOptions } from './core.ts';
import type { DigestServer } from './digest-server.ts';
import { asksTooOften, IncomingCall } from './incoming-call.ts';
import { InviteServerTransaction } from './invite-server-transaction.ts';
import {
  callIdOf,
  createResponse,
  cseqOf,
  fromTagOf,
  type SipRequest,
  type SipResponse,
  sdpOf,
  toTagOf,
} from './message.ts';
import { randomToken } from './random.ts';
import { MIN_INTERVAL_SECONDS } from './session-interval.ts';
import type { ServerTransaction } from './transaction.ts';
import { isReliable, type Target } from './transport.ts';
import { writeMessage } from './write-message.ts';

/** What becomes of a request outside of all dialogs: taken, taken from who knows a password only, or not even answered. */
export type Admission = 'accept' | 'challenge' | 'ignore';

/** How a user agent takes requests that come from outside of its dialogs. */
export interface ReceiveOptions {
  admit: (request: SipRequest, source: Target) => Admission;
  digest: DigestServer | undefined;
  onInvite: ((call: IncomingCall) => void) | undefined;
  sessionSeconds: number;
  ringTimeoutMs: number;
  contactUser: string | undefined;
}

/** Takes requests that no transaction knows (RFC 3261 section 8.2). Who is not admitted gets no packet. */
export class RequestReceiver {
  readonly #core: Core;
  readonly #options: ReceiveOptions;
  /** INVITEs that are not answered, by what stays the same on all ways that they may take (section 8.2.2.2). */
  readonly #invites = new Map<string, ServerTransaction>();

  constructor(core: Core, options: ReceiveOptions) {
    this.#core = core;
    this.#options = options;
  }

  receive(transaction: ServerTransaction): void {
    const { request, flow } = transaction;
    const localTag = toTagOf(request);
    const dialog =
      localTag === undefined
        ? undefined
        : this.#core.dialogs.get(dialogKey(callIdOf(request), localTag, fromTagOf(request)!));
    if (dialog) dialog.receive(transaction);
    else {
      const admission = this.#admissionOf(request, flow.target);
      if (admission === 'ignore') transaction.end();
      else if (localTag !== undefined) this.#respond(transaction, 481);
      else this.#receiveOutside(transaction, admission);
    }
  }

  receiveAck(ack: SipRequest): void {
    const localTag = toTagOf(ack);
    if (localTag !== undefined)
      this.#core.dialogs.get(dialogKey(callIdOf(ack), localTag, fromTagOf(ack)!))?.receiveAck(ack);
  }

  /** What can't be judged is not admitted. */
  #admissionOf(request: SipRequest, source: Target): Admission {
    try {
      return this.#options.admit(request, source);
    } catch (error) {
      this.#core.report(error);
      return 'ignore';
    }
  }

  #receiveOutside(transaction: ServerTransaction, admission: Admission): void {
    const { method } = transaction.request;
    if (method !== 'INVITE' || admission !== 'challenge') this.#receiveAdmitted(transaction, undefined);
    else
      this.#challenge(transaction).catch((error) => {
        transaction.end();
        this.#core.report(error);
      });
  }

  #receiveAdmitted(transaction: ServerTransaction, username: string | undefined): void {
    const { headers, method } = transaction.request;
    const unsupported = headers.tokens('require').filter((option) => !supportedOptions.has(option));
    if (unsupported.length > 0) {
      this.#respond(transaction, 420, (response) => response.headers.add('unsupported', unsupported.join(', ')));
    } else if (method === 'INVITE') this.#receiveInvite(transaction, username);
    else if (method === 'OPTIONS') this.#respond(transaction, 200, addCapabilities);
    else if (['CANCEL', 'BYE', 'UPDATE', 'INFO', 'PRACK'].includes(method)) this.#respond(transaction, 481);
    else this.#respond(transaction, otherMethods.has(method) ? 405 : 501);
  }

  /**
   * Without a transaction (section 22.1 with 8.2.7): nobody has us keep, or send again, what he only seems to have asked
   * for. A challenge that would be longer than what asked for it is not sent, so that nobody has us flood a third by UDP.
   */
  async #challenge(transaction: ServerTransaction): Promise<void> {
    const { digest } = this.#options;
    const { request, flow } = transaction;
    // The caller may hang up while the password is looked up.
    if (transaction instanceof InviteServerTransaction) transaction.onCancel = () => this.#respond(transaction, 487);
    const verdict = await digest?.judge(request, flow.target);
    if (transaction.isAnswered) return;
    if (verdict === 'ignored') return transaction.end();
    if (verdict?.isAuthentic) return this.#receiveAdmitted(transaction, verdict.username);
    const response = createResponse(request, digest ? 401 : 403, randomToken(this.#core.random));
    for (const challenge of digest?.challenges(request, flow.target, verdict?.isStale ?? false) ?? [])
      response.headers.add('www-authenticate', challenge);
    const bytes = Buffer.byteLength(writeMessage(response));
    if (isReliable(flow.target.transport) || bytes <= (request.bytes ?? 0))
      this.#core.transactions.repeatAnswer(transaction, response);
    transaction.end();
  }

  #receiveInvite(transaction: ServerTransaction, username: string | undefined): void {
    const { request } = transaction;
    const { onInvite, sessionSeconds } = this.#options;
    const key = `${callIdOf(request)}|${fromTagOf(request)}|${cseqOf(request).number}`;
    if (!(transaction instanceof InviteServerTransaction)) return;
    if (this.#invites.has(key)) this.#respond(transaction, 482);
    else if (!/^(?:sips?|tel):/i.test(request.uri)) this.#respond(transaction, 416);
    else if (request.body !== '' && sdpOf(request) === undefined)
      this.#respond(transaction, 415, (response) => response.headers.add('accept', 'application/sdp'));
    else if (asksTooOften(request, sessionSeconds))
      this.#respond(transaction, 422, (response) => response.headers.add('min-se', String(MIN_INTERVAL_SECONDS)));
    else if (!onInvite) this.#respond(transaction, 480);
    else {
      transaction.respond(createResponse(request, 100));
      const call = new IncomingCall(this.#core, transaction, { ...this.#options, username });
      this.#invites.set(key, transaction);
      void call.ended.then(() => this.#invites.delete(key));
      try {
        onInvite(call);
      } catch (error) {
        this.#core.report(error);
        call.reject(500);
      }
    }
  }

  #respond(transaction: ServerTransaction, status: number, fill?: (response: SipResponse) => void): void {
    const response = createResponse(transaction.request, status, randomToken(this.#core.random));
    if (status === 405) response.headers.add('allow', ALLOW);
    fill?.(response);
    transaction.respond(response);
  }
}
