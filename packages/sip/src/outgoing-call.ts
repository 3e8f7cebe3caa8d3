import { type Call, sendInfo, updateSession } from './call.ts';
import { type CallEnd, type Rejected, rejectedBy } from './call-end.ts';
import type { CallHandlers } from './call-handlers.ts';
import { type Core, newBranch, type Running } from './core.ts';
import { DigestClient, type Tries } from './digest-client.ts';
import { Forks } from './forks.ts';
import { createInvite, fitDatagram, type InviteOptions } from './invite-request.ts';
import type { SipRequest, SipResponse } from './message.ts';
import { randomToken } from './random.ts';
import type { Reason } from './reason.ts';
import { type Session, tellUser } from './session.ts';
import { minSeOf } from './session-interval.ts';
import { type StoredDialog, storeDialog, storeInvite } from './stored-dialog.ts';
import { SipSyntaxError } from './syntax.ts';
import type { Timer } from './timers.ts';
import type { ClientTransaction } from './transaction.ts';
import { type Flow, type Target, TransportError } from './transport.ts';
import { abandonInvite, sendCancel } from './unwanted-invite.ts';

const MAX_INVITES = 6;

type GivenUp = { by: 'local' | 'ring_timeout'; reason?: Reason };

/** A call that we place: one INVITE at a time, to one target, until one final answer (RFC 3261 section 13.2) that counts. */
export class OutgoingCall implements Call, Running {
  readonly callId: string;
  readonly ended: Promise<CallEnd>;
  /** Resolves as `onAnswered` is told; to undefined where the call ended before. */
  readonly answered: Promise<{ sdp?: string } | undefined>;
  readonly #core: Core;
  readonly #options: InviteOptions;
  readonly #digest: DigestClient;
  readonly #fromTag: string;
  readonly #branch: string;
  #tries: Tries = new Map();
  readonly #forks: Forks;
  #settle!: (end: CallEnd) => void;
  #settleAnswered!: (answered: { sdp?: string } | undefined) => void;
  #isEnded = false;
  /** Those that are not tried yet. */
  #targets: Target[] = [];
  #invites = 0;
  #minSeconds = 0;
  #transaction: ClientTransaction | undefined;
  #hasProvisional = false;
  #hasRung = false;
  #givenUp: GivenUp | undefined;
  #hasCancelled = false;
  #session: Session | undefined;
  #ringing: Timer | undefined;
  #letGo = () => {};

  constructor(core: Core, options: InviteOptions) {
    this.#core = core;
    this.#options = options;
    this.#digest = new DigestClient(options.credentials, core.random);
    this.callId = options.identifiers?.callId ?? randomToken(core.random, 16);
    this.#fromTag = options.identifiers?.fromTag ?? randomToken(core.random);
    this.#branch = options.identifiers?.branch ?? newBranch(core);
    this.ended = new Promise((resolve) => {
      this.#settle = resolve;
    });
    this.answered = new Promise((resolve) => {
      this.#settleAnswered = resolve;
    });
    this.#forks = new Forks(core, options, this.#digest, {
      onRinging: () => options.onState && this.#tell('onState', this.stored!),
      onAnswered: (session, sdp) => this.#answered(session, sdp),
      onEnd: (session, end) => session === this.#session && this.#end(end),
    });
    core.running.add(this);
    void this.#place().catch((error: unknown) => this.#fail(error));
  }

  get stored(): StoredDialog | undefined {
    if (this.#session) return storeDialog(this.#session.dialog);
    if (!this.#transaction) return undefined;
    const { request, flow } = this.#transaction;
    return storeInvite(request, flow.target, this.#forks.dialogs);
  }

  /** Where the INVITE went. */
  get target(): Target | undefined {
    return this.#transaction?.flow.target;
  }

  /** Gives the call up before it is answered: by CANCEL as soon as the peer has said anything (section 9.1); later by BYE. */
  async hangUp(reason?: Reason): Promise<CallEnd> {
    if (this.#session) await this.#session.bye(reason, { kind: 'hung_up', by: 'local', reasons: [] });
    else this.#giveUp({ by: 'local', ...(reason && { reason }) });
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

  async #place(): Promise<void> {
    const { to, transport, outboundProxy, targets, ringTimeoutMs } = this.#options;
    if (ringTimeoutMs)
      this.#ringing = this.#core.timers.after(ringTimeoutMs, () => this.#giveUp({ by: 'ring_timeout' }));
    this.#targets = [...(targets ?? (await this.#core.locateGranted(outboundProxy ?? to, transport)))];
    await this.#placeAtNext(new TransportError('dns', 'There is no target.'));
  }

  /**
   * Another target is tried only if the one before surely rang nobody: the INVITE never left for it, or it has refused it.
   * @param before what came of that
   */
  async #placeAtNext(before: TransportError | Rejected): Promise<void> {
    if (this.#isEnded) return;
    const target = this.#targets.shift();
    if (!target) {
      if (before instanceof TransportError) throw before;
      return this.#end(before);
    }
    const passOn = (error: TransportError) => this.#passOn(target, error, before);
    try {
      const flow = await this.#core.open(target);
      await this.#core.heard.expect(target);
      if (this.#isEnded) return;
      await this.#invite(flow, passOn);
    } catch (error) {
      if (!(error instanceof TransportError)) throw error;
      await passOn(error);
    }
  }

  /** @param before what came of the target before: a refusal says more than that the others were not reached */
  #passOn(target: Target, why: TransportError | Rejected, before: TransportError | Rejected = why): Promise<void> {
    this.#transaction = undefined;
    this.#hasProvisional = false;
    this.#tries = new Map();
    this.#tell('onPassedOn', target, why);
    return this.#placeAtNext(before instanceof TransportError ? why : before);
  }

  /** @param onNotSent the INVITE surely never left */
  async #invite(flow: Flow, onNotSent: (error: TransportError) => Promise<void>): Promise<void> {
    const request = this.#createInvite(flow);
    if (this.#options.onState) await this.#store(storeInvite(request, flow.target));
    if (this.#isEnded) return;
    this.#letGo();
    this.#letGo = this.#core.keepalives.hold(flow);
    this.#hasProvisional = false;
    this.#transaction = this.#core.transactions.send(request, flow, {
      onResponse: (response) => this.#receive(request, response, flow),
      onTimeout: () => this.#fallSilent('No answer came to the INVITE.'),
      onFailure: (error, mayHaveLeft) => {
        if (mayHaveLeft) this.#fallSilent(error.message);
        else void onNotSent(error).catch((reason: unknown) => this.#fail(reason));
      },
    });
  }

  #createInvite(flow: Flow): SipRequest {
    const { callId } = this;
    const branch = this.#invites === 0 ? this.#branch : `${this.#branch}.${this.#invites}`;
    this.#invites += 1;
    const parts = { callId, fromTag: this.#fromTag, branch, cseq: this.#invites, minSeconds: this.#minSeconds };
    const request = createInvite(this.#core, flow, this.#options, parts);
    this.#digest.authorize(request);
    const dropped = fitDatagram(request, flow);
    if (dropped.length > 0) this.#tell('onHeadersDropped', dropped);
    return request;
  }

  /** What is to be stored before anything is sent. */
  async #store(state: StoredDialog): Promise<void> {
    try {
      await this.#options.onState?.(state);
    } catch (error) {
      this.#end({ kind: 'not_sent', code: 'not_stored', message: `The call could not be stored: ${error}` });
    }
  }

  #receive(request: SipRequest, response: SipResponse, flow: Flow): void {
    if (response.status < 200) this.#receiveProvisional(request, response, flow);
    else if (response.status < 300) this.#receiveAnswer(request, response, flow);
    else if (!this.#isEnded) this.#receiveRefusal(response, flow);
  }

  #receiveProvisional(request: SipRequest, response: SipResponse, flow: Flow): void {
    this.#hasProvisional = true;
    this.#hasRung ||= response.status > 100;
    if (this.#isEnded) return;
    if (this.#givenUp) this.#cancel();
    else this.#forks.receiveProvisional(request, response, flow);
  }

  #receiveAnswer(request: SipRequest, response: SipResponse, flow: Flow): void {
    const isWanted = !this.#isEnded && !this.#givenUp;
    this.#forks.receiveAnswer(request, response, flow, isWanted || this.#session !== undefined);
    if (!this.#isEnded && this.#givenUp)
      this.#end({ kind: 'cancelled', by: this.#givenUp.by, status: response.status, reasons: [] });
  }

  #receiveRefusal(response: SipResponse, flow: Flow): void {
    const { status } = response;
    const rejected = rejectedBy(response);
    if (!this.#givenUp && this.#invites < MAX_INVITES && this.#mayTryAgain(response)) this.#inviteAgain(flow.target);
    else if (status === 487 && this.#givenUp) this.#end({ ...rejected, kind: 'cancelled', by: this.#givenUp.by });
    else if (this.#mayPassOn(rejected))
      void this.#passOn(flow.target, rejected).catch((error: unknown) => this.#fail(error));
    else this.#end(rejected);
  }

  #mayPassOn(rejected: Rejected): boolean {
    if (this.#givenUp || this.#hasRung || this.#targets.length === 0 || this.#invites >= MAX_INVITES) return false;
    return this.#options.isOutOfService?.(rejected) ?? rejected.status === 503;
  }

  #mayTryAgain(response: SipResponse): boolean {
    if (response.status === 422) {
      const asked = minSeOf(response);
      if (asked <= this.#minSeconds) return false;
      this.#minSeconds = asked;
      return true;
    }
    return this.#digest.learn(response, this.#tries);
  }

  /** To the target that has challenged; it has refused the INVITE before, so that one which doesn't leave was never sent. */
  #inviteAgain(target: Target): void {
    const again = async () => {
      const current = this.#transaction!.flow;
      const flow = current.isOpen ? current : await this.#core.open(target);
      await this.#invite(flow, (error) => Promise.reject(error));
    };
    void again().catch((error: unknown) => this.#fail(error));
  }

  #giveUp(givenUp: GivenUp): void {
    if (this.#isEnded || this.#session || this.#givenUp) return;
    this.#givenUp = givenUp;
    if (!this.#transaction)
      this.#end({ kind: 'not_sent', code: 'cancelled', message: 'The call was given up before the INVITE was sent.' });
    else if (this.#hasProvisional) this.#cancel();
  }

  #cancel(): void {
    if (this.#hasCancelled) return;
    this.#hasCancelled = true;
    const { request, flow } = this.#transaction!;
    let wasTaken = false;
    void sendCancel(this.#core, request, flow.target, this.#givenUp?.reason)
      .then((taken) => {
        wasTaken = taken === 'taken';
      })
      .catch(this.#core.report);
    // Section 9.1: no final answer in 64 × T1 is as good as one.
    this.#core.timers.after(64 * this.#core.values.t1, () => {
      if (this.#isEnded) return;
      if (wasTaken) this.#abandon({ kind: 'cancelled', by: this.#givenUp!.by, reasons: [] });
      else this.#fallSilent('No answer came to the CANCEL.');
    });
  }

  #fallSilent(message: string): void {
    if (!this.#isEnded) this.#abandon({ kind: 'silence', message, wasRinging: this.#hasProvisional });
  }

  #abandon(end: CallEnd): void {
    const transaction = this.#transaction!;
    this.#end(end);
    transaction.end();
    const { request, flow } = transaction;
    void abandonInvite(this.#core, request, flow.target, this.#digest, false).catch(this.#core.report);
  }

  #answered(session: Session, sdp: string | undefined): void {
    this.#session = session;
    this.#ringing?.clear();
    const answered = sdp === undefined ? {} : { sdp };
    this.#tell('onAnswered', answered);
    this.#settleAnswered(answered);
  }

  #fail(error: unknown): void {
    if (error instanceof TransportError) this.#end({ kind: 'not_sent', code: error.code, message: error.message });
    else if (error instanceof SipSyntaxError) this.#end({ kind: 'not_sent', code: 'invalid', message: error.message });
    else {
      this.#core.report(error);
      this.#end({ kind: 'not_sent', code: 'invalid', message: 'The INVITE could not be made.' });
    }
  }

  #end(end: CallEnd): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#ringing?.clear();
    this.#letGo();
    this.#forks.close(this.#transaction);
    this.#core.running.delete(this);
    this.#tell('onEnded', end);
    this.#settleAnswered(undefined);
    this.#settle(end);
  }

  #tell<Name extends keyof CallHandlers>(name: Name, ...args: Parameters<NonNullable<CallHandlers[Name]>>): void {
    tellUser(this.#core, this.#options, name, ...args);
  }
}
