import type { InviteServerTransaction } from './invite-server-transaction.ts';
import { createResponse, cseqOf, type SipRequest, sdpOf, setBody } from './message.ts';
import { SentAnswer } from './sent-answer.ts';
import { noteSettled, type Session } from './session.ts';
import { intervalFor, MIN_INTERVAL_SECONDS, type SessionInterval } from './session-interval.ts';
import type { ServerTransaction } from './transaction.ts';
import type { TransportName } from './transport.ts';

/** The peer's re-INVITE: a refresh, a new address, hold, or a question for our offer (RFC 3261 section 14.2). */
export function receiveReinvite(session: Session, transaction: ServerTransaction): void {
  if (session.phase === 'ended') session.respond(transaction, 481);
  else if (session.phase === 'early' || session.isOffering) session.respond(transaction, 491);
  else if (session.isAnswering || session.sentAnswer) refuseForNow(session, transaction);
  else answerReinvite(session, transaction);
}

function answerReinvite(session: Session, transaction: ServerTransaction): void {
  const interval = intervalOrRefusal(session, transaction);
  if (interval === 'refused') return;
  session.respond(transaction, 100);
  const invite = transaction as InviteServerTransaction;
  invite.onCancel = () => session.respond(transaction, 487);
  void answerOffer(session, transaction, (sdp) => {
    const { request } = transaction;
    const response = session.acceptance(transaction, interval);
    setBody(response, 'application/sdp', sdp);
    const isTheirs = sdpOf(request) !== undefined;
    noteSettled(session, request);
    session.localSdp = sdp;
    session.onAck = (ack) => {
      if (!isTheirs) noteAnswer(session, ack);
    };
    session.sentAnswer = new SentAnswer(session.core, transaction, response, cseqOf(request).number, () =>
      loseAck(session),
    );
    session.timer.start(interval);
    session.store();
  });
}

/** The peer's UPDATE, with an offer or only to refresh (RFC 3311 section 5.2). */
export function receiveUpdate(session: Session, transaction: ServerTransaction): void {
  const hasOffer = sdpOf(transaction.request) !== undefined;
  if (session.phase === 'ended') session.respond(transaction, 481);
  else if (hasOffer && session.isOffering) session.respond(transaction, 491);
  else if (hasOffer && session.isAnswering) refuseForNow(session, transaction);
  else {
    const interval = intervalOrRefusal(session, transaction);
    if (interval === 'refused') return;
    const accept = (sdp: string | undefined) => acceptUpdate(session, transaction, interval, sdp);
    if (hasOffer) void answerOffer(session, transaction, accept);
    else accept(undefined);
  }
}

function acceptUpdate(
  session: Session,
  transaction: ServerTransaction,
  interval: SessionInterval | undefined,
  sdp: string | undefined,
): void {
  const { request } = transaction;
  const response = session.acceptance(transaction, interval);
  if (sdp !== undefined) {
    setBody(response, 'application/sdp', sdp);
    session.localSdp = sdp;
  }
  noteSettled(session, request);
  transaction.respond(response);
  if (session.phase !== 'answered') return;
  session.timer.start(interval);
  session.store();
}

/** Asks the user for an answer, or for an offer; 488 where there is none. */
async function answerOffer(
  session: Session,
  transaction: ServerTransaction,
  accept: (sdp: string) => void,
): Promise<void> {
  const offer = sdpOf(transaction.request);
  session.isAnswering = true;
  let answer: string | undefined;
  try {
    answer = await answerTo(session, offer, transaction.flow.target.transport);
  } catch (error) {
    session.core.report(error);
  }
  session.isAnswering = false;
  if (answer !== undefined && (transaction.isAnswered || session.phase === 'ended')) session.tell('onAnswerUnsent');
  if (transaction.isAnswered) return;
  if (session.phase === 'ended') session.respond(transaction, 487);
  else if (answer === undefined) session.respond(transaction, 488);
  else accept(answer);
}

/** Without a function of the user's, what was agreed on stays. */
function answerTo(
  session: Session,
  offer: string | undefined,
  over: TransportName,
): string | undefined | Promise<string | undefined> {
  const { onOffer } = session.handlers;
  if (onOffer) return onOffer(offer, over);
  return offer === undefined || offer === session.remoteSdp ? session.localSdp : undefined;
}

function intervalOrRefusal(session: Session, transaction: ServerTransaction) {
  const interval = intervalFor(transaction.request, session.options.intervalSeconds);
  if (interval !== 'too_small') return interval;
  session.respond(transaction, 422, (response) => response.headers.add('min-se', String(MIN_INTERVAL_SECONDS)));
  return 'refused';
}

/** Two offers of the peer's at once: it may try again in up to ten seconds (sections 14.2 and 5.2). */
function refuseForNow(session: Session, transaction: ServerTransaction): void {
  const response = createResponse(transaction.request, 500);
  response.headers.add('retry-after', String(Math.floor(session.core.random.number() * 11)));
  transaction.respond(response);
}

/** The ACK holds the answer to our offer. */
export function noteAnswer(session: Session, ack: SipRequest): void {
  const sdp = sdpOf(ack);
  if (sdp === undefined) return;
  session.remoteSdp = sdp;
  session.tell('onAnswer', sdp);
}

/** No ACK came for our 2xx: the session is ended (section 13.3.1.4). */
export function loseAck(session: Session): void {
  session.sentAnswer = undefined;
  void session
    .bye(
      { protocol: 'SIP', cause: 408, text: 'No ACK' },
      { kind: 'lost', why: 'no_ack', message: 'No ACK came for the answer.' },
    )
    .catch(session.core.report);
}
