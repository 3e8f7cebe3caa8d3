import { whyOf } from './call-end.ts';
import { addCapabilities, type DialogUser, otherMethods, supportedOptions } from './core.ts';
import { keyOf } from './dialog.ts';
import { createResponse, cseqOf, type SipRequest } from './message.ts';
import { receiveReinvite, receiveUpdate } from './received-offers.ts';
import { sendUpdate } from './sent-offers.ts';
import { Session, type SessionOptions } from './session.ts';
import type { ServerTransaction } from './transaction.ts';

/** No dialog needs so many requests in a second; what comes beyond is dropped. */
const MAX_REQUESTS_A_SECOND = 20;

/** A session whose dialog takes requests from now on. */
export function openSession(options: SessionOptions): Session {
  const session = new Session(options, (each) => sendUpdate(each, undefined).catch(() => {}));
  options.core.dialogs.set(keyOf(options.dialog), new SessionReceiver(session));
  return session;
}

/** Takes a dialog's requests, so many in a second. */
class SessionReceiver implements DialogUser {
  readonly #session: Session;
  #second = 0;
  #inSecond = 0;

  constructor(session: Session) {
    this.#session = session;
  }

  receive(transaction: ServerTransaction): void {
    const now = Math.floor(this.#session.core.timers.now() / 1000);
    this.#inSecond = now === this.#second ? this.#inSecond + 1 : 1;
    this.#second = now;
    if (this.#inSecond > MAX_REQUESTS_A_SECOND) transaction.end();
    else receiveRequest(this.#session, transaction);
  }

  receiveAck(ack: SipRequest): void {
    this.#session.receiveAck(ack);
  }
}

/** A request within the dialog (RFC 3261 section 12.2.2). */
function receiveRequest(session: Session, transaction: ServerTransaction): void {
  const { request } = transaction;
  const { number } = cseqOf(request);
  const unsupported = request.headers.tokens('require').filter((option) => !supportedOptions.has(option));
  if (number < session.dialog.remoteCseq) session.respond(transaction, 500);
  else if (unsupported.length > 0) {
    const refusal = createResponse(request, 420);
    refusal.headers.add('unsupported', unsupported.join(', '));
    transaction.respond(refusal);
  } else {
    session.dialog.remoteCseq = number;
    receiveMethod(session, transaction);
  }
}

function receiveMethod(session: Session, transaction: ServerTransaction): void {
  const { method } = transaction.request;
  if (method === 'BYE') receiveBye(session, transaction);
  else if (method === 'INVITE') receiveReinvite(session, transaction);
  else if (method === 'UPDATE') receiveUpdate(session, transaction);
  else if (method === 'INFO') receiveInfo(session, transaction);
  else if (method === 'OPTIONS') session.respond(transaction, 200, addCapabilities);
  else if (method === 'PRACK' && session.onPrack) session.onPrack(transaction);
  else if (method === 'PRACK' || method === 'CANCEL') session.respond(transaction, 481);
  else session.respond(transaction, otherMethods.has(method) ? 405 : 501);
}

function receiveBye(session: Session, transaction: ServerTransaction): void {
  session.respond(transaction, 200);
  session.end({ kind: 'hung_up', by: 'remote', ...whyOf(transaction.request) });
}

function receiveInfo(session: Session, transaction: ServerTransaction): void {
  session.respond(transaction, session.phase === 'ended' ? 481 : 200);
  const { headers, body } = transaction.request;
  if (session.phase !== 'ended') session.tell('onInfo', { contentType: headers.get('content-type') ?? '', body });
}
