import { type Call, sendInfo, updateSession } from './call.ts';
import type { CallEnd } from './call-end.ts';
import type { CallHandlers } from './call-handlers.ts';
import { ALLOW, type Core, contactOf, type Running } from './core.ts';
import { calleeDialog } from './dialog.ts';
import { DigestClient } from './digest-client.ts';
import type { InviteServerTransaction } from './invite-server-transaction.ts';
import { callIdOf, createResponse, cseqOf, type SipRequest, type SipResponse, sdpOf, setBody } from './message.ts';
import { openSession } from './open-session.ts';
import { randomToken } from './random.ts';
import { type Reason, writeReason } from './reason.ts';
import { loseAck, noteAnswer } from './received-offers.ts';
import { ReliableProvisional } from './reliable-provisional.ts';
import { SentAnswer } from './sent-answer.ts';
import { noteSettled, type Session } from './session.ts';
import { intervalFor, type SessionInterval } from './session-interval.ts';
import { type StoredDialog, storeDialog } from './stored-dialog.ts';
import type { Timer } from './timers.ts';
import type { Target } from './transport.ts';

/** What an incoming call is taken with. */
export interface IncomingOptions {
  contactUser: string | undefined;
  /** The interval of RFC 4028 that we ask for, 0 for none. */
  sessionSeconds: number;
  /** A call that is neither answered nor rejected in time is rejected with 480. */
  ringTimeoutMs: number;
  /** The user whose password the caller knows. */
  username: string | undefined;
}

/** What is said with a response to an INVITE. */
export interface ResponseOptions {
  phrase?: string;
  headers?: readonly (readonly [name: string, value: string])[];
  reason?: Reason;
}

/** A call that somebody places to us (RFC 3261 section 13.3). */
export class IncomingCall implements Call, Running {
  readonly request: SipRequest;
  /** Where the INVITE came from. */
  readonly source: Target;
  /** The user whose password the caller knows, where a challenge was asked for. */
  readonly username: string | undefined;
  readonly callId: string;
  /** The caller's offer, where there is one. */
  readonly sdp: string | undefined;
  readonly ended: Promise<CallEnd>;
  /** On whose behalf the DNS is asked, for the user agent's `turns`. */
  asker = '';
  readonly #core: Core;
  readonly #transaction: InviteServerTransaction;
  readonly #session: Session;
  readonly #interval: SessionInterval | undefined;
  readonly #ringing: Timer;
  readonly #letGo: () => void;
  #handlers: CallHandlers = {};
  #reliable: ReliableProvisional | undefined;
  #settle!: (end: CallEnd) => void;
  #isEnded = false;

  constructor(core: Core, transaction: InviteServerTransaction, options: IncomingOptions) {
    const { request, flow } = transaction;
    this.#core = { ...core, locate: (uri, transport) => core.locate(uri, transport, this.asker) };
    this.#transaction = transaction;
    this.request = request;
    this.source = flow.target;
    this.username = options.username;
    this.callId = callIdOf(request);
    this.sdp = sdpOf(request);
    this.ended = new Promise((resolve) => {
      this.#settle = resolve;
    });
    this.#session = openSession({
      core: this.#core,
      dialog: calleeDialog(request, randomToken(core.random), flow.target),
      flow,
      handlers: () => this.#handlers,
      digest: new DigestClient(undefined, core.random),
      contactUser: options.contactUser,
      isCaller: false,
      intervalSeconds: options.sessionSeconds,
      onEnd: (end) => this.#endedBySession(end),
    });
    noteSettled(this.#session, request);
    const interval = intervalFor(request, options.sessionSeconds);
    this.#interval = interval === 'too_small' ? undefined : interval;
    transaction.onCancel = (reasons) => this.#cancelled({ kind: 'cancelled', by: 'remote', status: 487, reasons });
    this.#ringing = core.timers.after(options.ringTimeoutMs, () => this.reject(480));
    this.#letGo = core.keepalives.hold(flow);
    core.running.add(this);
  }

  get stored(): StoredDialog {
    return storeDialog(this.#session.dialog);
  }

  /** The address that the caller asks for. */
  get requestUri(): string {
    return this.request.uri;
  }

  /** Who is to hear of the call. */
  listen(handlers: CallHandlers): void {
    this.#handlers = handlers;
  }

  /** Tells the caller that it rings: 180, or another provisional status, with early media where `sdp` is given. */
  ring({ status = 180, sdp }: { status?: number; sdp?: string } = {}): void {
    if (this.#transaction.isAnswered || this.#reliable?.isWaiting) return;
    const response = this.#response(status, {});
    response.headers.add('contact', this.#contact());
    if (sdp !== undefined) {
      setBody(response, 'application/sdp', sdp);
      this.#session.localSdp = sdp;
    }
    if (this.request.headers.tokens('require').includes('100rel')) this.#sendReliably(response);
    else this.#transaction.respond(response);
  }

  /**
   * Answers with a session description: an answer to the caller's offer, or an offer where it made none, to which
   * `onAnswer` tells the answer. `onAnswered` follows when the ACK came.
   */
  answer(sdp: string, options: ResponseOptions = {}): void {
    if (this.#transaction.isAnswered) return;
    if (this.#reliable?.isWaiting) {
      // RFC 3262 section 3: what was said before is acknowledged first.
      this.#reliable.onAcknowledged = () => this.answer(sdp, options);
      return;
    }
    this.#ringing.clear();
    const session = this.#session;
    const response = session.acceptance(this.#transaction, this.#interval);
    response.headers.set('to', session.dialog.local);
    this.#addHeaders(response, options);
    setBody(response, 'application/sdp', sdp);
    session.localSdp = sdp;
    session.onAck = (ack) => {
      if (this.sdp === undefined) noteAnswer(session, ack);
      session.tell('onAnswered', session.remoteSdp === undefined ? {} : { sdp: session.remoteSdp });
    };
    session.sentAnswer = new SentAnswer(this.#core, this.#transaction, response, cseqOf(this.request).number, () =>
      loseAck(session),
    );
    session.answer(this.#interval);
  }

  /** Rejects the call: 486 busy, 603 declined, 480, 404, 503 with Retry-After … */
  reject(status: number, options: ResponseOptions = {}): void {
    if (this.#transaction.isAnswered) return;
    const response = this.#response(status, options);
    this.#transaction.respond(response);
    this.#end({
      kind: 'rejected',
      status,
      phrase: response.phrase,
      response,
      reasons: options.reason ? [options.reason] : [],
    });
  }

  async hangUp(reason?: Reason): Promise<CallEnd> {
    if (this.#session.phase === 'answered')
      await this.#session.bye(reason, { kind: 'hung_up', by: 'local', reasons: [] });
    else this.reject(480, reason ? { reason } : {});
    return this.ended;
  }

  update(offer?: string): Promise<string | undefined> {
    return updateSession(this.#session, offer);
  }

  info(contentType: string, body: string): Promise<number | undefined> {
    return sendInfo(this.#session, contentType, body);
  }

  stop(): Promise<unknown> {
    return this.hangUp();
  }

  #sendReliably(response: SipResponse): void {
    this.#reliable ??= new ReliableProvisional(this.#core, this.#transaction, this.#session, () => this.reject(504));
    this.#reliable.send(response);
  }

  #response(status: number, options: ResponseOptions): SipResponse {
    const { request } = this;
    const response = createResponse(request, status, this.#session.dialog.localTag, options.phrase);
    if (status < 300)
      for (const route of request.headers.all('record-route')) response.headers.add('record-route', route);
    if (status < 300) response.headers.add('allow', ALLOW);
    this.#addHeaders(response, options);
    return response;
  }

  #addHeaders(response: SipResponse, { headers = [], reason }: ResponseOptions): void {
    for (const [name, value] of headers) response.headers.add(name, value);
    if (reason) response.headers.add('reason', writeReason(reason));
  }

  #contact(): string {
    return contactOf(this.#transaction.flow, this.#session.options.contactUser, this.request.uri);
  }

  #cancelled(end: CallEnd): void {
    this.#transaction.respond(this.#response(487, {}));
    this.#end(end);
  }

  /** The caller's BYE may come before the answer (section 15.1.2). */
  #endedBySession(end: CallEnd): void {
    if (!this.#transaction.isAnswered) {
      this.#cancelled({
        kind: 'cancelled',
        by: 'remote',
        status: 487,
        reasons: end.kind === 'hung_up' ? end.reasons : [],
      });
    } else this.#end(end);
  }

  #end(end: CallEnd): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#ringing.clear();
    this.#reliable?.stop();
    this.#letGo();
    this.#core.running.delete(this);
    this.#session.end(end);
    try {
      this.#handlers.onEnded?.(end);
    } catch (error) {
      this.#core.report(error);
    }
    this.#settle(end);
  }
}

/** Whether a caller asks for a session that is refreshed too often. */
export const asksTooOften = (request: SipRequest, sessionSeconds: number): boolean =>
  intervalFor(request, sessionSeconds) === 'too_small';
