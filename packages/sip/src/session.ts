import type { CallEnd } from './call-end.ts';
import type { CallHandlers } from './call-handlers.ts';
import { ALLOW, type Core, contactOf, SUPPORTED } from './core.ts';
import { type Dialog, dialogRequest, keyOf, openDialogFlow, refreshTarget } from './dialog.ts';
import type { DigestClient } from './digest-client.ts';
import { type Exchanged, exchange } from './exchange.ts';
import { createResponse, cseqOf, type SipRequest, type SipResponse, sdpOf } from './message.ts';
import { type Reason, writeReason } from './reason.ts';
import { hasKeys } from './sdp-crypto.ts';
import type { SentAnswer } from './sent-answer.ts';
import { answerInterval, type SessionInterval } from './session-interval.ts';
import { SessionTimer } from './session-timer.ts';
import { type StoredDialog, storeDialog } from './stored-dialog.ts';
import type { ServerTransaction } from './transaction.ts';
import { type Flow, TransportError } from './transport.ts';

export interface SessionOptions {
  core: Core;
  dialog: Dialog;
  flow: Flow;
  handlers: () => CallHandlers;
  digest: DigestClient;
  /** The user part of our Contact. */
  contactUser: string | undefined;
  /** Who sent the INVITE: who did waits longer where two offers cross. */
  isCaller: boolean;
  /** The interval of RFC 4028 that we ask for, 0 for none. */
  intervalSeconds: number;
  onEnd(end: CallEnd): void;
}

/** What two user agents do within one dialog: early while it rings, then answered, then ended. */
export class Session {
  readonly core: Core;
  readonly dialog: Dialog;
  readonly options: SessionOptions;
  readonly timer: SessionTimer;
  phase: 'early' | 'answered' | 'ended' = 'early';
  flow: Flow;
  localSdp: string | undefined;
  remoteSdp: string | undefined;
  /** Methods that the peer takes, where it says so. */
  peerAllows: string[] | undefined;
  minIntervalSeconds = 0;
  /** The RSeq of the peer's last reliable response. */
  lastRseq: number | undefined;
  /** Our re-INVITE, or our offer, is on its way. */
  isOffering = false;
  /** The peer's re-INVITE or offer waits for our answer. */
  isAnswering = false;
  /** Our 2xx waits for its ACK. */
  sentAnswer: SentAnswer | undefined;
  /** Takes PRACK while an incoming call rings. */
  onPrack: ((transaction: ServerTransaction) => void) | undefined;
  /** Takes the ACK of our 2xx. */
  onAck: ((ack: SipRequest) => void) | undefined;

  /** @param refresh refreshes the session where that is ours to do */
  constructor(options: SessionOptions, refresh: (session: Session) => Promise<unknown>) {
    this.options = options;
    this.core = options.core;
    this.dialog = options.dialog;
    this.flow = options.flow;
    this.timer = new SessionTimer(
      this.core.timers,
      () => refresh(this),
      () => this.#expire(),
    );
  }

  get handlers(): CallHandlers {
    return this.options.handlers();
  }

  receiveAck(ack: SipRequest): void {
    if (this.sentAnswer?.cseq !== cseqOf(ack).number) return;
    this.sentAnswer.stop();
    this.sentAnswer = undefined;
    const { onAck } = this;
    this.onAck = undefined;
    onAck?.(ack);
  }

  /** The call is answered, with what both sides said. */
  answer(interval: SessionInterval | undefined): void {
    this.phase = 'answered';
    // A re-INVITE to a peer without a tag is a call of its own (RFC 3261 section 12.1): it would ring again.
    this.timer.start(this.dialog.remoteTag === '' ? undefined : interval);
    this.store();
  }

  /** A request within the dialog. 408 and 481 end the call: the peer doesn't know it (RFC 3261 section 12.2.1.2). */
  async request(method: string, fill?: (request: SipRequest) => void): Promise<Exchanged> {
    let flow: Flow;
    try {
      flow = await this.openFlow();
    } catch (error) {
      if (error instanceof TransportError) return { kind: 'not_sent', error };
      throw error;
    }
    const make = (over: Flow) => {
      const request = dialogRequest(this.core, this.dialog, over, method);
      fill?.(request);
      return request;
    };
    const exchanged = await exchange(this.core, flow, make, this.options.digest);
    if (exchanged.kind === 'response') this.noticeGone(method, exchanged.response.status);
    return exchanged;
  }

  /** @param sdp what is offered over it: keys of a call over TLS don't leave that */
  async openFlow(sdp = ''): Promise<Flow> {
    this.flow = await openDialogFlow(this.core, this.dialog, this.flow, hasKeys(sdp));
    return this.flow;
  }

  /** Ends an answered call; resolves when the peer answered, or didn't in time. */
  async bye(reason: Reason | undefined, end: CallEnd): Promise<Exchanged | undefined> {
    if (this.phase === 'ended') return undefined;
    this.end(end, true);
    // The caller must hear BYE after it has sent its ACK, or nobody waits for that any more (section 15).
    while (this.sentAnswer) await this.wait();
    const fill = (bye: SipRequest) => reason && bye.headers.add('reason', writeReason(reason));
    let exchanged = await this.request('BYE', fill);
    // Over another connection: a second BYE harms nothing.
    if (exchanged.kind === 'silence' && exchanged.isConnectionLost) exchanged = await this.request('BYE', fill);
    this.core.dialogs.delete(keyOf(this.dialog));
    return exchanged;
  }

  /** @param keepsDialog the peer's own BYE, which may cross ours, is still answered */
  end(end: CallEnd, keepsDialog = false): void {
    if (this.phase === 'ended') return;
    this.phase = 'ended';
    this.timer.stop();
    if (!keepsDialog) {
      this.sentAnswer?.stop();
      this.sentAnswer = undefined;
      this.core.dialogs.delete(keyOf(this.dialog));
    }
    this.options.onEnd(end);
  }

  noticeGone(method: string, status: number): void {
    if (this.phase !== 'answered' || method === 'BYE' || (status !== 408 && status !== 481)) return;
    const message = `The peer answered ${method} with ${status}: it does not know the call any more.`;
    void this.bye(undefined, { kind: 'lost', why: 'gone', message }).catch(this.core.report);
  }

  store(): void {
    if (this.phase !== 'ended' && this.handlers.onState)
      this.tell('onState', storeDialog(this.dialog) satisfies StoredDialog);
  }

  /** Calls a function of the user's; what it throws harms nothing. */
  tell<Name extends keyof CallHandlers>(name: Name, ...args: Parameters<NonNullable<CallHandlers[Name]>>): void {
    tellUser(this.core, this.handlers, name, ...args);
  }

  respond(transaction: ServerTransaction, status: number, fill?: (response: SipResponse) => void): void {
    const response = createResponse(transaction.request, status);
    if (status === 405) response.headers.add('allow', ALLOW);
    fill?.(response);
    transaction.respond(response);
  }

  /** A 2xx to INVITE or UPDATE, as far as both have the same. */
  acceptance(transaction: ServerTransaction, interval: SessionInterval | undefined): SipResponse {
    const { request, flow } = transaction;
    const response = createResponse(request, 200);
    for (const route of request.headers.all('record-route')) response.headers.add('record-route', route);
    response.headers.add('contact', contactOf(flow, this.options.contactUser, request.uri));
    response.headers.add('allow', ALLOW).add('supported', SUPPORTED);
    if (interval) answerInterval(response, interval);
    return response;
  }

  /** The peer may name a new Contact in any request or response that settles the session. */
  refreshTarget(message: SipRequest | SipResponse): void {
    if (refreshTarget(this.dialog, message) && this.phase === 'answered') this.store();
  }

  /** For a moment, until one looks again. */
  wait(): Promise<void> {
    return this.core.timers.wait(this.core.values.t1 / 5);
  }

  #expire(): void {
    const end: CallEnd = { kind: 'lost', why: 'session_expired', message: 'Nobody refreshed the session in time.' };
    void this.bye({ protocol: 'SIP', cause: 408, text: 'Session expired' }, end).catch(this.core.report);
  }
}

/** Calls a function of the user's, if there is one. */
export function tellUser<Name extends keyof CallHandlers>(
  core: Core,
  handlers: CallHandlers,
  name: Name,
  ...args: Parameters<NonNullable<CallHandlers[Name]>>
): void {
  try {
    const told: unknown = (handlers[name] as ((...given: unknown[]) => unknown) | undefined)?.(...args);
    if (told instanceof Promise) told.catch(core.report);
  } catch (error) {
    core.report(error);
  }
}

/** What the peer said of itself and its session in a request or response that settles them. */
export function noteSettled(session: Session, message: SipRequest | SipResponse): void {
  session.refreshTarget(message);
  if (message.headers.has('allow')) session.peerAllows = message.headers.list('allow');
  const sdp = sdpOf(message);
  if (sdp !== undefined) session.remoteSdp = sdp;
}
