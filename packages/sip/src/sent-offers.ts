import { createCancel } from './cancel.ts';
import { ALLOW, type Core, contactOf, SUPPORTED } from './core.ts';
import { dialogRequest } from './dialog.ts';
import type { Tries } from './digest-client.ts';
import { cseqOf, type SipRequest, type SipResponse, sdpOf, setBody } from './message.ts';
import { parseMessage } from './parse-message.ts';
import { noteSettled, type Session } from './session.ts';
import { askInterval, intervalAnswered, minSeOf } from './session-interval.ts';
import type { Flow } from './transport.ts';
import { type Outgoing, prepare } from './wire.ts';

/** An offer of ours was not taken: the session stays as it was. */
export class OfferRefused extends Error {
  override name = 'OfferRefused';
  /** The peer's status, where it gave one. */
  readonly status: number | undefined;

  constructor(status: number | undefined, message: string) {
    super(message);
    this.status = status;
  }
}

const MAX_TRIES = 4;

/**
 * Sends an offer of ours, or only refreshes the session: by UPDATE where the peer takes it and nothing is offered, else
 * by re-INVITE (RFC 4028 section 7.4). Where offers cross it tries again (RFC 3261 section 14.1).
 *
 * @returns the peer's answer, where something was offered
 * @throws OfferRefused
 */
export async function sendUpdate(session: Session, offer: string | undefined): Promise<string | undefined> {
  await untilNoOffer(session);
  session.isOffering = true;
  try {
    for (let tries = 1; ; tries += 1) {
      const method = offer === undefined && session.peerAllows?.includes('UPDATE') ? 'UPDATE' : 'INVITE';
      const response = method === 'UPDATE' ? await update(session) : await reinvite(session, offer ?? session.localSdp);
      if (response.status < 300) return settle(session, response, offer);
      session.noticeGone(method, response.status);
      const mayTryAgain = tries < MAX_TRIES && (await waitsToTryAgain(session, response));
      if (!mayTryAgain || session.phase !== 'answered')
        throw new OfferRefused(response.status, `The peer answered ${response.status} ${response.phrase}.`);
    }
  } finally {
    session.isOffering = false;
  }
}

/** One offer at a time (RFC 3264 section 4): what is on its way in either direction is over in 64 × T1. */
async function untilNoOffer(session: Session): Promise<void> {
  while (session.isOffering || session.isAnswering || session.sentAnswer) await session.wait();
  if (session.phase !== 'answered') throw new OfferRefused(undefined, 'The call is not answered, or ended.');
}

function settle(session: Session, response: SipResponse, offer: string | undefined): string | undefined {
  if (offer !== undefined) session.localSdp = offer;
  const before = session.remoteSdp;
  noteSettled(session, response);
  // Also to what only refreshes the session, a peer may answer with a new address, or a new key.
  if (offer === undefined && session.remoteSdp !== undefined && session.remoteSdp !== before)
    session.tell('onAnswer', session.remoteSdp);
  session.timer.start(intervalAnswered(response));
  session.store();
  return sdpOf(response);
}

async function waitsToTryAgain(session: Session, response: SipResponse): Promise<boolean> {
  if (response.status === 422) {
    session.minIntervalSeconds = Math.max(session.minIntervalSeconds, minSeOf(response));
    return true;
  }
  if (response.status !== 491) return false;
  const chance = session.core.random.number();
  session.isOffering = false;
  await session.core.timers.wait(session.options.isCaller ? 2100 + chance * 1900 : chance * 2000);
  session.isOffering = true;
  return true;
}

/** What both kinds of refresh say. */
function fillRefresh(session: Session, request: SipRequest, flow: Flow): void {
  const { intervalSeconds, contactUser } = session.options;
  request.headers
    .add('contact', contactOf(flow, contactUser, request.uri))
    .add('allow', ALLOW)
    .add('supported', SUPPORTED);
  if (intervalSeconds > 0) askInterval(request, intervalSeconds, session.minIntervalSeconds, 'uac');
}

async function update(session: Session): Promise<SipResponse> {
  const exchanged = await session.request('UPDATE', (request) => fillRefresh(session, request, session.flow));
  if (exchanged.kind === 'response') return exchanged.response;
  throw new OfferRefused(undefined, exchanged.kind === 'silence' ? exchanged.message : exchanged.error.message);
}

async function reinvite(session: Session, sdp: string | undefined): Promise<SipResponse> {
  const { core, dialog, options } = session;
  const flow = await session.openFlow(sdp);
  const tries: Tries = new Map();
  for (;;) {
    const request = dialogRequest(core, dialog, flow, 'INVITE');
    fillRefresh(session, request, flow);
    if (sdp !== undefined) setBody(request, 'application/sdp', sdp);
    options.digest.authorize(request);
    const response = await inviteAgain(core, request, flow, (answer) => acknowledge(session, request, answer));
    const isChallenge = response.status === 401 || response.status === 407;
    if (!isChallenge || !options.digest.learn(response, tries)) return response;
  }
}

/** One INVITE within a dialog. Every 2xx is acknowledged. A peer that doesn't make up its mind is cancelled. */
const inviteAgain = (core: Core, request: SipRequest, flow: Flow, acknowledge: (answer: SipResponse) => void) =>
  new Promise<SipResponse>((resolve, reject) => {
    const fail = (message: string) => reject(new OfferRefused(undefined, message));
    const limit = core.timers.after(64 * core.values.t1, () => {
      core.transactions.send(createCancel(request), flow, { onResponse() {}, onTimeout() {}, onFailure() {} });
      fail('The peer does not answer the re-INVITE.');
    });
    core.transactions.send(request, flow, {
      onResponse(response) {
        if (response.status < 200) return;
        limit.clear();
        if (response.status < 300) acknowledge(response);
        resolve(response);
      },
      onTimeout: () => fail('No answer came to the re-INVITE.'),
      onFailure: (error) => {
        limit.clear();
        fail(error.message);
      },
    });
  });

function acknowledge(session: Session, request: SipRequest, answer: SipResponse): void {
  session.refreshTarget(answer);
  const ack = createAck(session, request);
  sendAck(session, ack).catch(() => {});
}

/** The ACK of a 2xx: of the INVITE's CSeq, with its credentials (sections 13.2.2.4 and 22.1). */
export function createAck(session: Session, invite: SipRequest, sdp?: string): (flow: Flow) => Outgoing {
  return (flow) => {
    const ack = dialogRequest(session.core, session.dialog, flow, 'ACK', cseqOf(invite).number);
    for (const name of ['authorization', 'proxy-authorization']) {
      for (const value of invite.headers.all(name)) ack.headers.add(name, value);
    }
    if (sdp !== undefined) setBody(ack, 'application/sdp', sdp);
    return prepare(ack);
  };
}

/** An ACK that was sent, and may go again: its bytes alone, since it is held for 64 × T1. */
export interface SentAck {
  bytes: Buffer;
  flow: Flow;
}

export const sendAckAgain = (core: Core, { bytes, flow }: SentAck): Promise<void> =>
  core.wire.send({ message: parseMessage(bytes), bytes }, flow);

export async function sendAck(session: Session, make: (flow: Flow) => Outgoing): Promise<SentAck> {
  const flow = await session.openFlow();
  const ack = make(flow);
  await session.core.wire.send(ack, flow);
  return { bytes: ack.bytes, flow };
}
