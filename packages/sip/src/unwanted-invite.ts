import { createCancel } from './cancel.ts';
import type { Core } from './core.ts';
import { callerDialog } from './dialog.ts';
import type { DigestClient } from './digest-client.ts';
import { type SipRequest, type SipResponse, toTagOf } from './message.ts';
import { openSession } from './open-session.ts';
import type { Reason } from './reason.ts';
import { createAck, type SentAck, sendAck, sendAckAgain } from './sent-offers.ts';
import type { ClientTransactionUser } from './transaction.ts';
import { type Flow, type Target, TransportError } from './transport.ts';

/** So many phones may answer one INVITE; what comes beyond hangs up by itself, for want of an ACK. */
export const MAX_FORKS = 20;

/** No phone rings longer. */
const LISTEN_MS = 5 * 60_000;

/** Hangs up on answers that nobody wants: those of other forks, and those that come after a CANCEL (RFC 3261 sections 13.2.2.4 and 9.1). */
export class UnwantedAnswers implements ClientTransactionUser {
  readonly #core: Core;
  readonly #request: SipRequest;
  readonly #digest: DigestClient;
  /** By the tag of the fork; undefined while the ACK is on its way. */
  readonly #acks = new Map<string, SentAck | undefined>();

  constructor(core: Core, request: SipRequest, digest: DigestClient) {
    this.#core = core;
    this.#request = request;
    this.#digest = digest;
  }

  /**
   * Leaves one answer in peace: where it comes again, it is only acknowledged again.
   * @param sent its ACK; undefined while that is on its way
   */
  except(tag: string, sent: SentAck | undefined): void {
    this.#acks.set(tag, sent);
  }

  onResponse(response: SipResponse, flow: Flow): void {
    if (response.status >= 200 && response.status < 300) void this.refuse(response, flow).catch(this.#core.report);
  }

  onTimeout(): void {}

  onFailure(): void {}

  /** Acknowledges a 2xx and hangs up; one that came again is only acknowledged again. */
  async refuse(answer: SipResponse, flow: Flow): Promise<void> {
    const tag = toTagOf(answer) ?? '';
    const sent = this.#acks.get(tag);
    if (sent) return sendAckAgain(this.#core, sent).catch(() => {});
    if (this.#acks.has(tag) || this.#acks.size >= MAX_FORKS) return;
    this.#acks.set(tag, undefined);
    const session = openSession({
      core: this.#core,
      dialog: callerDialog(this.#request, answer, flow.target),
      flow,
      handlers: () => ({}),
      digest: this.#digest,
      contactUser: undefined,
      isCaller: true,
      intervalSeconds: 0,
      onEnd() {},
    });
    session.phase = 'answered';
    try {
      this.#acks.set(tag, await sendAck(session, createAck(session, this.#request)));
    } catch (error) {
      this.#acks.delete(tag);
      if (!(error instanceof TransportError)) throw error;
    }
    await session.bye(undefined, { kind: 'hung_up', by: 'local', reasons: [] });
  }
}

/** What became of an INVITE that is given up: its final status, or none in time, or the peer doesn't know it. */
export type Abandoned = { status: number } | 'gone' | 'silence';

/**
 * Listens on for answers to an INVITE that is given up, so that no phone rings for nothing: what rings is cancelled, what
 * answers is hung up. For five minutes, or until the final answer.
 *
 * @param cancelsNow sends the CANCEL at once: it is known to have rung
 * @returns what came in 64 × T1
 */
export function abandonInvite(
  core: Core,
  request: SipRequest,
  target: Target,
  digest: DigestClient,
  cancelsNow: boolean,
  reason?: Reason,
): Promise<Abandoned> {
  return new Promise((resolve) => {
    const unwanted = new UnwantedAnswers(core, request, digest);
    let hasCancelled = false;
    const cancel = () => {
      if (hasCancelled) return;
      hasCancelled = true;
      void sendCancel(core, request, target, reason).then(
        (taken) => taken === 'unknown' && resolve('gone'),
        core.report,
      );
    };
    const user: ClientTransactionUser = {
      onResponse(response, flow) {
        if (response.status < 200) return cancel();
        if (response.status < 300) void unwanted.refuse(response, flow).catch(core.report);
        resolve({ status: response.status });
      },
      onTimeout() {},
      onFailure() {},
    };
    void core.open(target).then(
      (flow) => {
        const transaction = core.transactions.resumeInvite(request, flow, user);
        core.timers.after(LISTEN_MS, () => transaction.end());
        if (cancelsNow) cancel();
        core.timers.after(64 * core.values.t1, () => resolve('silence'));
      },
      () => resolve('silence'),
    );
  });
}

/** Sends a CANCEL; resolves to whether the peer took it, doesn't know of such an INVITE, or never said. */
export async function sendCancel(
  core: Core,
  invite: SipRequest,
  target: Target,
  reason?: Reason,
): Promise<'taken' | 'unknown' | 'silence'> {
  let flow: Flow;
  try {
    flow = await core.open(target);
  } catch (error) {
    if (error instanceof TransportError) return 'silence';
    throw error;
  }
  return new Promise((resolve) => {
    core.transactions.send(createCancel(invite, reason), flow, {
      onResponse({ status }) {
        if (status >= 200) resolve(status < 300 ? 'taken' : status === 481 ? 'unknown' : 'silence');
      },
      onTimeout: () => resolve('silence'),
      onFailure: () => resolve('silence'),
    });
  });
}
