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
import type { Flow } from './transport.ts';
import { MAX_FORKS, UnwantedAnswers } from './unwanted-invite.ts';
import type { Outgoing } from './wire.ts';

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
  /** By the peer's tag. */
  readonly #early = new Map<string, Session>();
  /** The RSeq of the last reliable response, by the peer's tag. */
  readonly #reliable = new Map<string, number>();
  #earlySdp: string | undefined;
  #winner: Session | undefined;
  #ack: { ack: Outgoing; flow: Flow } | undefined;
  #unwanted: UnwantedAnswers | undefined;

  constructor(core: Core, options: InviteOptions, digest: DigestClient, user: ForksUser) {
    this.#core = core;
    this.#options = options;
    this.#digest = digest;
    this.#user = user;
  }

  /** Of the phones that ring. */
  get dialogs(): Dialog[] {
    return [...this.#early.values()].map(({ dialog }) => dialog);
  }

  /** @param flow the one that the INVITE took */
  receiveProvisional(request: SipRequest, response: SipResponse, flow: Flow): void {
    if (this.#winner) return;
    const fork = toTagOf(response);
    const rang = this.#early.size;
    const session = fork === undefined ? undefined : this.#sessionOf(fork, request, response, flow);
    if (this.#early.size > rang) this.#user.onRinging();
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
    if (this.#winner?.dialog.remoteTag === tag) this.#acknowledgeAgain();
    else if (this.#winner || !isWanted) {
      this.#unwanted ??= new UnwantedAnswers(this.#core, request, this.#digest);
      void this.#unwanted.refuse(response, flow).catch(this.#core.report);
    } else this.#win(tag, request, response, flow);
  }

  #win(tag: string, request: SipRequest, response: SipResponse, flow: Flow): void {
    const session = this.#sessionOf(tag, request, response, flow) ?? this.#open(request, response, flow);
    this.#winner = session;
    this.#early.delete(tag);
    // Its route set is that of the 2xx, whatever the provisional response said.
    session.dialog.routeSet = response.headers.all('record-route').toReversed();
    noteSettled(session, response);
    session.remoteSdp ??= this.#earlySdp;
    session.answer(intervalAnswered(response));
    void this.#acknowledge(session, request, sdpOf(response)).catch(this.#core.report);
    this.#user.onAnswered(session, session.remoteSdp);
  }

  /** Forgets the phones that only rang. */
  close(): void {
    for (const session of this.#early.values()) session.end({ kind: 'cancelled', by: 'local', reasons: [] });
    this.#early.clear();
  }

  async #acknowledge(session: Session, request: SipRequest, sdp: string | undefined): Promise<void> {
    if (this.#options.sdp !== undefined || sdp === undefined) {
      this.#ack = await sendAck(session, createAck(session, request));
      return;
    }
    const answer = await this.#options.onOffer?.(sdp);
    if (answer !== undefined) session.localSdp = answer;
    this.#ack = await sendAck(session, createAck(session, request, answer));
    const message = 'The offer in the answer was refused.';
    if (answer === undefined)
      await session.bye({ protocol: 'SIP', cause: 488 }, { kind: 'lost', why: 'bad_answer', message });
  }

  /** A 2xx that comes again. While the ACK is owed it is no other fork. */
  #acknowledgeAgain(): void {
    if (this.#ack) this.#core.wire.send(this.#ack.ack, this.#ack.flow).catch(() => {});
  }

  #sessionOf(tag: string, request: SipRequest, response: SipResponse, flow: Flow): Session | undefined {
    const known = this.#early.get(tag);
    if (known || this.#early.size >= MAX_FORKS) return known;
    const session = this.#open(request, response, flow);
    this.#early.set(tag, session);
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
    const tag = session.dialog.remoteTag;
    const last = this.#reliable.get(tag);
    if (last !== undefined && rseq !== last + 1) return false;
    this.#reliable.set(tag, rseq);
    void this.#prack(session, response, rseq).catch(this.#core.report);
    return true;
  }

  async #prack(session: Session, response: SipResponse, rseq: number): Promise<void> {
    const offer = this.#options.sdp === undefined ? sdpOf(response) : undefined;
    const answer = offer === undefined ? undefined : await this.#options.onOffer?.(offer);
    await session.request('PRACK', (prack) => {
      prack.headers.add('rack', `${rseq} ${response.headers.get('cseq')}`);
      if (answer !== undefined) setBody(prack, 'application/sdp', answer);
    });
  }
}
