import type { CallEnd } from './call-end.ts';
import type { Core } from './core.ts';
import { callerDialog, type Dialog } from './dialog.ts';
import type { DigestClient } from './digest-client.ts';
import { contactUserOf, type InviteOptions, sessionSecondsOf } from './invite-request.ts';
import { type SipRequest, type SipResponse, sdpOf, setBody, toTagOf } from './message.ts';
import { openSession } from './open-session.ts';
import { createAck, sendAck } from './sent-offers.ts';
import { noteSettled, type Session, tellUser } from './session.ts';
import { intervalAnswered } from './session-interval.ts';
import type { ClientTransaction } from './transaction.ts';
import type { Flow } from './transport.ts';
import { MAX_FORKS, UnwantedAnswers } from './unwanted-invite.ts';

/** Who hears which of them it is. */
export interface ForksUser {
  /** Another phone rings. */
  onRinging(): void;
  onAnswered(session: Session, sdp: string | undefined): void;
  onEnd(session: Session, end: CallEnd): void;
}

/** The dialogs that one INVITE may make: one for each phone that rings. The first that answers is the call (RFC 3261 section 13.2.2.4). */
export class Forks {
  readonly #core: Core;
  readonly #options: InviteOptions;
  readonly #digest: DigestClient;
  readonly #user: ForksUser;
  /** Those that ring: no more than MAX_FORKS. */
  #early: Session[] = [];
  #earlySdp: string | undefined;
  #winner: Session | undefined;
  #unwanted: UnwantedAnswers | undefined;

  constructor(core: Core, options: InviteOptions, digest: DigestClient, user: ForksUser) {
    this.#core = core;
    this.#options = options;
    this.#digest = digest;
    this.#user = user;
  }

  /** Of the phones that ring. */
  get dialogs(): Dialog[] {
    return this.#early.map(({ dialog }) => dialog);
  }

  /** @param flow the one that the INVITE took */
  receiveProvisional(request: SipRequest, response: SipResponse, flow: Flow): void {
    if (this.#winner) return;
    const fork = toTagOf(response);
    const rang = this.#early.length;
    const session = fork === undefined ? undefined : this.#sessionOf(fork, request, response, flow);
    if (this.#early.length > rang) this.#user.onRinging();
    const sdp = sdpOf(response);
    if (session) {
      noteSettled(session, response);
      if (!this.#isNewOrUnreliable(session, response)) return;
    }
    this.#earlySdp = sdp ?? this.#earlySdp;
    const { status, phrase } = response;
    const progress = {
      status,
      phrase,
      response,
      ...(sdp !== undefined && { sdp }),
      ...(fork !== undefined && { fork }),
    };
    tellUser(this.#core, this.#options, 'onProgress', progress);
  }

  /** @param isWanted false once the call is given up: then every answer is hung up on */
  receiveAnswer(request: SipRequest, response: SipResponse, flow: Flow, isWanted: boolean): void {
    const tag = toTagOf(response) ?? '';
    if (this.#winner || !isWanted) this.#unwantedOf(request).onResponse(response, flow);
    else this.#win(tag, request, response, flow);
  }

  #win(tag: string, request: SipRequest, response: SipResponse, flow: Flow): void {
    const session = this.#sessionOf(tag, request, response, flow) ?? this.#open(request, response, flow);
    this.#winner = session;
    this.#early = this.#early.filter((each) => each !== session);
    // Its route set is that of the 2xx, whatever the provisional response said.
    session.dialog.routeSet = response.headers.all('record-route').toReversed();
    noteSettled(session, response);
    session.remoteSdp ??= this.#earlySdp;
    session.answer(intervalAnswered(response));
    this.#unwantedOf(request).except(tag, undefined);
    void this.#acknowledge(session, request, sdpOf(response)).catch(this.#core.report);
    this.#user.onAnswered(session, session.remoteSdp);
  }

  /** Forgets the phones that only rang. What its transaction still hears has nothing to do with the call any more. */
  close(transaction: ClientTransaction | undefined): void {
    if (transaction) transaction.user = this.#unwantedOf(transaction.request);
    for (const session of this.#early) session.end({ kind: 'cancelled', by: 'local', reasons: [] });
    this.#early = [];
  }

  async #acknowledge(session: Session, request: SipRequest, sdp: string | undefined): Promise<void> {
    if (this.#options.sdp !== undefined || sdp === undefined) {
      await this.#sendAck(session, request);
      return;
    }
    const answer = await this.#options.onOffer?.(sdp, session.flow.target.transport);
    if (answer !== undefined) session.localSdp = answer;
    await this.#sendAck(session, request, answer);
    const message = 'The offer in the answer was refused.';
    if (answer === undefined)
      await session.bye({ protocol: 'SIP', cause: 488 }, { kind: 'lost', why: 'bad_answer', message });
  }

  async #sendAck(session: Session, request: SipRequest, answer?: string): Promise<void> {
    const sent = await sendAck(session, createAck(session, request, answer));
    this.#unwantedOf(request).except(session.dialog.remoteTag, sent);
  }

  #unwantedOf(request: SipRequest): UnwantedAnswers {
    this.#unwanted ??= new UnwantedAnswers(this.#core, request, this.#digest);
    return this.#unwanted;
  }

  #sessionOf(tag: string, request: SipRequest, response: SipResponse, flow: Flow): Session | undefined {
    const known = this.#early.find(({ dialog }) => dialog.remoteTag === tag);
    if (known || this.#early.length >= MAX_FORKS) return known;
    const session = this.#open(request, response, flow);
    this.#early.push(session);
    return session;
  }

  #open(request: SipRequest, response: SipResponse, flow: Flow): Session {
    const session: Session = openSession({
      core: this.#core,
      dialog: callerDialog(request, response, flow.target),
      flow,
      handlers: () => this.#options,
      digest: this.#digest,
      contactUser: contactUserOf(this.#options),
      isCaller: true,
      intervalSeconds: sessionSecondsOf(this.#options),
      onEnd: (end) => this.#user.onEnd(session, end),
    });
    session.localSdp = this.#options.sdp;
    return session;
  }

  /** Acknowledges a reliable provisional response by PRACK (RFC 3262 section 4); one that came before is not told again. */
  #isNewOrUnreliable(session: Session, response: SipResponse): boolean {
    const rseq = Number(/^\d{1,10}$/.exec(response.headers.get('rseq') ?? '')?.[0]);
    if (!response.headers.tokens('require').includes('100rel') || !(rseq > 0)) return true;
    const last = session.lastRseq;
    if (last !== undefined && rseq !== last + 1) return false;
    session.lastRseq = rseq;
    void this.#prack(session, response, rseq).catch(this.#core.report);
    return true;
  }

  async #prack(session: Session, response: SipResponse, rseq: number): Promise<void> {
    const offer = this.#options.sdp === undefined ? sdpOf(response) : undefined;
    const { transport } = session.flow.target;
    const answer = offer === undefined ? undefined : await this.#options.onOffer?.(offer, transport);
    await session.request('PRACK', (prack) => {
      prack.headers.add('rack', `${rseq} ${response.headers.get('cseq')}`);
      if (answer !== undefined) setBody(prack, 'application/sdp', answer);
    });
  }
}
